#if Services
    import Foundation
    public import Roost

    extension JobQueue {
        /// Takes the job that is due for the longest time; `nil` where none is. Those of one millisecond come in no
        /// particular order. Of a shared workspace it is one of the sixteen that are due for the longest time, at random, so
        /// that workers do not all want the same.
        ///
        /// A job that does not decode as `Payload`, as one of another version of the service, holds up no other: it
        /// stays, and is looked at again after the policy's longest delay, or a second where that is shorter.
        /// ``counts`` has it. So does one that cannot be taken as its record is damaged, or has no room for a lease: where
        /// there is no other to take, the call that finds it says so.
        ///
        /// - Throws: `.corrupt`, `.valueTooLarge` and `.tooLarge` of such a job; as the workspace's `transaction`, and as
        ///   `keys` of its dictionaries.
        public func lease(for duration: Duration = .seconds(30)) async throws -> Lease? {
            // What is set aside on the way is due after this, so that the looking ends.
            let end = JobTime.end(try await now())
            var begin = ""
            var failure: RoostError?
            while true {
                var keys: [String] = []
                for try await key in due.keys(in: begin..<end, limit: 16) { keys.append(key) }
                guard let last = keys.last else {
                    if let failure { throw failure }
                    return nil
                }
                begin = last + "\0"
                if !(workspace is Workspace) {
                    let first = Int.random(in: 0..<keys.count)
                    keys = Array(keys[first...] + keys[..<first])
                }
                // Those that another was first at, that have no attempt left, or that cannot be read are gone from there then.
                for key in keys {
                    do {
                        let taking = LeasedJob<Payload>(key: key, duration: duration)
                        if let lease = try await inTransaction(taking) { return lease }
                    } catch let error as RoostError where Self.isOfOneJob(error) {
                        failure = failure ?? error
                        try await setAside(dueAs: key)
                    }
                }
            }
        }

        private static func isOfOneJob(_ error: RoostError) -> Bool {
            [.corrupt, .valueTooLarge, .tooLarge].contains(error.code)
        }

        private func setAside(dueAs key: String) async throws {
            do {
                try await inTransaction(JobSetAside<Payload>(key: key))
            } catch let error as RoostError where Self.isOfOneJob(error) {
                // It stands in no other's way there, and is looked at again by the next call.
            }
        }

        /// Holds on to a job for `duration` from now on.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; as the workspace's `transaction`.
        public func extend(_ lease: inout Lease, by duration: Duration) async throws {
            lease.endsAt = try await inTransaction(
                ExtendedLease(lease: lease, duration: duration))
        }

        /// The attempt has failed: another is made after the policy's delay, or the job is dead.
        ///
        /// - Parameter reason: What the dead letter says, which has the first four KiB of it.
        /// - Throws: ``LeaseLost``, with nothing changed; as the workspace's `transaction`.
        public func fail(_ lease: Lease, reason: String) async throws {
            try await inTransaction(FailedJob(lease: lease, reason: reason))
        }

        /// Gives a job back that was not begun, for another to take at once; the attempt does not count.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; as the workspace's `transaction`.
        public func giveBack(_ lease: Lease) async throws {
            try await inTransaction(GivenBackJob(lease: lease))
        }

        // MARK: Completing

        /// The job is done and gone, if the lease still counts.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; as the workspace's `transaction`.
        public func complete(_ lease: Lease, durability: Durability? = nil) async throws {
            try await inTransaction(CompletedJob(lease: lease), durability: durability)
        }

        /// The job is done and gone, with the changes of `body`, which are made if the lease still counts: what
        /// a job does to this workspace it does exactly once so.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; what `body` throws; as
        ///   `Workspace.transaction(durability:_:)`.
        /// - Precondition: The queue is in a `Workspace`; for a shared one there is ``complete(_:in:durability:_:)``.
        public func complete(
            _ lease: Lease, durability: Durability? = nil,
            _ body: (inout Transaction) throws -> Void
        ) async throws {
            let (workspace, jobs, due) = ownFiles
            try await workspace.transaction(durability: durability) {
                (transaction: inout Transaction) in
                guard let job = try transaction.value(forKey: lease.id, as: Job.self, in: jobs),
                    job.token == lease.token
                else { throw LeaseLost() }
                try transaction.removeValue(forKey: job.dueKey, in: due)
                try transaction.removeValue(forKey: lease.id, in: jobs)
                try body(&transaction)
            }
        }

        /// As the other, for a body that suspends: of a shared workspace, and in code that is generic over workspaces.
        ///
        /// - Parameter workspace: The queue's, or the same with another deadline.
        public nonisolated(nonsending) func complete<Store: KeyValueWorkspace>(
            _ lease: Lease, in workspace: Store, durability: Durability? = nil,
            _ body: nonisolated(nonsending) (Store.TransactionAttempt) async throws -> Void
        ) async throws {
            try await workspace.transaction(durability: durability) { attempt in
                try await CompletedJob(lease: lease).make(
                    in: JobAttempt(self, attempt, at: try await now()))
                try await body(attempt)
            }
        }

        // MARK: Taking back

        /// Takes a job back that is to be done; `false` where there is none of that identifier, as it is done or dead.
        ///
        /// A job that is being done loses its lease: its worker cancels it when it next extends that, and what it
        /// completes with is not made.
        ///
        /// - Throws: as the workspace's `transaction`.
        @discardableResult
        public func cancel(_ id: String) async throws -> Bool {
            try await inTransaction(CancelledJob<Payload>(id: id))
        }

        /// As ``cancel(_:)``, with the transaction's other changes.
        ///
        /// - Throws: as `contains(_:in:)` and `removeValue(forKey:in:)` of a `Transaction`.
        /// - Precondition: The transaction is one of the queue's workspace.
        @discardableResult
        public func cancel(_ id: String, in transaction: inout Transaction) throws -> Bool {
            let (_, jobs, due) = ownFiles
            guard try transaction.contains(id, in: jobs) else { return false }
            do {
                let job = try transaction.value(forKey: id, as: Job.self, in: jobs)
                if let job { try transaction.removeValue(forKey: job.dueKey, in: due) }
            } catch let error as RoostError
                where error.code == .decodingFailed || error.code == .typeMismatch
            {
                // Of another version of the service: whoever looks at its key then finds no job and removes it.
            }
            try transaction.removeValue(forKey: id, in: jobs)
            return true
        }

        /// As the other, in a transaction whose body suspends: of a shared workspace, and in code that is generic
        /// over workspaces.
        @discardableResult
        public nonisolated(nonsending) func cancel(
            _ id: String, in attempt: some KeyValueTransaction
        ) async throws -> Bool {
            try await JobAttempt(self, attempt, at: try await now()).cancel(id)
        }
    }

    // MARK: Changes

    private struct LeasedJob<Payload: Codable & Sendable>: JobChange {
        let key: String
        let duration: Duration

        /// `nil` where the key is none of a job that may be done.
        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> JobQueue<Payload>.Lease? {
            guard let (id, found) = try await attempt.takeOut(key) else { return nil }
            var job = found
            guard job.attemptCount < attempt.queue.retries.attemptLimit else {
                try attempt.bury(job, id, "its worker did not come back")
                return nil
            }
            let token = UUID().uuidString
            job.attemptCount += 1
            job.token = token
            try attempt.put(job, id, after: duration)
            return JobQueue<Payload>.Lease(
                id: id, payload: job.payload, attempt: job.attemptCount,
                endsAt: attempt.now.addingTimeInterval(duration / .seconds(1)), token: token)
        }
    }

    private struct JobSetAside<Payload: Codable & Sendable>: JobChange {
        let key: String

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws { try await attempt.setAside(dueAs: key) }
    }

    private struct ExtendedLease<Payload: Codable & Sendable>: JobChange {
        let lease: JobQueue<Payload>.Lease
        let duration: Duration

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> Date {
            let job = try await attempt.take(lease)
            try attempt.put(job, lease.id, after: duration)
            return attempt.now.addingTimeInterval(duration / .seconds(1))
        }
    }

    private struct CompletedJob<Payload: Codable & Sendable>: JobChange {
        let lease: JobQueue<Payload>.Lease

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws {
            _ = try await attempt.take(lease)
            try attempt.attempt.removeValue(forKey: lease.id, in: attempt.jobs)
        }
    }

    private struct FailedJob<Payload: Codable & Sendable>: JobChange {
        let lease: JobQueue<Payload>.Lease
        let reason: String

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws {
            var job = try await attempt.take(lease)
            let retries = attempt.queue.retries
            guard job.attemptCount < retries.attemptLimit else {
                return try attempt.bury(job, lease.id, reason)
            }
            job.token = nil
            try attempt.put(job, lease.id, after: retries.delay(afterAttempt: job.attemptCount))
        }
    }

    private struct GivenBackJob<Payload: Codable & Sendable>: JobChange {
        let lease: JobQueue<Payload>.Lease

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws {
            var job = try await attempt.take(lease)
            job.token = nil
            job.attemptCount -= 1
            try attempt.put(job, lease.id)
        }
    }

    private struct CancelledJob<Payload: Codable & Sendable>: JobChange {
        let id: String

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> Bool { try await attempt.cancel(id) }
    }
#endif
