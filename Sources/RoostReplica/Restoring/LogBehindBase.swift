#if Replica
    import Roost

    /// Reads the entries behind a base in order: from the first that it names, or, where one from there on is gone or
    /// damaged that has no batch behind the base, from further on.
    ///
    /// - Who applies the entries sees a gap between their batches.
    struct LogBehindBase {
        private let storage: any ObjectStorage
        private let history: Identifier
        private let flushedSequence: UInt64
        /// Behind the last entry of the journal.
        private let end: UInt64
        private var reader: JournalReader
        /// Whether an entry was read that has batches behind the base.
        private var hasBegun = false

        init(_ storage: any ObjectStorage, _ record: BaseRecord, before end: JournalEntry) {
            self.storage = storage
            self.end = end.index + 1
            history = record.history
            flushedSequence = record.manifest.flushedSequence
            reader = JournalReader(storage, from: record.firstEntry)
        }

        /// - Throws: as `read()` of a `JournalReader`.
        mutating func read() async throws -> JournalEntry? {
            let entry: JournalEntry?
            do { entry = try await reader.read() } catch let error as RoostError
                where !hasBegun && (error.code == .corrupt || reader.isOvertaken)
            {
                hasBegun = true
                guard let found = try await placeBehindDamage() else { throw error }
                reader = JournalReader(storage, from: found)
                return try await reader.read()
            }
            if let entry, entry.standing.lastSequence > flushedSequence { hasBegun = true }
            return entry
        }

        /// The first entry with batches behind the base; `nil` where the one before it, which has none, cannot be read: a
        /// damaged one may have the first of them.
        private func placeBehindDamage() async throws -> UInt64? {
            let found = try await JournalReader.firstEntry(
                behind: flushedSequence, from: reader.next, before: end, in: storage)
            guard found > reader.next else { return nil }
            do {
                guard let before = try await JournalReader.entry(before: found, in: storage),
                    before.standing.history == history,
                    before.standing.lastSequence <= flushedSequence
                else { return nil }
                return found
            } catch let error as RoostError where error.code == .corrupt { return nil }
        }
    }
#endif
