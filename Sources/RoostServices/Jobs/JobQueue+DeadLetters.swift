#if Services
    import Roost

    extension JobQueue {
        /// Those that have failed for good, at most `limit`. Letters that do not decode as `Payload` are passed
        /// over; ``counts`` has them.
        ///
        /// - Throws: as `entries` of the workspace's dictionaries.
        public func deadLetters(limit: Int = 100) async throws -> [DeadLetter] {
            var letters: [DeadLetter] = []
            guard limit > 0 else { return letters }
            for try await entry in dead.entries(as: ReadLetter.self) {
                guard let letter = entry.value.letter else { continue }
                letters.append(letter)
                if letters.count == limit { break }
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
        /// - Throws: `.decodingFailed` and `.typeMismatch` where the letter holds no `Payload`; as the
        ///   workspace's `transaction`. Then nothing is changed.
        @discardableResult
        public func revive(_ id: String) async throws -> Bool {
            try await inTransaction(RevivedJob<Payload>(id: id))
        }

        /// Removes a dead job for good; `false` where there is none of that identifier. One that cannot be read goes too.
        ///
        /// - Throws: as the workspace's `transaction`.
        @discardableResult
        public func removeDeadLetter(_ id: String) async throws -> Bool {
            try await inTransaction(RemovedLetter<Payload>(id: id))
        }
    }

    private struct RevivedJob<Payload: Codable & Sendable>: JobChange {
        let id: String

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> Bool {
            let letter = try await attempt.attempt.load(
                id, as: JobQueue<Payload>.DeadLetter.self, in: attempt.dead)
            guard let letter, try await !attempt.attempt.contains(id, in: attempt.jobs) else {
                return false
            }
            try attempt.attempt.removeValue(forKey: id, in: attempt.dead)
            try await attempt.add(letter.payload, id, .zero)
            return true
        }
    }

    private struct RemovedLetter<Payload: Codable & Sendable>: JobChange {
        let id: String

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> Bool {
            guard try await attempt.attempt.contains(id, in: attempt.dead) else { return false }
            try attempt.attempt.removeValue(forKey: id, in: attempt.dead)
            return true
        }
    }
#endif
