import RoostFormat
import RoostSnapshot

// How many keys a dictionary has, without a scan of what is in snapshots: each tier of cold storage,
// from the oldest on, and then each shard's tables count the keys that are live in them less those of
// them that are live in what is older. docs/decisions/0012.

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
        let cold = try SnapshotCounts(self, range)
        var sum = try LiveCount(cold)
        guard clock.isLive(sum.earliestDeadline) else { return try countByScan(range) }
        if isLogEmpty { return (sum.count, sum.earliestDeadline) }
        for (index, part) in parts.enumerated() {
            try sum.add(
                frozen: part.frozen, active: activeOperations(ofShard: index, in: range),
                above: cold)
            guard clock.isLive(sum.earliestDeadline) else { return try countByScan(range) }
        }
        try checkLogRead()
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

/// A count as it adds up over cold storage and the shards' tables; deadlines are only noted.
private struct LiveCount {
    var count: Int
    var earliestDeadline: Deadline

    init(_ cold: SnapshotCounts) throws {
        count = try cold.count()
        earliestDeadline = cold.earliestDeadline
    }

    /// Adds what a shard's tables change in what cold storage has.
    mutating func add(
        frozen: LogTable?, active: [Operation], above cold: SnapshotCounts
    ) throws {
        try frozen?.forEach { operation in
            guard hasPrefix(operation.key, cold.range.prefix) else { return }
            earliestDeadline = min(earliestDeadline, operation.deadline)
            count += cold.isLive(operation) ? 1 : 0
            count -= try cold.contains(operation.key) ? 1 : 0
        }
        for operation in active {
            earliestDeadline = min(earliestDeadline, operation.deadline)
            count += cold.isLive(operation) ? 1 : 0
            if let older = frozen?.find(operation.key, hash: cold.hashSeed.hash(operation.key)) {
                count -= cold.isLive(older) ? 1 : 0
            } else {
                count -= try cold.contains(operation.key) ? 1 : 0
            }
        }
    }
}

/// One dictionary's keys in cold storage.
private struct SnapshotCounts {
    /// A snapshot that has records of the dictionary which are not all gone, and what it says of them.
    private struct Counted {
        let tier: Int
        let part: ColdTier.Part
        let entry: DictionaryCounts.Entry
    }

    let range: RecordRange
    let hashSeed: HashSeed
    private let clearedSequence: UInt64
    private let cold: ColdStorage
    /// In the order of the tiers, the newest first.
    private let counted: [Counted]

    init(_ view: EngineView, _ range: RecordRange) throws {
        self.range = range
        hashSeed = view.hashSeed
        cold = view.cold
        let cleared = view.clearedSequence(ofPrefix: range.prefix)
        clearedSequence = cleared
        var counted: [Counted] = []
        for (index, tier) in view.cold.tiers.enumerated() {
            for part in tier.parts[tier.overlapping(range.lower, range.upper)] {
                guard let entry = try part.snapshot.dictionaryCounts().entry(range.prefix),
                    entry.maximumSequence >= cleared
                else { continue }
                counted.append(Counted(tier: index, part: part, entry: entry))
            }
        }
        self.counted = counted
    }

    var earliestDeadline: Deadline {
        counted.reduce(.never) { min($0, $1.entry.earliestDeadline) }
    }

    /// Without regard to deadlines.
    func isLive(_ operation: Operation) -> Bool {
        operation.isPut && operation.sequence >= clearedSequence
    }

    func count() throws -> Int { try counted.reduce(0) { try $0 + count(of: $1) } }

    /// Whether a key is live in the tiers from `first` on.
    func contains(_ key: UnsafeRawBufferPointer, from first: Int = 0) throws -> Bool {
        if counted.isEmpty { return false }
        guard let found = try cold.find(key, hash: hashSeed.hash(key), from: first) else {
            return false
        }
        return found.record.isPut && found.record.sequence >= clearedSequence
    }

    /// The live keys of one snapshot, less those that are live in older tiers. What is older may be
    /// merged later, and stays the same keys; so the answer stays good as long as the snapshot.
    private func count(of one: Counted) throws -> Int {
        let older = counted.filter { $0.tier > one.tier }
        let isWhole = !one.part.hides(recordsFrom: range.lower)
        if older.isEmpty, isWhole, one.entry.minimumSequence >= clearedSequence {
            return Int(one.entry.putCount)
        }
        // A merge of what is older drops what has expired there, and so does change its keys.
        guard ([one] + older).allSatisfy({ $0.entry.earliestDeadline == .never }) else {
            return try countByWalk(one)
        }
        return try one.part.snapshot.cachedCount(
            of: range.prefix, clearedSequence: clearedSequence,
            from: isWhole ? [] : one.part.lowerBound
        ) { try countByWalk(one) }
    }

    private func countByWalk(_ one: Counted) throws -> Int {
        let cursor = SnapshotCursor(one.part.snapshot)
        let lower = one.part.hides(recordsFrom: range.lower) ? one.part.lowerBound : range.lower
        try lower.withUnsafeBytes { try cursor.move(to: $0) }
        var count = 0
        while let record = cursor.record, !range.isPastUpper(cursor.key) {
            if record.isPut, record.sequence >= clearedSequence { count += 1 }
            if try contains(cursor.key, from: one.tier + 1) { count -= 1 }
            try cursor.moveToNext()
        }
        return count
    }
}
