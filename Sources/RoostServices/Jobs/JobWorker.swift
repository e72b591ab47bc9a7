#if Services
    public import Logging
    public import Roost
    public import ServiceLifecycle

    /// Does the jobs of a queue, some at a time, until it is shut down: then it takes no more and returns once
    /// those that it has are done.
    ///
    /// A job's lease is extended for as long as it is being done. Where that cannot be done in time, as while an engine cannot
    /// be reached, the job is cancelled: another worker may get it. Where the task is cancelled, as by the end of a
    /// group's grace, so are the jobs, and those that throw then are given back. One that
    /// returns nevertheless is done, and is ended like any other; until then it keeps its lease, however long it takes.
    /// A workspace that is a service of the same group stays open for so long.
    ///
    /// Where the queue cannot be written to, as on a full disk or while an engine cannot be reached, it says so in the log, and tries again after a
    /// second, then after twice as long each time, up to half a minute. A job that was done meanwhile, and could not
    /// be ended, is done again once its lease has ended. What ends `run` is a workspace that takes no more
    /// writes until it is opened again: `.closed`, `.poisoned`, `.readOnly`.
    public struct JobWorker<Payload: Codable & Sendable>: Service {
        public typealias Job = @Sendable (JobQueue<Payload>.Lease) async throws -> Void
        /// What a job that is done changes in a `Workspace`, in the transaction that ends it.
        public typealias Completion =
            @Sendable (JobQueue<Payload>.Lease, inout Transaction) throws -> Void
        /// What a job that is done changes in a workspace of any kind, in the transaction that ends it.
        public typealias AnyCompletion<Store: KeyValueWorkspace> =
            nonisolated(nonsending) @Sendable (JobQueue<Payload>.Lease, Store.TransactionAttempt)
            async throws -> Void

        private let queue: JobQueue<Payload>
        private let width: Int
        private let leaseDuration: Duration
        private let pollInterval: Duration
        private let logger: Logger
        private let job: Job
        private let complete: @Sendable (JobQueue<Payload>.Lease) async throws -> Void

        /// - Parameters:
        ///   - width: So many at a time.
        ///   - leaseDuration: When another worker may take a job whose worker has died.
        ///   - pollInterval: How often it is looked for jobs that have become due.
        ///   - job: Does one, once at least. What it throws is the reason of the failure.
        public init(
            _ queue: JobQueue<Payload>, width: Int = 4, leaseDuration: Duration = .seconds(30),
            pollInterval: Duration = .milliseconds(200), logger: Logger,
            _ job: @escaping Job = { _ in }
        ) {
            self.init(queue, width, leaseDuration, pollInterval, logger, job) {
                try await queue.complete($0)
            }
        }

        /// A worker whose jobs change the workspace, which is in files, as they end.
        ///
        /// - Parameter completion: Changes the workspace, exactly once for each job.
        /// - Precondition: The queue is in a `Workspace`.
        public init(
            _ queue: JobQueue<Payload>, width: Int = 4, leaseDuration: Duration = .seconds(30),
            pollInterval: Duration = .milliseconds(200), logger: Logger,
            _ job: @escaping Job = { _ in }, completing completion: @escaping Completion
        ) {
            self.init(queue, width, leaseDuration, pollInterval, logger, job) { lease in
                try await queue.complete(lease) { try completion(lease, &$0) }
            }
        }

        /// A worker whose jobs change a workspace of any kind as they end.
        ///
        /// - Parameters:
        ///   - workspace: The queue's.
        ///   - completion: Changes the workspace, exactly once for each job. It may run again where another writer was
        ///     first.
        public init<Store: KeyValueWorkspace>(
            _ queue: JobQueue<Payload>, in workspace: Store, width: Int = 4,
            leaseDuration: Duration = .seconds(30),
            pollInterval: Duration = .milliseconds(200), logger: Logger,
            _ job: @escaping Job = { _ in },
            completing completion: @escaping AnyCompletion<Store>
        ) {
            self.init(queue, width, leaseDuration, pollInterval, logger, job) { lease in
                try await queue.complete(lease, in: workspace) { attempt in
                    try await completion(lease, attempt)
                }
            }
        }

        private init(
            _ queue: JobQueue<Payload>, _ width: Int, _ leaseDuration: Duration,
            _ pollInterval: Duration, _ logger: Logger, _ job: @escaping Job,
            completing complete: @escaping @Sendable (JobQueue<Payload>.Lease) async throws -> Void
        ) {
            precondition(width > 0, "nobody would do a job")
            self.queue = queue
            self.width = width
            self.leaseDuration = leaseDuration
            self.pollInterval = pollInterval
            self.logger = logger
            self.job = job
            self.complete = complete
        }

        /// Does jobs until the shutdown. Throws `.closed`, `.poisoned` and `.readOnly`; where its task is
        /// cancelled, what the queue's calls throw then.
        public func run() async throws {
            try await WorkspaceUses.during(queue.workspace) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<width { group.addTask { try await workUntilShutdown() } }
                    try await group.waitForAll()
                }
            }
        }

        private func workUntilShutdown() async throws {
            try await ServiceLoop.untilShutdown(
                logger, onFailure: "the queue cannot be written to: the worker tries again"
            ) {
                let begin = ContinuousClock.now
                guard let lease = try await queue.lease(for: leaseDuration) else {
                    return pollInterval
                }
                try await work(lease, since: begin)
                return .zero
            }
        }

        /// - Parameter begin: before the lease was taken.
        private func work(
            _ lease: JobQueue<Payload>.Lease, since begin: ContinuousClock.Instant
        ) async throws {
            let leaseEnd = LeaseEnd(of: leaseDuration, since: begin)
            do {
                try await withLease(lease, leaseEnd, since: begin) { try await job(lease) }
            } catch {
                // A job that throws as it is cancelled was not done, and its attempt is no failure.
                let isCancelled = Task.isCancelled || leaseEnd.isPassed
                return try await end(lease, because: error, isFailure: !isCancelled)
            }
            do {
                // A cancelled task's calls of the workspace are refused, and this job is done: it must not be
                // done again because the task was cancelled meanwhile.
                try await Task { try await complete(lease) }.value
            } catch {
                try await end(lease, because: error, isFailure: true)
            }
        }

        /// Ends an attempt that was not completed. Where this throws, the job is another's once its lease has ended.
        private func end(
            _ lease: JobQueue<Payload>.Lease, because error: any Error, isFailure: Bool
        ) async throws {
            let reason = "\(error)"
            // In a task of its own for the same reason as the completion.
            let ending = await Task {
                if isFailure {
                    try await queue.fail(lease, reason: reason)
                } else {
                    try await queue.giveBack(lease)
                }
            }.result
            // Whose lease the job has found lost, the queue alone can tell: it may be one of another queue.
            let isLost =
                if case .failure(let failure) = ending { failure is LeaseLost } else { false }
            if !(isLost && error is LeaseLost) {
                logger.error(
                    "a job failed",
                    metadata: [
                        "job": "\(lease.id)", "attempt": "\(lease.attempt)",
                        "reason": "\(reason)",
                    ])
            }
            if isLost { return warnOfLostLease(lease) }
            try ending.get()
        }

        private func warnOfLostLease(_ lease: JobQueue<Payload>.Lease) {
            logger.warning("a job took longer than its lease", metadata: ["job": "\(lease.id)"])
        }

        /// Extends the lease beside `body`, which is cancelled where it is lost, or may be.
        private func withLease(
            _ lease: JobQueue<Payload>.Lease, _ leaseEnd: LeaseEnd,
            since begin: ContinuousClock.Instant,
            _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            // A task of its own, which the caller's cancellation does not reach: a job that is cancelled may go on for
            // longer than its lease, and must not be another worker's meanwhile.
            let extending = Task { try await keepExtending(lease, leaseEnd, since: begin) }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await body()
                    return true
                }
                group.addTask {
                    try await extending.value
                    return false
                }
                group.addTask {
                    // Where this is cancelled, so is the job.
                    do { try await leaseEnd.wait() } catch { return false }
                    logger.warning(
                        "a job is cancelled, as its lease was not extended in time",
                        metadata: ["job": "\(lease.id)"])
                    return false
                }
                // The group waits for all.
                defer {
                    extending.cancel()
                    group.cancelAll()
                }
                // Until the job is done, or one of them throws. A job that may be another's is told so; it is extended all
                // the same where that is possible, until it has returned.
                while try await group.next() == false { group.cancelAll() }
            }
        }

        /// Extends the lease until the task is cancelled, and throws where it is lost; a third of it after the begin of the try
        /// before, however long that took, as the lease counts from about there.
        private func keepExtending(
            _ lease: JobQueue<Payload>.Lease, _ leaseEnd: LeaseEnd,
            since begin: ContinuousClock.Instant
        ) async throws {
            var lease = lease
            var begin = begin
            while true {
                // The clock cannot tell every later time.
                let pause = min(leaseDuration / 3, .seconds(86_400))
                do { try await Task.sleep(until: begin + pause, clock: .continuous) } catch {
                    return
                }
                begin = .now
                if try await extend(&lease) { leaseEnd.renew(since: begin) }
            }
        }

        /// A lease that cannot be extended now is tried again while it lasts: the job need not end for a disk
        /// that is full for a moment.
        ///
        /// - Returns: whether it was extended.
        private func extend(_ lease: inout JobQueue<Payload>.Lease) async throws -> Bool {
            do {
                try await queue.extend(&lease, by: leaseDuration)
                return true
            } catch let error as RoostError {
                // The job has ended, and this error says no more than that.
                if Task.isCancelled { return false }
                if ServiceLoop.isFinal(error) { throw error }
                logger.warning(
                    "a job's lease could not be extended",
                    metadata: ["job": "\(lease.id)", "reason": "\(error)"])
                return false
            }
        }
    }
#endif
