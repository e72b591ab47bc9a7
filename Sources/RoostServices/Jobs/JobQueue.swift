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
            /// Why the last attempt failed.
            public let reason: String
            public let date: Date
        }

        struct Job: Codable, Sendable {
            var payload: Payload
            var attemptCount = 0
            var dueKey: String
            /// Of the lease that counts.
            var token: String?
        }

        public let retries: JobRetries
        let workspace: Workspace
        let jobs: WorkspaceDictionary
        let due: WorkspaceDictionary
        let dead: WorkspaceDictionary
        let now: @Sendable () -> Date

        /// - Parameters:
        ///   - name: The queue's dictionaries begin with it.
        ///   - now: What time it is.
        public init(
            _ workspace: Workspace, name: String = "jobs", retries: JobRetries = .init(),
            now: @escaping @Sendable () -> Date = { Date() }
        ) {
            self.workspace = workspace
            self.retries = retries
            self.now = now
            jobs = workspace.dictionary("\(name).jobs")
            due = workspace.dictionary("\(name).due")
            dead = workspace.dictionary("\(name).dead")
        }

        // MARK: Enqueuing

        /// Adds a job; its identifier. It is there to be done once `durability` holds.
        ///
        /// - Throws: as `Workspace.transaction(durability:_:)`, `.encodingFailed` and `.valueTooLarge`; then
        ///   there is no job.
        @discardableResult
        public func enqueue(
            _ payload: Payload, delay: Duration = .zero, durability: Durability? = nil
        ) async throws -> String {
            try await workspace.transaction(durability: durability) { transaction in
                try enqueue(payload, delay: delay, in: &transaction)
            }
        }

        /// Adds a job with the transaction's other changes: it is there if they are.
        ///
        /// - Parameter id: Of a job that is to be added once: where one of this identifier is to be done, or being
        ///   done, nothing is added, and its payload stays. One that is done or dead keeps no other away; of several that
        ///   die the last letter is kept.
        /// - Throws: as `contains(_:in:)` and `set(_:forKey:in:)` of a `Transaction`.
        @discardableResult
        public func enqueue(
            _ payload: Payload, id: String = UUID().uuidString, delay: Duration = .zero,
            in transaction: inout Transaction
        ) throws -> String {
            // One that was added before is the same job.
            if try transaction.contains(id, in: jobs) { return id }
            let job = Job(payload: payload, dueKey: dueKey(id, after: delay))
            try put(job, id, in: &transaction)
            return id
        }

        /// How many jobs are to be done or being done, and how many are dead.
        ///
        /// - Throws: as `count` of a `WorkspaceDictionary`.
        public var counts: (pending: Int, dead: Int) {
            get throws { (try jobs.count, try dead.count) }
        }

        // MARK: Keys

        /// Jobs stand in the order of their times.
        func dueKey(_ id: String, after delay: Duration = .zero) -> String {
            timeKey(now().addingTimeInterval(delay / .seconds(1))) + "-" + id
        }

        /// Fifteen digits, so that the keys' order is that of the times. A later time than they can tell is the last
        /// that they can, in the year 33658.
        func timeKey(_ date: Date) -> String {
            let milliseconds = min(max(0, date.timeIntervalSince1970 * 1000), 999_999_999_999_999)
            let digits = String(UInt64(milliseconds))
            return String(repeating: "0", count: 15 - digits.count) + digits
        }

        func put(_ job: Job, _ id: String, in transaction: inout Transaction) throws {
            try transaction.set(job, forKey: id, in: jobs)
            try transaction.set(id, forKey: job.dueKey, in: due)
        }
    }

    /// How often a job is tried, and how long after a failure.
    public struct JobRetries: Sendable, Hashable {
        /// So many attempts are made, the first included.
        public var attemptLimit: Int
        /// After the first failure; doubled after each further one.
        public var firstDelay: Duration
        public var longestDelay: Duration

        public init(
            attemptLimit: Int = 5, firstDelay: Duration = .seconds(1),
            longestDelay: Duration = .seconds(3600)
        ) {
            precondition(attemptLimit > 0, "a job is tried once at least")
            self.attemptLimit = attemptLimit
            self.firstDelay = firstDelay
            self.longestDelay = longestDelay
        }

        func delay(afterAttempt attempt: Int) -> Duration {
            let factor = 1 << min(attempt - 1, 30)
            // Compared before it is multiplied: a long first delay times the factor may be more than a duration holds.
            return firstDelay < longestDelay / factor ? firstDelay * factor : longestDelay
        }
    }

    /// The lease ended, or was given back, and the job is another's by now.
    public struct LeaseLost: Error, Sendable {}
#endif
