import RoostFormat
import RoostSnapshot

/// One sorted run of a shard's records, walked in one direction a batch at a time. For one user
/// at a time.
///
/// - `heads[..<count]` are the batch, and valid until the next; a run that has ended has none.
class ScanRun {
    /// A record as the scan compares it.
    struct Head {
        var key: UnsafeRawBufferPointer
        /// The sixteen bytes behind what all keys of the range share, as a big-endian number.
        var leading: UInt128
        var sequence: UInt64
        var deadline: Deadline
        var stored: UnsafeRawBufferPointer
        /// The value's length once decompressed.
        var rawCount: Int
        var flags: RecordGroup.Flags

        /// Whether this key comes before the other in the scan's order.
        @inline(__always)
        func isBefore(_ other: Head, _ order: ScanOrder) -> Bool {
            if leading != other.leading {
                return (leading < other.leading) == (order == .ascending)
            }
            let comparison = compareBytes(key, other.key)
            return order == .ascending ? comparison < 0 : comparison > 0
        }

        @inline(__always)
        func hasSameKey(as other: Head) -> Bool {
            leading == other.leading && equalBytes(key, other.key)
        }
    }

    let shard: Int
    let range: RecordRange
    let order: ScanOrder
    private(set) var heads: UnsafeMutablePointer<Head>
    private var capacity: Int
    private(set) final var count = 0

    init(shard: Int, _ range: RecordRange, _ order: ScanOrder, capacity: Int) {
        self.shard = shard
        self.range = range
        self.order = order
        self.capacity = capacity
        heads = .allocate(capacity: capacity)
    }

    deinit { heads.deallocate() }

    /// Stands before the record nearest to `bound` in the scan's direction: ascending the first that
    /// is not before it, descending the last that is before it. `nil` is behind all.
    func move(to bound: [UInt8]?) throws { preconditionFailure("of a kind") }

    /// The next batch.
    func refill() throws { preconditionFailure("of a kind") }

    final func removeBatch(room: Int) {
        count = 0
        guard room > capacity else { return }
        heads.deallocate()
        heads = .allocate(capacity: room)
        capacity = room
    }

    @inline(__always)
    final func append(_ operation: Operation) {
        append(
            operation.key, sequence: operation.sequence, deadline: operation.deadline,
            stored: operation.value, rawCount: 0, flags: operation.isPut ? .put : .tombstone)
    }

    @inline(__always)
    final func append(
        _ key: UnsafeRawBufferPointer, sequence: UInt64, deadline: Deadline,
        stored: UnsafeRawBufferPointer, rawCount: Int, flags: RecordGroup.Flags
    ) {
        if count == capacity { grow() }
        (heads + count).initialize(
            to: Head(
                key: key, leading: leadingNumber(key, from: range.prefix.count),
                sequence: sequence, deadline: deadline, stored: stored, rawCount: rawCount,
                flags: flags))
        count += 1
    }

    @inline(never)
    private final func grow() {
        let larger = UnsafeMutablePointer<Head>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: heads, count: count)
        heads.deallocate()
        heads = larger
        capacity *= 2
    }

    /// Removes what the batch has behind the range; whether there was anything.
    final func trimBehindRange() -> Bool {
        let before = count
        while count > 0, isPastEnd(heads[count - 1].key) { count -= 1 }
        return count < before
    }

    private final func isPastEnd(_ key: UnsafeRawBufferPointer) -> Bool {
        switch order {
        case .ascending: range.isPastUpper(key)
        case .descending: range.lower.withUnsafeBytes { compareBytes(key, $0) < 0 }
        }
    }
}

/// Operations in order, all at once.
final class OperationRun: ScanRun {
    private let operations: [Operation]
    private var next = 0

    init(_ operations: [Operation], shard: Int, _ range: RecordRange, _ order: ScanOrder) {
        self.operations = operations
        super.init(shard: shard, range, order, capacity: ResolvedKeys.capacity)
    }

    override func move(to bound: [UInt8]?) {
        let first = bound.map { bound in
            bound.withUnsafeBytes { bound in
                operations.partitionIndex { compareBytes($0.key, bound) < 0 }
            }
        }
        next = order == .ascending ? first ?? operations.count : (first ?? operations.count) - 1
    }

    override func refill() {
        removeBatch(room: 0)
        while count < ResolvedKeys.capacity, operations.indices.contains(next) {
            append(operations[next])
            next += order == .ascending ? 1 : -1
        }
    }
}

/// Keys in order, whose operations are looked up in their table a few at a time.
final class OrderedKeysRun: ScanRun {
    enum Table {
        /// The one that a shard wrote to when the view began.
        case active(EngineView)
        case frozen(LogTable)
    }

    private let run: OrderedRun
    private let table: Table
    private let seed: HashSeed
    /// Keeps the keys' memory mapped.
    private let regions: RegionList
    private var keys: ResolvedKeys
    private var next = 0
    /// A short scan takes a few keys of each run, a long one profits from many.
    private var batchCount = 2

    /// `keys` is room that the scan's runs share.
    init(
        _ run: OrderedRun, _ table: Table, regions: RegionList, seed: HashSeed, room: ResolvedKeys,
        shard: Int, _ range: RecordRange, _ order: ScanOrder
    ) {
        self.run = run
        self.table = table
        self.regions = regions
        self.seed = seed
        keys = room
        super.init(shard: shard, range, order, capacity: 4)
    }

    override func move(to bound: [UInt8]?) {
        let first = bound.map { $0.withUnsafeBytes { run.firstIndex(notBefore: $0) } }
        next = order == .ascending ? first ?? run.count : (first ?? run.count) - 1
        batchCount = 2
        prefetchKeys()
    }

    private func prefetchKeys() {
        guard next >= 0, next < run.count else { return }
        let first = order == .ascending ? next : max(0, next + 1 - batchCount)
        let end = order == .ascending ? min(next + batchCount, run.count) : next + 1
        for index in first..<end { Operation(location: run.locations[index]).prefetch() }
    }

    override func refill() throws {
        removeBatch(room: batchCount)
        while count == 0, next >= 0, next < run.count {
            takeKeys()
            try resolveKeys()
            for key in 0..<keys.count where keys.locations[key] != 0 {
                append(Operation(location: keys.locations[key]))
            }
            if trimBehindRange() { next = -1 }
        }
        prefetchKeys()
    }

    private func resolveKeys() throws {
        switch table {
        case .active(let view):
            if try view.hasFirstOperations(inShard: shard) { return }
            keys.setHashes(seed)
            try view.resolve(keys, ofShard: shard)
        case .frozen(let table):
            if table.hasFirstOperations { return }
            keys.setHashes(seed)
            keys.resolve(in: table)
        }
    }

    private func takeKeys() {
        keys.count = 0
        while keys.count < batchCount, next >= 0, next < run.count {
            keys.locations[keys.count] = run.locations[next]
            keys.count += 1
            next += order == .ascending ? 1 : -1
        }
        batchCount = min(batchCount * 2, ResolvedKeys.capacity)
    }
}

/// The records of a snapshot, a group at a time.
final class SnapshotRun: ScanRun {
    let snapshot: SnapshotReader
    private let walker: SnapshotWalker
    private var isFresh = true
    private var isBehindRange = false

    init(_ snapshot: SnapshotReader, shard: Int, _ range: RecordRange, _ order: ScanOrder) {
        self.snapshot = snapshot
        walker = SnapshotWalker(snapshot, order)
        super.init(shard: shard, range, order, capacity: RecordGroup.maximumRecordCount)
    }

    override func move(to bound: [UInt8]?) throws {
        isFresh = true
        isBehindRange = false
        guard let bound else { return try walker.move(to: nil) }
        try bound.withUnsafeBytes { try walker.move(to: $0, in: range.prefix) }
    }

    override func refill() throws {
        removeBatch(room: 0)
        if isBehindRange { return }
        if !isFresh { try walker.moveToNext() }
        isFresh = false
        walker.passGroup { key, record in
            append(
                key, sequence: record.sequence, deadline: record.deadline, stored: record.stored,
                rawCount: record.rawCount, flags: record.flags)
        }
        isBehindRange = trimBehindRange()
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first place whose element is not before; those that are come first.
    func partitionIndex(_ isBefore: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
