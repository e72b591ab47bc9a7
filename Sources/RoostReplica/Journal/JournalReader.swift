#if Replica
    import Roost

    /// Reads a journal's entries in order.
    ///
    /// - Each names the digest of the one before: what is handed on is one journal without a gap.
    /// - An empty object is none: some storages leave one of a put that was broken off, and the writer's entry stands behind
    ///   it.
    struct JournalReader {
        private let storage: any ObjectStorage
        /// The index of the next entry.
        private(set) var next: UInt64
        /// Of the entry before; `nil` where that is not known.
        private var previous: [UInt8]?
        private var ahead: [JournalEntry] = []
        /// What was listed last, from `next` on: one list is enough for all of its entries.
        private var listed: ArraySlice<ListedEntry> = []
        /// The journal has later entries, and the next one no more.
        private(set) var isOvertaken = false

        private struct ListedEntry {
            var index: UInt64
            var sizeBytes: UInt64
        }

        /// So many are asked for at a time, and held.
        private static let windowCount = 8
        /// So much at the most, of more entries than one.
        private static let windowSizeBytes: UInt64 = 64 << 20

        /// From the entry at `index` on.
        init(_ storage: any ObjectStorage, from index: UInt64) {
            self.storage = storage
            next = index
        }

        /// After `entry`.
        init(_ storage: any ObjectStorage, behind entry: JournalEntry) {
            self.storage = storage
            next = entry.index + 1
            previous = entry.digest
        }

        /// The next entry; `nil` where the journal ends, for now.
        ///
        /// - Throws: `.io` where it cannot be had, or was removed by retention; `.corrupt`.
        mutating func read() async throws -> JournalEntry? {
            if ahead.isEmpty { try await fill() }
            guard !ahead.isEmpty else { return nil }
            let entry = ahead.removeFirst()
            if let previous, previous != entry.previous {
                throw RoostError(
                    .corrupt, "the entry does not follow the one before it in the journal",
                    file: ObjectName.entry(entry.index))
            }
            previous = entry.digest
            next = entry.index + 1
            return entry
        }

        private mutating func fill() async throws {
            passEmpty()
            let isOld = listed.first?.index == next
            if !isOld { try await list() }
            guard !listed.isEmpty else { return }
            if let found = try await readListed() { return ahead = found }
            // What was listed a while ago may have been removed since.
            if isOld { try await list() }
            guard let first = listed.first, let found = try await readListed() else {
                throw Self.removed(next)
            }
            assert(first.index == next)
            ahead = found
        }

        /// - Throws: `.io` where there are later entries, and the next one no more.
        private mutating func list() async throws {
            let names = try await storage.list(
                prefix: ObjectName.journal, after: next == 0 ? nil : ObjectName.entry(next - 1))
            listed =
                names.compactMap { object in
                    ObjectName.index(ofEntry: object.name)
                        .map { ListedEntry(index: $0, sizeBytes: object.sizeBytes) }
                }[...]
            passEmpty()
            guard let first = listed.first, first.index != next else { return }
            // A list that is made while entries are added, as of a directory, may lack one and have the one after it. It
            // stood before that, and where it does not now it was removed.
            if try await Self.entry(next, in: storage) != nil {
                // Of a size that is not known: it is asked for alone.
                listed.insert(ListedEntry(index: next, sizeBytes: .max), at: listed.startIndex)
                return
            }
            listed = []
            isOvertaken = true
            throw Self.removed(next)
        }

        private mutating func passEmpty() {
            while let first = listed.first, first.index == next, first.sizeBytes == 0 {
                listed.removeFirst()
                next += 1
            }
        }

        /// The first of what is listed, which are used up then; `nil` where the first is gone.
        ///
        /// - Throws: where the first cannot be read. What is wrong with a later one is told when it is come to.
        private mutating func readListed() async throws -> [JournalEntry]? {
            let wanted = wantedIndexes()
            var found = await withTaskGroup(
                of: (index: UInt64, result: Result<JournalEntry?, any Error>).self
            ) { [storage] group in
                for index in wanted {
                    group.addTask {
                        do {
                            return (index, .success(try await Self.entry(index, in: storage)))
                        } catch { return (index, .failure(error)) }
                    }
                }
                var found: [UInt64: Result<JournalEntry?, any Error>] = [:]
                for await (index, result) in group { found[index] = result }
                return found
            }
            guard let first = wanted.first, let entry = try found.removeValue(forKey: first)?.get()
            else { return nil }
            var entries = [entry]
            for index in wanted.dropFirst() {
                guard case .success(let entry?) = found[index] else { break }
                entries.append(entry)
            }
            listed = listed.dropFirst(entries.count)
            return entries
        }

        /// The first at least.
        private func wantedIndexes() -> [UInt64] {
            var wanted: [UInt64] = []
            var room = Self.windowSizeBytes
            for (entry, index) in zip(listed, next...).prefix(Self.windowCount) {
                guard entry.index == index, entry.sizeBytes > 0,
                    wanted.isEmpty || entry.sizeBytes <= room
                else { break }
                wanted.append(index)
                room -= min(entry.sizeBytes, room)
            }
            return wanted
        }

        private static func removed(_ index: UInt64) -> RoostError {
            RoostError(
                .io, "the copy no longer has this entry: it was removed by retention, or is lost",
                file: ObjectName.entry(index))
        }

        /// `nil` where there is no such object, or an empty one.
        static func entry(
            _ index: UInt64, in storage: any ObjectStorage
        ) async throws -> JournalEntry? {
            switch try await object(index, in: storage) {
            case .entry(let entry): entry
            case .empty, nil: nil
            }
        }

        /// The entry at `index`, which another one names; `nil` where there is no such object.
        ///
        /// - Throws: `.corrupt` where it is empty too: nobody names the place of an object that stands for no entry.
        static func entry(
            named index: UInt64, in storage: any ObjectStorage
        ) async throws -> JournalEntry? {
            try await storage.read(
                ObjectName.entry(index), maximumSizeBytes: JournalEntry.maximumSizeBytes
            ) { try JournalEntry($0, index: index) }
        }

        private enum JournalObject {
            case entry(JournalEntry)
            /// It stands for no entry.
            case empty
        }

        /// `nil` where there is none.
        private static func object(
            _ index: UInt64, in storage: any ObjectStorage
        ) async throws -> JournalObject? {
            try await storage.read(
                ObjectName.entry(index), maximumSizeBytes: JournalEntry.maximumSizeBytes
            ) { bytes in
                bytes.isEmpty ? .empty : .entry(try JournalEntry(bytes, index: index))
            }
        }

        /// The entry before the one at `index`, past empty objects; `nil` where it is gone, or there is none.
        static func entry(
            before index: UInt64, in storage: any ObjectStorage
        ) async throws -> JournalEntry? {
            var index = index
            while index > 0, let object = try await object(index - 1, in: storage) {
                if case .entry(let entry) = object { return entry }
                index -= 1
            }
            return nil
        }

        /// The last entry; `nil` where there is none.
        ///
        /// - Throws: `.corrupt` where it is damaged: nobody can go on behind it.
        static func end(of storage: any ObjectStorage) async throws -> JournalEntry? {
            let end = try await readableEnd(of: storage)
            if let damage = end.damage {
                throw RoostError(
                    .corrupt,
                    "the last entry of the copy's journal is damaged, and nothing can be added behind it: \(damage.message). Earlier states can be restored; once the object is removed, copying goes on without what it had",
                    file: damage.file, offset: damage.offset)
            }
            return end.entry
        }

        /// The last entry that can be read, and what is wrong with the newest of those behind it.
        static func readableEnd(
            of storage: any ObjectStorage
        ) async throws -> (entry: JournalEntry?, damage: RoostError?) {
            var damage: RoostError?
            for begin in try await placesToLookFrom(in: storage) {
                let names = try await storage.listAll(prefix: ObjectName.journal, after: begin)
                for object in names.reversed() where !object.isEmpty {
                    guard let index = ObjectName.index(ofEntry: object.name) else { continue }
                    do {
                        if let entry = try await entry(index, in: storage) {
                            if damage != nil { return (entry, damage) }
                            return (try await last(from: entry, in: storage), nil)
                        }
                        if damage == nil { throw removed(index) }
                    } catch let error as RoostError where error.code == .corrupt {
                        damage = damage ?? error
                    }
                }
            }
            return (nil, damage)
        }

        /// The last of the entries behind `entry`, or that: a list may be older than what was put since.
        private static func last(
            from entry: JournalEntry, in storage: any ObjectStorage
        ) async throws -> JournalEntry {
            var last = entry
            while let next = try await Self.entry(last.index + 1, in: storage) { last = next }
            return last
        }

        /// Behind which names entries are looked for, so that not all names have to be listed.
        private static func placesToLookFrom(
            in storage: any ObjectStorage
        ) async throws -> [String?] {
            // Bases say about where the end is.
            let bases = try await storage.listAll(prefix: ObjectName.bases)
            let begin = bases.compactMap { ObjectName.index(ofBase: $0.name) }.max() ?? 0
            // A base is named by the place of the next entry. The one before it stood then, and is gone only where
            // later ones stand; the next may never have come. Or the name says a place that the journal never had.
            return begin < 2 ? [nil] : [ObjectName.entry(begin - 2), nil]
        }

        /// Of the entries of one history from `low` on and before `high`, the first that has batches after `sequence`;
        /// `high` where none has. Where some are gone or damaged it may be a later one: then the one before it has some
        /// too.
        static func firstEntry(
            behind sequence: UInt64, from low: UInt64, before high: UInt64,
            in storage: any ObjectStorage
        ) async throws -> UInt64 {
            var (low, high) = (low, high)
            // Below `low` no entry has more than `sequence`, from `high` on all have.
            while low < high {
                let middle = low + (high - low) / 2
                var found: JournalEntry?
                do { found = try await entry(middle, in: storage) } catch let error as RoostError
                    where error.code == .corrupt
                {
                    // One that is not needed holds nobody up.
                }
                if let found, found.standing.lastSequence > sequence {
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            return low
        }
    }
#endif
