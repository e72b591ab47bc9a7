import Hummingbird
import Logging
import RoostServices
import RoostShared

/// A queue that the workers of all processes take from.
struct Jobs {
    struct Job: Codable, Sendable { var name: String }

    private let workspace: SharedWorkspace
    private let queue: JobQueue<Job>
    private let done: SharedDictionary
    /// Does the jobs of this process.
    let worker: JobWorker<Job>

    init(_ workspace: SharedWorkspace, logger: Logger) {
        let done = workspace.dictionary("jobs-done")
        self.workspace = workspace
        self.done = done
        queue = JobQueue(workspace)
        // A job's effect is there with its end, in one commit: once, though workers die.
        worker = JobWorker(
            queue, in: workspace, width: 1, leaseDuration: .seconds(2),
            pollInterval: .milliseconds(50), logger: logger
        ) { _ in
            try await Task.sleep(for: .milliseconds(20))  // The work.
        } completing: { lease, attempt in
            let name = lease.payload.name
            let count = try await attempt.load(name, as: Int.self, in: done) ?? 0
            try attempt.set(count + 1, forKey: name, in: done)
        }
    }

    func add(to router: Router<some RequestContext>) {
        // Asked again with the same name, it is the same job as long as that is to be done.
        router.post("jobs/:name") { _, context in
            let name = try context.plain("name")
            try await workspace.transaction { attempt in
                try await queue.enqueue(Job(name: name), id: name, in: attempt)
            }
            return HTTPResponse.Status.accepted
        }
        // Each job that is done, with how often.
        router.get("jobs") { _, _ in
            var lines: [String] = []
            for try await entry in done.entries(as: Int.self) {
                lines.append("\(entry.key) \(entry.value)")
            }
            return lines.joined(separator: "\n")
        }
    }
}
