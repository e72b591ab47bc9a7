#if Services
    public import Logging
    public import Roost
    public import ServiceLifecycle

    /// Does the jobs of a queue, some at a time, until it is shut down: then it takes no more and returns once
    /// those that it has are done.
    ///
    /// A job's lease is extended for as long as it is being done. Where the task is cancelled, as by the end of a
    /// group's grace, so are the jobs, and those that end by it are given back.
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
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                if let lease = try await queue.lease(for: leaseDuration) {
                    try await work(lease)
                } else {
                    let interval = pollInterval
                    // Throws where the wait is cut short, which the loop sees.
                    do {
                        try await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
                    } catch is CancellationError {}
                }
            }
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
                try await Task {
                    do {
                        if isCancelled { return try await queue.giveBack(lease) }
                        try await queue.fail(lease, reason: reason)
                    } catch is LeaseLost {
                        logger.warning(
                            "a job took longer than its lease", metadata: ["job": "\(lease.id)"])
                    }
                }.value
                logger.error(
                    "a job failed",
                    metadata: [
                        "job": "\(lease.id)", "attempt": "\(lease.attempt)", "reason": "\(reason)",
                    ])
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
                        try await queue.extend(&lease, by: leaseDuration)
                    }
                }
                defer { group.cancelAll() }
                while let isDone = try await group.next() { if isDone { return } }
            }
        }
    }
#endif
