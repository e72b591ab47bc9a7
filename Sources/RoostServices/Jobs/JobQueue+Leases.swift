#if Services
    import Foundation
    public import Roost

    extension JobQueue {
        /// Takes the job that is due for the longest time; `nil` where none is. Those of one millisecond come in no
        /// particular order.
        ///
        /// A job that does not decode as `Payload`, as one of another version of the service, holds up no other: it
        /// stays, and is looked at again after the policy's longest delay, or a second where that is shorter.
        /// ``counts`` has it.
        ///
        /// - Throws: as `Workspace.transaction(durability:_:)`.
        public func lease(for duration: Duration = .seconds(30)) async throws -> Lease? {
            // What is set aside on the way is due after this, so that the looking ends.
            let end = timeKey(now().addingTimeInterval(0.001))
            while true {
                let look = try await look(before: end, for: duration)
                if case .found(let lease) = look { return lease }
                if case .none = look { return nil }
            }
        }

        /// What a transaction has found.
        private enum Look {
            case found(Lease)
            case none
            /// Jobs that were set aside; there may be others.
            case others
        }

        private func look(before end: String, for duration: Duration) async throws -> Look {
            try await workspace.transaction { transaction in
                // Those that have no attempt left, or cannot be read, are set aside on the way, a few at a time.
                for _ in 0..<16 {
                    guard let key = try transaction.keys(of: due, in: ..<end, limit: 1).first,
                        let id = try transaction.value(forKey: key, as: String.self, in: due)
                    else { return .none }
                    try transaction.removeValue(forKey: key, in: due)
                    guard var job = try readableJob(id, in: &transaction) else { continue }
                    // A worker that cannot read the job has put this key beside that of a lease.
                    if job.dueKey != key, try transaction.contains(job.dueKey, in: due) { continue }
                    if job.attemptCount >= retries.attemptLimit {
                        try bury(job, id, "its worker did not come back", in: &transaction)
                        continue
                    }
                    let token = UUID().uuidString
                    job.attemptCount += 1
                    job.token = token
                    job.dueKey = dueKey(id, after: duration)
                    try put(job, id, in: &transaction)
                    return .found(
                        Lease(
                            id: id, payload: job.payload, attempt: job.attemptCount,
                            endsAt: now().addingTimeInterval(duration / .seconds(1)), token: token))
                }
                return .others
            }
        }

        /// Holds on to a job for `duration` from now on.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; as `Workspace.transaction(durability:_:)`.
        public func extend(_ lease: inout Lease, by duration: Duration) async throws {
            let held = lease
            lease.endsAt = try await workspace.transaction { transaction in
                var job = try take(held, in: &transaction)
                job.dueKey = dueKey(held.id, after: duration)
                try put(job, held.id, in: &transaction)
                return now().addingTimeInterval(duration / .seconds(1))
            }
        }

        /// The job is done and gone, with the changes of `body`, which are made if the lease still counts: what
        /// a job does to this workspace it does exactly once so.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; what `body` throws; as
        ///   `Workspace.transaction(durability:_:)`.
        public func complete(
            _ lease: Lease, durability: Durability? = nil,
            _ body: (inout Transaction) throws -> Void = { _ in }
        ) async throws {
            try await workspace.transaction(durability: durability) { transaction in
                _ = try take(lease, in: &transaction)
                try transaction.removeValue(forKey: lease.id, in: jobs)
                try body(&transaction)
            }
        }

        /// The attempt has failed: another is made after the policy's delay, or the job is dead.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; as `Workspace.transaction(durability:_:)`.
        public func fail(_ lease: Lease, reason: String) async throws {
            try await workspace.transaction { transaction in
                var job = try take(lease, in: &transaction)
                guard job.attemptCount < retries.attemptLimit else {
                    return try bury(job, lease.id, reason, in: &transaction)
                }
                job.token = nil
                job.dueKey = dueKey(
                    lease.id, after: retries.delay(afterAttempt: job.attemptCount))
                try put(job, lease.id, in: &transaction)
            }
        }

        /// Gives a job back that was not begun, for another to take at once; the attempt does not count.
        ///
        /// - Throws: ``LeaseLost``, with nothing changed; as `Workspace.transaction(durability:_:)`.
        public func giveBack(_ lease: Lease) async throws {
            try await workspace.transaction { transaction in
                var job = try take(lease, in: &transaction)
                job.token = nil
                job.attemptCount -= 1
                job.dueKey = dueKey(lease.id)
                try put(job, lease.id, in: &transaction)
            }
        }

        // MARK: Dead letters

        /// Those that have failed for good, at most `limit`. Letters that do not decode as `Payload` are passed
        /// over; ``counts`` has them.
        ///
        /// - Throws: as `page(prefix:after:as:limit:order:)` of a `WorkspaceDictionary`.
        public func deadLetters(limit: Int = 100) throws -> [DeadLetter] {
            var letters: [DeadLetter] = []
            var last: String?
            while letters.count < limit {
                let page = try dead.page(
                    after: last, as: ReadLetter.self, limit: limit - letters.count)
                guard let end = page.last else { break }
                letters += page.compactMap(\.value.letter)
                last = end.key
            }
            return letters
        }

        /// A letter; none where it cannot be read.
        private struct ReadLetter: Codable, Sendable {
            var letter: DeadLetter?

            init(from decoder: any Decoder) {
                do { letter = try DeadLetter(from: decoder) } catch { letter = nil }
            }

            func encode(to encoder: any Encoder) throws { try letter.encode(to: encoder) }
        }

        /// Enqueues a dead job anew, with all its attempts; `false` where there is none of that identifier, or another
        /// job has it by now: the letter stays then.
        ///
        /// - Throws: `.decodingFailed` and `.typeMismatch` where the letter holds no `Payload`; as
        ///   `Workspace.transaction(durability:_:)`. Then nothing is changed.
        @discardableResult
        public func revive(_ id: String) async throws -> Bool {
            try await workspace.transaction { transaction in
                guard let letter = try transaction.value(forKey: id, as: DeadLetter.self, in: dead)
                else { return false }
                if try transaction.contains(id, in: jobs) { return false }
                try transaction.removeValue(forKey: id, in: dead)
                try enqueue(letter.payload, id: id, in: &transaction)
                return true
            }
        }

        /// Removes a dead job for good; `false` where there is none of that identifier. One that cannot be read goes too.
        ///
        /// - Throws: as `Workspace.transaction(durability:_:)`.
        @discardableResult
        public func removeDeadLetter(_ id: String) async throws -> Bool {
            try await workspace.transaction { transaction in
                guard try transaction.contains(id, in: dead) else { return false }
                try transaction.removeValue(forKey: id, in: dead)
                return true
            }
        }

        // MARK: Taking back

        /// Takes a job back that is to be done; `false` where there is none of that identifier, as it is done or dead.
        ///
        /// A job that is being done loses its lease: its worker cancels it when it next extends that, and what it
        /// completes with is not made.
        ///
        /// - Throws: as `Workspace.transaction(durability:_:)`.
        @discardableResult
        public func cancel(_ id: String) async throws -> Bool {
            try await workspace.transaction { try cancel(id, in: &$0) }
        }

        /// As ``cancel(_:)``, with the transaction's other changes.
        ///
        /// - Throws: as `contains(_:in:)` and `removeValue(forKey:in:)` of a `Transaction`.
        @discardableResult
        public func cancel(_ id: String, in transaction: inout Transaction) throws -> Bool {
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

        // MARK: Within

        /// The job, of which `due` has no key just now; `nil` where there is none any more, or it cannot be read: it
        /// is due again later then, under a key that whoever reads it finds it by.
        private func readableJob(_ id: String, in transaction: inout Transaction) throws -> Job? {
            do {
                return try transaction.value(forKey: id, as: Job.self, in: jobs)
            } catch let error as RoostError
                where error.code == .decodingFailed || error.code == .typeMismatch
            {
                let later = dueKey(id, after: max(retries.longestDelay, .seconds(1)))
                try transaction.set(id, forKey: later, in: due)
                return nil
            }
        }

        /// The job of a lease that counts, without its time.
        private func take(_ lease: Lease, in transaction: inout Transaction) throws -> Job {
            guard let job = try transaction.value(forKey: lease.id, as: Job.self, in: jobs),
                job.token == lease.token
            else { throw LeaseLost() }
            try transaction.removeValue(forKey: job.dueKey, in: due)
            return job
        }

        private func bury(
            _ job: Job, _ id: String, _ reason: String, in transaction: inout Transaction
        ) throws {
            try transaction.removeValue(forKey: id, in: jobs)
            let letter = DeadLetter(
                id: id, payload: job.payload, attemptCount: job.attemptCount, reason: reason,
                date: now())
            try transaction.set(letter, forKey: id, in: dead)
        }
    }
#endif
