#if Services
    import Foundation
    import Roost

    /// The dictionaries of a queue, and what one attempt of a transaction does in them.
    ///
    /// - A job that is in `jobs` has exactly one key in `due` when the attempt ends, if it had before.
    struct JobAttempt<Payload: Codable & Sendable, Attempt: KeyValueTransaction> {
        typealias Job = JobQueue<Payload>.Job

        let queue: JobQueue<Payload>
        let attempt: Attempt
        let jobs: Attempt.NamedDictionary
        let due: Attempt.NamedDictionary
        let dead: Attempt.NamedDictionary
        let schedules: Attempt.NamedDictionary
        let now: Date

        /// - Precondition: The attempt is one of the queue's workspace.
        init(_ queue: JobQueue<Payload>, _ attempt: Attempt, at now: Date) {
            self.queue = queue
            self.attempt = attempt
            self.now = now
            jobs = Self.own(queue.jobs)
            due = Self.own(queue.due)
            dead = Self.own(queue.dead)
            schedules = Self.own(queue.schedules)
        }

        private static func own(_ dictionary: any KeyValueDictionary) -> Attempt.NamedDictionary {
            guard let own = dictionary as? Attempt.NamedDictionary else {
                preconditionFailure("the transaction is of another workspace than the queue")
            }
            return own
        }

        // MARK: Reading

        /// The job of a key of `due`, which is removed there; `nil` where another has the job by now, or it is not one to
        /// be done.
        nonisolated(nonsending) func takeOut(
            _ key: String
        ) async throws -> (id: String, job: Job)? {
            guard let id = try await attempt.load(key, as: String.self, in: due) else { return nil }
            try attempt.removeValue(forKey: key, in: due)
            guard let job = try await readableJob(id) else { return nil }
            // A worker that cannot read the job has put this key beside that of a lease.
            if job.dueKey != key, try await attempt.contains(job.dueKey, in: due) { return nil }
            return (id, job)
        }

        /// The job, of which `due` has no key just now; `nil` where there is none any more, or it cannot be read: it
        /// is due again later then, under a key that whoever reads it finds it by.
        private nonisolated(nonsending) func readableJob(_ id: String) async throws -> Job? {
            do {
                return try await attempt.load(id, as: Job.self, in: jobs)
            } catch let error as RoostError
                where error.code == .decodingFailed || error.code == .typeMismatch
            {
                try setAside(id)
                return nil
            }
        }

        /// The job, which is not read and has no key of `due` just now, is due again later.
        private func setAside(_ id: String) throws {
            let delay = max(queue.retries.longestDelay, .seconds(1))
            try attempt.set(id, forKey: JobTime.key(id, now, after: delay), in: due)
        }

        /// The job of a key of `due` is due again later, unless another was there since. Reads nothing of it.
        nonisolated(nonsending) func setAside(dueAs key: String) async throws {
            guard let id = JobTime.id(of: key), try await attempt.contains(key, in: due) else {
                return
            }
            try attempt.removeValue(forKey: key, in: due)
            try setAside(id)
        }

        /// The job of a lease that counts, without its time.
        nonisolated(nonsending) func take(_ lease: JobQueue<Payload>.Lease) async throws -> Job {
            guard let job = try await attempt.load(lease.id, as: Job.self, in: jobs),
                job.token == lease.token
            else { throw LeaseLost() }
            try attempt.removeValue(forKey: job.dueKey, in: due)
            return job
        }

        // MARK: Changing

        /// Adds a job, unless there is one of its identifier.
        nonisolated(nonsending) func add(
            _ payload: Payload, _ id: String, _ delay: Duration
        ) async throws {
            // One that was added before is the same job.
            if try await attempt.contains(id, in: jobs) { return }
            do { try put(Job(payload, dueKey: ""), id, after: delay) } catch {
                // A body that goes on leaves no job that is never due, as where only the key of its time is too long.
                try attempt.removeValue(forKey: id, in: jobs)
                throw error
            }
        }

        /// The job, to be taken once `delay` has passed.
        func put(_ job: Job, _ id: String, after delay: Duration = .zero) throws {
            var job = job
            job.dueKey = JobTime.key(id, now, after: delay)
            try attempt.set(job, forKey: id, in: jobs)
            try attempt.set(id, forKey: job.dueKey, in: due)
        }

        func bury(_ job: Job, _ id: String, _ reason: String) throws {
            try attempt.removeValue(forKey: id, in: jobs)
            // A job whose reason has no room would stay until its lease ends, and lose the reason.
            let letter = JobQueue<Payload>.DeadLetter(
                id: id, payload: job.payload, attemptCount: job.attemptCount,
                reason: reason.cut(toBytes: JobRetries.reasonBytes), date: now)
            try attempt.set(letter, forKey: id, in: dead)
        }

        nonisolated(nonsending) func cancel(_ id: String) async throws -> Bool {
            guard try await attempt.contains(id, in: jobs) else { return false }
            do {
                let job = try await attempt.load(id, as: Job.self, in: jobs)
                if let job { try attempt.removeValue(forKey: job.dueKey, in: due) }
            } catch let error as RoostError
                where error.code == .decodingFailed || error.code == .typeMismatch
            {
                // Of another version of the service: whoever looks at its key then finds no job and removes it.
            }
            try attempt.removeValue(forKey: id, in: jobs)
            return true
        }

        // MARK: Schedules

        /// The newest moment of a schedule that a job was enqueued for, or its begin.
        nonisolated(nonsending) func lastMoment(of schedule: String) async throws -> Date? {
            try await attempt.load(schedule, as: Int.self, in: schedules).map {
                Date(timeIntervalSince1970: Double($0) / 1000)
            }
        }

        func setLastMoment(_ moment: Date, of schedule: String) throws {
            let milliseconds = (moment.timeIntervalSince1970 * 1000).rounded(.down)
            try attempt.set(Int(milliseconds), forKey: schedule, in: schedules)
        }
    }

    /// Times as keys of `due`.
    enum JobTime {
        /// Jobs stand in the order of their times.
        static func key(_ id: String, _ now: Date, after delay: Duration) -> String {
            key(milliseconds(of: now.addingTimeInterval(delay / .seconds(1)))) + "-" + id
        }

        /// What a key says whose it is.
        static func id(of key: String) -> String? { String(key.utf8.dropFirst(16)) }

        /// What the keys of all jobs that are due at a time are before.
        static func end(_ now: Date) -> String { key(milliseconds(of: now) + 1) }

        /// Fifteen digits, so that the keys' order is that of the times.
        private static func key(_ milliseconds: UInt64) -> String {
            let digits = String(milliseconds)
            return String(repeating: "0", count: 15 - digits.count) + digits
        }

        /// A later time than the digits can tell is the last that they can, in the year 33658. A date's seconds are a
        /// fraction that may fall short of the whole millisecond that it was made of.
        private static func milliseconds(of date: Date) -> UInt64 {
            UInt64(min(max(0, date.timeIntervalSince1970 * 1000 + 0.01), 999_999_999_999_998))
        }
    }
#endif
