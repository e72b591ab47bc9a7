import Foundation
import Hummingbird
import Logging
import Roost
import RoostServices

/// One thing to be done.
struct TaskItem: Codable, Identifiable, Sendable, ResponseEncodable {
    var id: String
    var title: String
    var owner: String
    var isDone = false
    var createdAt = Date()
}

/// What a client sends.
struct TaskDraft: Codable, Sendable {
    /// So that a client that does not know whether it was heard may say it again.
    var id: String?
    var title: String
    var owner: String?
}

/// A task was finished: counted for its owner, once, whatever happens.
struct FinishedTask: Codable, Sendable {
    var taskID: String
    var owner: String

    /// Counts with the job's end in one transaction: exactly once, though a job may be begun twice.
    static func worker(
        _ queue: JobQueue<FinishedTask>, _ workspace: Workspace, _ logger: Logger
    ) -> JobWorker<FinishedTask> {
        let counts = workspace.dictionary("finished.counts")
        return JobWorker(
            queue, width: 2, logger: logger,
            completing: { lease, transaction in
                let owner = lease.payload.owner
                let count = try transaction.value(forKey: owner, as: Int.self, in: counts) ?? 0
                try transaction.set(count + 1, forKey: owner, in: counts)
            })
    }
}
