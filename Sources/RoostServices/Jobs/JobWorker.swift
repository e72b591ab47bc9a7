#if Services
    public import Logging
    public import Roost
    public import ServiceLifecycle

    /// Does the jobs of a queue, some at a time, until it is shut down: then it takes no more and returns once
    /// those that it has are done.
    ///
    /// A job's lease is extended for as long as it is being done. Where the task is cancelled, as by the end of a
    /// group's grace, so are the jobs, and those that end by it are given back.
    ///
    /// Where the queue cannot be written to, as on a full disk, it says so in the log, and tries again after a
    /// second, then after twice as long each time, up to half a minute. A job that was done meanwhile, and could not
    /// be ended, is done again once its lease has ended. What ends `run` is a workspace that takes no more
    /// writes until it is opened again: `.closed`, `.poisoned`, `.readOnly`.
    public struct JobWorker<Payload: Codable & Sendable>: Service {
        public typealias Job = @Sendable (JobQueue<Payload>.Lease) async throws -> Void
        /// What a job that is done changes in the workspace, in the transaction that ends it.
        public typealias Completion =
            @Sendable (JobQueue<Payload>.Lease, inout Transaction) throws -> Void

        private let queue: JobQueue<Payload>
        private let width: Int
        private let leaseDuration: Duration
        private let pollInterval: Duration
        private let logger: Logger
        private let job: Job
        private let completion: Completion

        /// - Parameters:
        ///   - width: So many at a time.
        ///   - leaseDuration: When another worker may take a job whose worker has died.
        ///   - pollInterval: How often it is looked for jobs that have become due.
        ///   - job: Does one, once at least. What it throws is the reason of the failure.
        ///   - completion: Changes the workspace, exactly once for each job.
        public init(
            _ queue: JobQueue<Payload>, width: Int = 4, leaseDuration: Duration = .seconds(30),
            pollInterval: Duration = .milliseconds(200), logger: Logger,
            _ job: @escaping Job = { _ in },
            completing completion: @escaping Completion = { _, _ in }
        ) {
            precondition(width > 0, "nobody would do a job")
            self.queue = queue
            self.width = width
            self.leaseDuration = leaseDuration
            self.pollInterval = pollInterval
            self.logger = logger
            self.job = job
            self.completion = completion
        }

        public func run() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<width { group.addTask { try await workUntilShutdown() } }
                try await group.waitForAll()
            }
        }

        private func workUntilShutdown() async throws {
            var delay = Self.firstDelay
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                do {
                    if let lease = try await queue.lease(for: leaseDuration) {
                        try await work(lease)
                    } else {
                        await wait(pollInterval)
                    }
                    delay = Self.firstDelay
                } catch {
                    if Task.isCancelled || Self.isFinal(error) { throw error }
                    logger.error(
                        "the queue cannot be written to: the worker tries again",
                        metadata: ["reason": "\(error)", "delay": "\(delay)"])
                    await wait(delay)
                    delay = min(delay * 2, Self.longestDelay)
                }
            }
        }

        private static var firstDelay: Duration { .seconds(1) }
        private static var longestDelay: Duration { .seconds(30) }

        /// Whether the workspace takes no more writes, however long one waits.
        private static func isFinal(_ error: any Error) -> Bool {
            guard let error = error as? RoostError else { return false }
            return [.closed, .poisoned, .readOnly].contains(error.code)
        }

        private func wait(_ duration: Duration) async {
            // Where the wait is cut short, the loop sees why.
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
            } catch {}
        }

        private func work(_ lease: JobQueue<Payload>.Lease) async throws {
            do {
                try await withLease(lease) { try await job(lease) }
                try await queue.complete(lease) { try completion(lease, &$0) }
            } catch is LeaseLost {
                logger.warning("a job took longer than its lease", metadata: ["job": "\(lease.id)"])
            } catch {
                // A cancelled task's calls of the workspace are refused, this one must not be.
                let isCancelled = Task.isCancelled
                let reason = "\(error)"
                logger.error(
                    "a job failed",
                    metadata: [
                        "job": "\(lease.id)", "attempt": "\(lease.attempt)", "reason": "\(reason)",
                    ])
                // Where this fails, the job is another's once its lease has ended.
                try await Task {
                    do {
                        if isCancelled { return try await queue.giveBack(lease) }
                        try await queue.fail(lease, reason: reason)
                    } catch is LeaseLost {
                        logger.warning(
                            "a job took longer than its lease", metadata: ["job": "\(lease.id)"])
                    }
                }.value
            }
        }

        /// Extends the lease beside `body`, which is cancelled where it is lost.
        private func withLease(
            _ lease: JobQueue<Payload>.Lease, _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await body()
                    return true
                }
                group.addTask {
                    var lease = lease
                    while true {
                        do { try await Task.sleep(for: leaseDuration / 3) } catch { return false }
                        try await extend(&lease)
                    }
                }
                defer { group.cancelAll() }
                while let isDone = try await group.next() { if isDone { return } }
            }
        }

        /// A lease that cannot be extended now is tried again while it lasts: the job need not end for a disk
        /// that is full for a moment.
        private func extend(_ lease: inout JobQueue<Payload>.Lease) async throws {
            do {
                try await queue.extend(&lease, by: leaseDuration)
            } catch let error as RoostError {
                if Task.isCancelled || Self.isFinal(error) { throw error }
                logger.warning(
                    "a job's lease could not be extended",
                    metadata: ["job": "\(lease.id)", "reason": "\(error)"])
            }
        }
    }
#endif
