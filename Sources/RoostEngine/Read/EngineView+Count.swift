import RoostFormat
import RoostSnapshot

// How many keys a dictionary has, without a scan of what is in snapshots: each run of a shard, from
// the oldest snapshot to the active table, counts the keys that are live in it less those of them
// that are live in the runs below it. docs/decisions/0012.

extension EngineView {
    /// How many keys a dictionary has.
    ///
    /// Costs a look at every key in the log; of a snapshot that has keys of the dictionary above
    /// another that has, once, a look-up of each; of all others nothing.
    package func count(of name: DictionaryName) throws -> Int {
        try checkOpen()
        let range = RecordRange(name)
        var count = 0
        for (index, part) in parts.enumerated() {
            count += try enqueuedCount(ofShard: index, in: name)
            let below = try SnapshotCounts(part, range, hashSeed)
            count += try below.count()
            // Each table's keys, and what stands below it.
            var tables: [(operations: [Operation], find: Finder?)] = [
                (try activeOperations(ofShard: index, in: range), nil)
            ]
            if let frozen = part.frozen {
                tables[0].find = { frozen.find($0, hash: $1) }
                tables.append((frozen.operations(in: range), nil))
            }
            if let enqueued = part.enqueued {
                tables.insert(
                    (
                        enqueued.operations(in: range),
                        { try self.activeOperation($0, hash: $1, shard: index) }
                    ), at: 0)
            }
            for (position, table) in tables.enumerated() {
                count += try self.count(
                    of: table.operations, above: tables[position...].compactMap(\.find), below)
            }
        }
        return count
    }

    /// The live keys of a table, less those that are live in the tables below it or, if none of
    /// them has the key, in the snapshots.
    private func count(
        of operations: [Operation], above finders: [Finder], _ snapshots: SnapshotCounts
    ) throws -> Int {
        var count = 0
        for operation in operations {
            if snapshots.isLive(operation) { count += 1 }
            if finders.isEmpty && snapshots.isEmpty { continue }
            let hash = hashSeed.hash(operation.key)
            var older: Operation?
            for finder in finders where older == nil { older = try finder(operation.key, hash) }
            let wasLive =
                try older.map(snapshots.isLive) ?? snapshots.contains(operation.key, hash: hash)
            if wasLive { count -= 1 }
        }
        return count
    }

    private typealias Finder = (UnsafeRawBufferPointer, UInt64) throws -> Operation?
}

extension LogTable {
    fileprivate func operations(in range: RecordRange) -> [Operation] {
        var operations: [Operation] = []
        forEach { if range.contains($0.key) { operations.append($0) } }
        return operations
    }
}

/// One dictionary's keys in a shard's snapshots.
private struct SnapshotCounts {
    private let range: RecordRange
    private let hashSeed: HashSeed
    private let clearedSequence: UInt64
    /// The snapshots that have records of the dictionary which are not all gone, newest first.
    private let snapshots: [(reader: SnapshotReader, entry: DictionaryCounts.Entry)]

    init(_ part: ViewPart, _ range: RecordRange, _ hashSeed: HashSeed) throws {
        self.range = range
        self.hashSeed = hashSeed
        let cleared = part.clears[range.prefix] ?? 0
        clearedSequence = cleared
        snapshots = try part.snapshots.snapshots.compactMap { reader in
            guard let entry = try reader.dictionaryCounts().entry(range.prefix),
                entry.maximumSequence >= cleared
            else { return nil }
            return (reader, entry)
        }
    }

    var isEmpty: Bool { snapshots.isEmpty }

    func isLive(_ operation: Operation) -> Bool {
        operation.isPut && operation.sequence >= clearedSequence
    }

    func count() throws -> Int {
        try snapshots.indices.reduce(0) { try $0 + count(ofSnapshot: $1) }
    }

    /// Whether a key is live in the snapshots from `first` on.
    func contains(
        _ key: UnsafeRawBufferPointer, hash: UInt64, from first: Int = 0
    ) throws -> Bool {
        for (reader, _) in snapshots[first...] {
            guard let record = try reader.find(key, hash: hash) else { continue }
            return record.isPut && record.sequence >= clearedSequence
        }
        return false
    }

    /// The live keys of one snapshot, less those that are live below it. What is below may be
    /// merged later, and stays the same keys; so the answer stays good as long as the snapshot.
    private func count(ofSnapshot index: Int) throws -> Int {
        let (reader, entry) = snapshots[index]
        if index == snapshots.count - 1, entry.minimumSequence >= clearedSequence {
            return Int(entry.putCount)
        }
        return try reader.cachedCount(of: range.prefix, clearedSequence: clearedSequence) {
            let walker = SnapshotWalker(reader, .ascending)
            try range.lower.withUnsafeBytes { try walker.move(to: $0) }
            var count = 0
            while !walker.isAtEnd, !range.isPastUpper(walker.key) {
                let record = walker.record
                if record.isPut, record.sequence >= clearedSequence { count += 1 }
                let hash = hashSeed.hash(walker.key)
                if try contains(walker.key, hash: hash, from: index + 1) { count -= 1 }
                try walker.moveToNext()
            }
            return count
        }
    }
}
