import RoostFormat
import RoostSnapshot

/// Steps through the live records of all shards in key order, either way. For one user at a time.
///
/// - One tournament over every sorted run of every shard: its tables, its snapshots. `winners[1]`
///   is the run with the next key; runs of one shard are neighbours, the newer first, and of equal
///   keys the newer wins.
/// - A key stands in one shard only, so of equal keys only the neighbours need be asked.
package final class ViewScan {
    private let runs: [ScanRun]
    private let order: ScanOrder
    /// `winners[i]` is the better of `winners[2 i]` and `winners[2 i + 1]`; the second half are
    /// the runs themselves.
    private let winners: UnsafeMutableBufferPointer<Int32>
    private let leafCount: Int
    private let keepsView: EngineView
    private var current: ScanRun?

    init(_ view: EngineView, _ range: RecordRange, _ order: ScanOrder) throws {
        self.order = order
        keepsView = view
        runs = try Self.runs(of: view, range, order)
        var leafCount = 1
        while leafCount < runs.count { leafCount *= 2 }
        self.leafCount = leafCount
        winners = .allocate(capacity: 2 * leafCount)
        try seek(order == .ascending ? range.lower : range.upper)
    }

    deinit { winners.deallocate() }

    private static func runs(
        of view: EngineView, _ range: RecordRange, _ order: ScanOrder
    ) throws -> [ScanRun] {
        var runs: [ScanRun] = []
        for (index, part) in view.parts.enumerated() {
            let isOneDictionary = !range.prefix.isEmpty
            let shard = ScanRun.Shard(
                index: index, clock: view.clock, clears: part.clears,
                clearedSequence: isOneDictionary ? part.clears[range.prefix] ?? 0 : nil)
            let active = try view.activeOperations(ofShard: index, in: range)
            var enqueued: [Operation] = []
            part.enqueued?.forEach { if range.contains($0.key) { enqueued.append($0) } }
            var frozen: [Operation] = []
            part.frozen?.forEach { if range.contains($0.key) { frozen.append($0) } }
            for operations in [enqueued, active, frozen] where !operations.isEmpty {
                runs.append(
                    ScanRun(.table(SortedTable.sorted(operations)), shard, range, order))
            }
            for snapshot in part.snapshots.snapshots {
                let walker = SnapshotWalker(snapshot, order)
                runs.append(ScanRun(.snapshot(walker), shard, range, order))
            }
        }
        return runs
    }

    /// The current record key; `nil` at the end.
    package var recordKey: UnsafeRawBufferPointer? { current?.key }
    /// The sequence number of the current record.
    package var sequence: UInt64 { current?.sequence ?? 0 }
    /// When the current value expires.
    package var deadline: Deadline { current?.deadline ?? .never }

    /// Calls `body` with the current value, kind and payload.
    package func withValue<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        // Not called at the end.
        try current!.withValue(body)
    }

    package func moveToNext() throws {
        try step()
        try settle()
    }

    /// Moves to the first record whose key is not before `key`. For ascending scans.
    package func move(to key: [UInt8]) throws { try seek(key) }

    private func seek(_ bound: [UInt8]?) throws {
        for run in runs { try run.move(to: bound) }
        for leaf in 0..<leafCount {
            winners[leafCount + leaf] = leaf < runs.count ? Int32(leaf) : -1
        }
        for node in stride(from: leafCount - 1, to: 0, by: -1) { decide(node) }
        if leafCount == 1 { winners[1] = runs.isEmpty ? -1 : 0 }
        try settle()
    }

    @inline(__always)
    private func decide(_ node: Int) {
        let left = winners[2 * node]
        let right = winners[2 * node + 1]
        winners[node] = isBefore(right, left) ? right : left
    }

    @inline(__always)
    private func isBefore(_ left: Int32, _ right: Int32) -> Bool {
        if left < 0 { return false }
        if right < 0 { return true }
        return runs[Int(left)].isBefore(runs[Int(right)])
    }

    /// Moves the run at `index` on and plays its matches again.
    @inline(__always)
    private func advance(_ index: Int) throws {
        try runs[index].moveToNext()
        var node = (leafCount + index) / 2
        while node > 0 {
            decide(node)
            node /= 2
        }
    }

    /// Leaves the current key, in every run of its shard.
    private func step() throws {
        let index = Int(winners[1])
        guard index >= 0, let current else { return }
        // The older records of the key stand in the runs behind it.
        var older = index + 1
        while older < runs.count, runs[older].shard === current.shard {
            if runs[older].hasSameKey(as: current) { try advance(older) }
            older += 1
        }
        try advance(index)
    }

    /// Passes over what is not live, and notes the end.
    private func settle() throws {
        while true {
            let index = Int(winners[1])
            guard index >= 0, !runs[index].isAtEnd else { return current = nil }
            current = runs[index]
            if runs[index].isLive { return }
            try step()
        }
    }
}

/// One sorted run of a shard's records: a table or a snapshot, walked in one direction.
final class ScanRun {
    enum Kind {
        case table([Operation])
        case snapshot(SnapshotWalker)
    }

    /// What the runs of one shard share.
    final class Shard {
        let index: Int
        let clock: ExpiryClock
        private let clears: [[UInt8]: UInt64]
        /// Of the one dictionary that is scanned; `nil` where it is several.
        private let clearedSequence: UInt64?

        init(
            index: Int, clock: ExpiryClock, clears: [[UInt8]: UInt64], clearedSequence: UInt64?
        ) {
            self.index = index
            self.clock = clock
            self.clears = clears
            self.clearedSequence = clearedSequence
        }

        @inline(__always)
        func clearedSequence(for key: UnsafeRawBufferPointer) -> UInt64 {
            if let clearedSequence { return clearedSequence }
            guard !clears.isEmpty, let (name, _) = splitRecordKey(key) else { return 0 }
            return clears[[UInt8(name.count)] + Array(name)] ?? 0
        }
    }

    let shard: Shard
    private let kind: Kind
    private let range: RecordRange
    private let order: ScanOrder
    private var index = 0
    /// No further record is in the range.
    private(set) var isAtEnd = true
    /// Of the current record; valid until the next step.
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var sequence: UInt64 = 0
    private(set) var deadline = Deadline.never
    private var isPut = false
    /// The sixteen bytes behind what all keys of the range share, as a big-endian number.
    private var leading: UInt128 = 0

    init(_ kind: Kind, _ shard: Shard, _ range: RecordRange, _ order: ScanOrder) {
        self.kind = kind
        self.shard = shard
        self.range = range
        self.order = order
    }

    var isLive: Bool {
        isPut && sequence >= shard.clearedSequence(for: key) && shard.clock.isLive(deadline)
    }

    /// Whether this run's key comes before the other's in the scan's order; an end comes last.
    @inline(__always)
    func isBefore(_ other: ScanRun) -> Bool {
        if isAtEnd || other.isAtEnd { return !isAtEnd }
        if leading != other.leading {
            return (leading < other.leading) == (order == .ascending)
        }
        let comparison = compareBytes(key, other.key)
        return order == .ascending ? comparison < 0 : comparison > 0
    }

    func hasSameKey(as other: ScanRun) -> Bool {
        !isAtEnd && leading == other.leading && equalBytes(key, other.key)
    }

    func move(to bound: [UInt8]?) throws {
        switch kind {
        case .table(let operations):
            let first = bound.map { Self.firstIndex(in: operations, notBefore: $0) }
            index =
                order == .ascending ? first ?? operations.count : (first ?? operations.count) - 1
        case .snapshot(let walker):
            if let bound {
                try bound.withUnsafeBytes { try walker.move(to: $0) }
            } else {
                try walker.move(to: nil)
            }
        }
        load()
    }

    @inline(__always)
    func moveToNext() throws {
        switch kind {
        case .table: index += order == .ascending ? 1 : -1
        case .snapshot(let walker): try walker.moveToNext()
        }
        load()
    }

    @inline(__always)
    private func load() {
        switch kind {
        case .table(let operations):
            isAtEnd = index < 0 || index >= operations.count
            if isAtEnd { return }
            let operation = operations[index]
            key = operation.key
            sequence = operation.sequence
            isPut = operation.isPut
            deadline = operation.deadline
        case .snapshot(let walker):
            isAtEnd = walker.isAtEnd || isPastEnd(walker.key)
            if isAtEnd { return }
            key = walker.key
            sequence = walker.record.sequence
            isPut = walker.record.isPut
            deadline = walker.record.deadline
        }
        leading = leadingNumber(key, from: range.prefix.count)
    }

    @inline(__always)
    private func isPastEnd(_ key: UnsafeRawBufferPointer) -> Bool {
        switch order {
        case .ascending: range.isPastUpper(key)
        case .descending: range.lower.withUnsafeBytes { compareBytes(key, $0) < 0 }
        }
    }

    func withValue<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        switch kind {
        case .table(let operations): return try body(operations[index].value)
        case .snapshot(let walker):
            var result: Result?
            try walker.snapshot.withValue(of: walker.record) { result = try body($0) }
            return result!
        }
    }

    private static func firstIndex(in operations: [Operation], notBefore target: [UInt8]) -> Int {
        target.withUnsafeBytes { target in
            var low = 0
            var high = operations.count
            while low < high {
                let middle = (low + high) / 2
                if compareBytes(operations[middle].key, target) < 0 {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low
        }
    }
}

/// Sixteen bytes of a key as a big-endian number, zeros where it has ended: so a key that is
/// shorter comes before, and where the numbers are equal the keys must be looked at whole.
@inline(__always)
private func leadingNumber(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt128 {
    if key.count - start >= 16 {
        return UInt128(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt128.self))
    }
    var number: UInt128 = 0
    for index in 0..<16 {
        number = number << 8 | (start + index < key.count ? UInt128(key[start + index]) : 0)
    }
    return number
}
