#if Services
    public import Foundation
    public import Roost

    /// Jobs that are done at least once, each by one worker at a time, whatever dies meanwhile.
    ///
    /// - A job is in `jobs`, under its identifier, from its enqueuing until it is done or dead. While it is, exactly
    ///   one key in `due` names it: the time from which on a worker may take it, and the identifier.
    /// - Who takes a job moves that time to the end of its *lease*. Whoever does not come back by then has lost it,
    ///   and another takes it.
    /// - A job that has failed, or lost its worker, as often as the policy lets it, is moved to `dead`.
    ///
    /// Over a shared workspace the workers of all processes take from the queue. What time it is the engine says then, where
    /// it tells one, so that a process whose clock is wrong takes nobody's job away.
    public struct JobQueue<Payload: Codable & Sendable>: Sendable {
        /// A job that its holder is to do before `endsAt`, or to hold on to with ``JobQueue/extend(_:by:)``.
        public struct Lease: Sendable {
            public let id: String
            public let payload: Payload
            /// The first is 1.
            public let attempt: Int
            public internal(set) var endsAt: Date
            let token: String
        }

        /// A job that has failed for good.
        public struct DeadLetter: Codable, Sendable {
            public let id: String
            public let payload: Payload
            public let attemptCount: Int
            /// Why the last attempt failed: of a long reason the first four KiB.
            public let reason: String
            public let date: Date
        }

        struct Job: Codable, Sendable {
            var payload: Payload
            var attemptCount = 0
            var dueKey: String
            /// Of the lease that counts; of nobody's where nobody has taken the job yet.
            var token: String?

            /// A job that nobody has taken. It takes as much as it will with a lease's token and a count of attempts: what
            /// is too large for that is refused, and does not stand in the queue for good.
            init(_ payload: Payload, dueKey: String) {
                self.payload = payload
                self.dueKey = dueKey
                // As long as one and some more, and of the same letters.
                token = UUID().uuidString + UUID().uuidString.prefix(12)
            }
        }

        public let retries: JobRetries
        let workspace: any KeyValueWorkspace
        let jobs: any KeyValueDictionary
        let due: any KeyValueDictionary
        let dead: any KeyValueDictionary
        /// The last moments of `JobSchedule`s, in milliseconds since 1970.
        let schedules: any KeyValueDictionary
        private let clock: (@Sendable () -> Date)?

        /// - Parameters:
        ///   - workspace: A `Workspace`, or one that processes share: workers of all of them then do the jobs.
        ///   - name: The queue's dictionaries begin with it.
        ///   - now: What time it is; the workspace's ``Roost/KeyValueWorkspace/currentDate`` where it is not given.
        public init(
            _ workspace: some KeyValueWorkspace, name: String = "jobs",
            retries: JobRetries = .init(), now: (@Sendable () -> Date)? = nil
        ) {
            self.workspace = workspace
            self.retries = retries
            clock = now
            jobs = workspace.dictionary("\(name).jobs")
            due = workspace.dictionary("\(name).due")
            dead = workspace.dictionary("\(name).dead")
            schedules = workspace.dictionary("\(name).schedules")
        }

        // MARK: Enqueuing

        /// Adds a job; its identifier. It is there to be done once `durability` holds, or the engine of a shared
        /// workspace has acknowledged it.
        ///
        /// - Parameter id: Of a job that is to be added once, as in a transaction.
        /// - Throws: as the workspace's `transaction`, `.encodingFailed` and `.valueTooLarge`, which a job is from a hundred
        ///   bytes below the limit of values on; then there is no job.
        @discardableResult
        public func enqueue(
            _ payload: Payload, id: String = UUID().uuidString, delay: Duration = .zero,
            durability: Durability? = nil
        ) async throws -> String {
            try await inTransaction(
                EnqueuedJob(payload: payload, id: id, delay: delay), durability: durability)
            return id
        }

        /// Adds a job with the transaction's other changes: it is there if they are.
        ///
        /// - Parameter id: Of a job that is to be added once: where one of this identifier is to be done, or being
        ///   done, nothing is added, and its payload stays. One that is done or dead keeps no other away; of several that
        ///   die the last letter is kept.
        /// - Throws: as `contains(_:in:)` and `set(_:forKey:in:)` of a `Transaction`.
        /// - Precondition: The transaction is one of the queue's workspace.
        @discardableResult
        public func enqueue(
            _ payload: Payload, id: String = UUID().uuidString, delay: Duration = .zero,
            in transaction: inout Transaction
        ) throws -> String {
            let (workspace, jobs, due) = ownFiles
            if try transaction.contains(id, in: jobs) { return id }
            let now = clock?() ?? workspace.currentDate
            let job = Job(payload, dueKey: JobTime.key(id, now, after: delay))
            try transaction.set(job, forKey: id, in: jobs)
            do { try transaction.set(id, forKey: job.dueKey, in: due) } catch {
                // As `JobAttempt.add`.
                try transaction.removeValue(forKey: id, in: jobs)
                throw error
            }
            return id
        }

        /// As the other, in a transaction whose body suspends: of a shared workspace, and in code that is generic
        /// over workspaces.
        @discardableResult
        public nonisolated(nonsending) func enqueue(
            _ payload: Payload, id: String = UUID().uuidString, delay: Duration = .zero,
            in attempt: some KeyValueTransaction
        ) async throws -> String {
            try await JobAttempt(self, attempt, at: try await now()).add(payload, id, delay)
            return id
        }

        /// How many jobs are to be done or being done, and how many are dead. Over a shared workspace that reads the keys
        /// of all of them.
        ///
        /// - Throws: as `count` of the workspace's dictionaries.
        public var counts: (pending: Int, dead: Int) {
            get async throws { (try await jobs.count, try await dead.count) }
        }

        // MARK: Within

        func now() async throws -> Date {
            if let clock { return clock() }
            return try await workspace.currentDate
        }

        /// What a `Transaction` is of.
        var ownFiles: (workspace: Workspace, jobs: WorkspaceDictionary, due: WorkspaceDictionary) {
            guard let workspace = workspace as? Workspace else {
                preconditionFailure("the transaction is of another workspace than the queue")
            }
            return (workspace, workspace.dictionary(jobs.name), workspace.dictionary(due.name))
        }

        /// Makes a change in a transaction of its own.
        func inTransaction<Change: JobChange>(
            _ change: Change, durability: Durability? = nil
        ) async throws -> Change.Result where Change.Payload == Payload {
            try await inTransaction(change, durability, of: workspace)
        }

        private func inTransaction<Change: JobChange>(
            _ change: Change, _ durability: Durability?, of workspace: some KeyValueWorkspace
        ) async throws -> Change.Result where Change.Payload == Payload {
            try await workspace.transaction(durability: durability) { attempt in
                try await change.make(in: JobAttempt(self, attempt, at: try await now()))
            }
        }
    }

    /// A change of a queue, in a transaction of whatever workspace that is in.
    protocol JobChange<Payload>: Sendable {
        associatedtype Payload: Codable & Sendable
        associatedtype Result: Sendable

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> Result
    }

    private struct EnqueuedJob<Payload: Codable & Sendable>: JobChange {
        let payload: Payload
        let id: String
        let delay: Duration

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws { try await attempt.add(payload, id, delay) }
    }

    /// How often a job is tried, and how long after a failure.
    public struct JobRetries: Sendable, Hashable {
        /// So many attempts are made, the first included: one at least.
        public var attemptLimit: Int
        /// After the first failure; doubled after each further one.
        public var firstDelay: Duration
        public var longestDelay: Duration

        /// - Precondition: `attemptLimit` is at least 1.
        public init(
            attemptLimit: Int = 5, firstDelay: Duration = .seconds(1),
            longestDelay: Duration = .seconds(3600)
        ) {
            precondition(attemptLimit > 0, "a job is tried once at least")
            self.attemptLimit = attemptLimit
            self.firstDelay = firstDelay
            self.longestDelay = longestDelay
        }

        /// So much of a failure's reason is kept.
        static var reasonBytes: Int { 4096 }

        func delay(afterAttempt attempt: Int) -> Duration {
            let factor = 1 << min(attempt - 1, 30)
            // Compared before it is multiplied: a long first delay times the factor may be more than a duration holds.
            return firstDelay < longestDelay / factor ? firstDelay * factor : longestDelay
        }
    }

    /// The lease ended, or was given back, and the job is another's by now.
    public struct LeaseLost: Error, Sendable {}
#endif
