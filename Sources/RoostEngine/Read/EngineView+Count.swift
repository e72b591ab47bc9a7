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
        try countLive(in: name).count
    }

    /// How many keys a dictionary has, and an instant before which none of their values expires.
    ///
    /// What the runs count, they count without regard to deadlines; so where one has passed that
    /// compaction has not met yet, the dictionary is scanned. So it is while writes are enqueued,
    /// which are none of the runs.
    func countLive(in name: DictionaryName) throws -> (count: Int, earliestDeadline: Deadline) {
        try checkOpen()
        let range = RecordRange(name)
        if parts.contains(where: { $0.enqueued != nil }) { return try countByScan(range) }
        var sum = LiveCount()
        for (index, part) in parts.enumerated() {
            try sum.add(
                SnapshotCounts(part, range, hashSeed), frozen: part.frozen,
                active: activeOperations(ofShard: index, in: range), range, hashSeed)
            guard clock.isLive(sum.earliestDeadline) else { return try countByScan(range) }
        }
        return (sum.count, sum.earliestDeadline)
    }

    private func countByScan(
        _ range: RecordRange
    ) throws -> (count: Int, earliestDeadline: Deadline) {
        var count = 0
        var earliest = Deadline.never
        let scan = try scan(range)
        while scan.recordKey != nil {
            count += 1
            earliest = min(earliest, scan.deadline)
            try scan.moveToNext()
        }
        return (count, earliest)
    }
}

/// A count as it adds up over shards; deadlines are only noted.
private struct LiveCount {
    var count = 0
    var earliestDeadline = Deadline.never

    mutating func add(
        _ below: SnapshotCounts, frozen: LogTable?, active: [Operation], _ range: RecordRange,
        _ hashSeed: HashSeed
    ) throws {
        count += try below.count()
        earliestDeadline = min(earliestDeadline, below.earliestDeadline)
        try frozen?.forEach { operation in
            guard operation.key.hasPrefix(range.prefix) else { return }
            earliestDeadline = min(earliestDeadline, operation.deadline)
            count += below.isLive(operation) ? 1 : 0
            count -= try below.contains(operation.key) ? 1 : 0
        }
        for operation in active {
            earliestDeadline = min(earliestDeadline, operation.deadline)
            count += below.isLive(operation) ? 1 : 0
            if let older = frozen?.find(operation.key, hash: hashSeed.hash(operation.key)) {
                count -= below.isLive(older) ? 1 : 0
            } else {
                count -= try below.contains(operation.key) ? 1 : 0
            }
        }
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

    var earliestDeadline: Deadline {
        snapshots.reduce(.never) { min($0, $1.entry.earliestDeadline) }
    }

    /// Without regard to deadlines.
    func isLive(_ operation: Operation) -> Bool {
        operation.isPut && operation.sequence >= clearedSequence
    }

    func count() throws -> Int {
        try snapshots.indices.reduce(0) { try $0 + count(ofSnapshot: $1) }
    }

    /// Whether a key is live in the snapshots from `first` on.
    func contains(_ key: UnsafeRawBufferPointer, from first: Int = 0) throws -> Bool {
        if first >= snapshots.count { return false }
        let hash = hashSeed.hash(key)
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
        // A merge of what is below drops what has expired there, and so does change its keys.
        guard snapshots[index...].allSatisfy({ $0.entry.earliestDeadline == .never }) else {
            return try countByWalk(ofSnapshot: index)
        }
        return try reader.cachedCount(of: range.prefix, clearedSequence: clearedSequence) {
            try countByWalk(ofSnapshot: index)
        }
    }

    private func countByWalk(ofSnapshot index: Int) throws -> Int {
        let walker = SnapshotWalker(snapshots[index].reader, .ascending)
        try range.lower.withUnsafeBytes { try walker.move(to: $0) }
        var count = 0
        while !walker.isAtEnd, !range.isPastUpper(walker.key) {
            let record = walker.record
            if record.isPut, record.sequence >= clearedSequence { count += 1 }
            if try contains(walker.key, from: index + 1) { count -= 1 }
            try walker.moveToNext()
        }
        return count
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasPrefix(_ prefix: [UInt8]) -> Bool {
        count >= prefix.count
            && prefix.withUnsafeBytes { equalBytes($0, .init(rebasing: self[..<prefix.count])) }
    }
}
