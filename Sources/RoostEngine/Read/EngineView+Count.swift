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
            let active = try activeOperations(ofShard: index, in: range)
            count += try self.count(of: active, above: part.frozen, below)
            guard let frozen = part.frozen else { continue }
            var operations: [Operation] = []
            frozen.forEach { if range.contains($0.key) { operations.append($0) } }
            count += try self.count(of: operations, above: nil, below)
        }
        return count
    }

    /// The live keys of a table, less those that are live in the table below it or, if that does
    /// not have the key, in the snapshots.
    private func count(
        of operations: [Operation], above older: LogTable?, _ snapshots: SnapshotCounts
    ) throws -> Int {
        var count = 0
        for operation in operations {
            if snapshots.isLive(operation) { count += 1 }
            if older == nil && snapshots.isEmpty { continue }
            let hash = hashSeed.hash(operation.key)
            let wasLive =
                try older?.find(operation.key, hash: hash).map(snapshots.isLive)
                ?? snapshots.contains(operation.key, hash: hash)
            if wasLive { count -= 1 }
        }
        return count
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
