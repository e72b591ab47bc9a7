import Foundation
import Hummingbird
import RoostShared

/// A queue that all processes work at. A job stays in it until it is done; whoever works at it has a lease, so that
/// another takes it where a process has died.
struct Jobs {
    private let workspace: SharedWorkspace
    private let waiting: SharedDictionary
    private let leases: SharedDictionary
    private let done: SharedDictionary
    private let worker: String
    private let leaseDuration = Duration.seconds(2)

    init(_ workspace: SharedWorkspace, worker: String) {
        self.workspace = workspace
        waiting = workspace.dictionary("jobs")
        leases = workspace.dictionary("job-leases")
        done = workspace.dictionary("jobs-done")
        self.worker = worker
    }

    /// Works until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                guard let (job, token) = try await take() else {
                    try await Task.sleep(for: .milliseconds(50))
                    continue
                }
                try await Task.sleep(for: .milliseconds(20))  // The work.
                try await complete(job, token)
            } catch is CancellationError {
                return
            } catch {
                // Nobody can be asked: what was leased is another's when its time is over.
                do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
            }
        }
    }

    /// The first job that nobody works at, leased; `nil` where there is none.
    private func take() async throws -> (job: String, token: String)? {
        try await workspace.transaction { attempt in
            for job in try await attempt.keys(of: waiting, limit: 4) {
                if try await attempt.contains(job, in: leases) { continue }
                let token = "\(worker) \(UUID().uuidString)"
                try attempt.set(token, forKey: job, in: leases, expiresIn: leaseDuration)
                return (job, token)
            }
            return nil
        }
    }

    /// The job is gone and its effect is there, in one commit, if the lease still counts.
    private func complete(_ job: String, _ token: String) async throws {
        try await workspace.transaction { attempt in
            guard try await attempt.load(job, as: String.self, in: leases) == token else { return }
            let count = try await attempt.load(job, as: Int.self, in: done) ?? 0
            try attempt.set(count + 1, forKey: job, in: done)
            try attempt.removeValue(forKey: job, in: waiting)
            try attempt.removeValue(forKey: job, in: leases)
        }
    }

    func add(to router: Router<some RequestContext>) {
        router.post("jobs/:id") { _, context in
            try await waiting.set(Date(), forKey: try context.parameters.require("id"))
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
