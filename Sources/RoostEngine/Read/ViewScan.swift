import RoostFormat
import RoostSnapshot

/// Steps through the live records of all shards in key order, either way. For one user at a time.
///
/// - One tournament over every sorted run of every shard: its tables, its snapshots. `winners[1]`
///   is the run with the next key; runs of one shard are neighbours, the newer first, and of equal
///   keys the newer wins.
/// - A key stands in one shard only, so of equal keys only the neighbours need be asked.
/// - `heads[i]` is what `runs[i]` stands on: matches are played without touching the runs, each of
///   which would have to be retained.
package final class ViewScan {
    private let runs: [ScanRun]
    private let order: ScanOrder
    /// `winners[i]` is the better of `winners[2 i]` and `winners[2 i + 1]`; the second half are
    /// the runs themselves.
    private let winners: UnsafeMutablePointer<Int32>
    private let heads: UnsafeMutablePointer<ScanRun.Head>
    private let leafCount: Int
    private let keepsView: EngineView
    /// The run with the current record; negative at the end.
    private var current = -1

    init(_ view: EngineView, _ range: RecordRange, _ order: ScanOrder) throws {
        self.order = order
        keepsView = view
        runs = try Self.runs(of: view, range, order)
        var leafCount = 1
        while leafCount < runs.count { leafCount *= 2 }
        self.leafCount = leafCount
        winners = .allocate(capacity: 2 * leafCount)
        winners.initialize(repeating: -1, count: 2 * leafCount)
        heads = .allocate(capacity: max(runs.count, 1))
        heads.initialize(repeating: ScanRun.Head(shard: 0), count: runs.count)
        try seek(order == .ascending ? range.lower : range.upper)
    }

    deinit {
        winners.deallocate()
        heads.deallocate()
    }

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
    package var recordKey: UnsafeRawBufferPointer? { current < 0 ? nil : heads[current].key }
    /// The sequence number of the current record; zero at the end.
    package var sequence: UInt64 { current < 0 ? 0 : heads[current].sequence }
    /// When the current value expires.
    package var deadline: Deadline { current < 0 ? .never : heads[current].deadline }

    /// Calls `body` with the current value, kind and payload.
    package func withValue<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        // Not called at the end.
        try runs[current].withValue(body)
    }

    package func moveToNext() throws {
        try step()
        try settle()
    }

    /// Moves to the first record whose key is not before `key`. For ascending scans.
    package func move(to key: [UInt8]) throws { try seek(key) }

    private func seek(_ bound: [UInt8]?) throws {
        for (index, run) in runs.enumerated() { heads[index] = try run.move(to: bound) }
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
        return heads[Int(left)].isBefore(heads[Int(right)], order)
    }

    /// Moves the run at `index` on and plays its matches again.
    @inline(__always)
    private func advance(_ index: Int) throws {
        heads[index] = try runs[index].moveToNext()
        var node = (leafCount + index) / 2
        while node > 0 {
            decide(node)
            node /= 2
        }
    }

    /// Leaves the current key, in every run of its shard.
    private func step() throws {
        let index = Int(winners[1])
        guard index >= 0 else { return }
        // The older records of the key stand in the runs behind it.
        var older = index + 1
        while older < runs.count, heads[older].shard == heads[index].shard {
            if heads[older].hasSameKey(as: heads[index]) { try advance(older) }
            older += 1
        }
        try advance(index)
    }

    /// Passes over what is not live, and notes the end.
    private func settle() throws {
        while true {
            let index = Int(winners[1])
            guard index >= 0, !heads[index].isAtEnd else { return current = -1 }
            current = index
            if runs[index].shard.isLive(heads[index]) { return }
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

    /// The record that a run stands on; valid until the run's next step.
    struct Head {
        var key = UnsafeRawBufferPointer(start: nil, count: 0)
        /// The sixteen bytes behind what all keys of the range share, as a big-endian number.
        var leading: UInt128 = 0
        var sequence: UInt64 = 0
        var deadline = Deadline.never
        /// Also of a run that has ended.
        let shard: Int32
        var isPut = false
        /// No further record is in the range.
        var isAtEnd = true

        /// Whether this key comes before the other in the scan's order; an end comes last.
        @inline(__always)
        func isBefore(_ other: Head, _ order: ScanOrder) -> Bool {
            if isAtEnd || other.isAtEnd { return !isAtEnd }
            if leading != other.leading {
                return (leading < other.leading) == (order == .ascending)
            }
            let comparison = compareBytes(key, other.key)
            return order == .ascending ? comparison < 0 : comparison > 0
        }

        @inline(__always)
        func hasSameKey(as other: Head) -> Bool {
            !isAtEnd && leading == other.leading && equalBytes(key, other.key)
        }
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
        func isLive(_ head: Head) -> Bool {
            head.isPut && head.sequence >= clearedSequence(for: head.key)
                && clock.isLive(head.deadline)
        }

        @inline(__always)
        private func clearedSequence(for key: UnsafeRawBufferPointer) -> UInt64 {
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

    init(_ kind: Kind, _ shard: Shard, _ range: RecordRange, _ order: ScanOrder) {
        self.kind = kind
        self.shard = shard
        self.range = range
        self.order = order
    }

    func move(to bound: [UInt8]?) throws -> Head {
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
        return head()
    }

    @inline(__always)
    func moveToNext() throws -> Head {
        switch kind {
        case .table: index += order == .ascending ? 1 : -1
        case .snapshot(let walker): try walker.moveToNext()
        }
        return head()
    }

    @inline(__always)
    private func head() -> Head {
        var head = Head(shard: Int32(shard.index))
        switch kind {
        case .table(let operations):
            guard index >= 0, index < operations.count else { return head }
            let operation = operations[index]
            head.key = operation.key
            head.sequence = operation.sequence
            head.isPut = operation.isPut
            head.deadline = operation.deadline
        case .snapshot(let walker):
            if walker.isAtEnd { return head }
            head.key = walker.key
            if isPastEnd(head.key) { return head }
            head.sequence = walker.sequence
            head.isPut = walker.isPut
            head.deadline = walker.deadline
        }
        head.isAtEnd = false
        head.leading = leadingNumber(head.key, from: range.prefix.count)
        return head
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
