import RoostFormat
import RoostSnapshot

/// Steps through the live records of all shards in key order, either way. For one user at a time.
///
/// - One tournament over every sorted run of every shard: its tables, its snapshots. `winners[1]`
///   is the run with the next key; runs of one shard are neighbours, the newer first, and of equal
///   keys the newer wins. The runs of one table have no key in common.
/// - A key stands in one shard only, so of equal keys only the neighbours need be asked.
/// - `places[i]` is where in its batch `runs[i]` stands, and at its end for a run that has ended:
///   matches are played without touching the runs, each of which would have to be retained.
package final class ViewScan {
    private struct Place {
        var head: UnsafePointer<ScanRun.Head>
        var end: UnsafePointer<ScanRun.Head>
        var shard: Int32
        var isAtEnd: Bool { head == end }
    }

    private let runs: [ScanRun]
    private let order: ScanOrder
    /// `winners[i]` is the better of `winners[2 i]` and `winners[2 i + 1]`; the second half are
    /// the runs themselves.
    private let winners: UnsafeMutablePointer<Int32>
    private let places: UnsafeMutablePointer<Place>
    private let leafCount: Int
    private let hold: ViewHold
    private let clears: ScanClears
    private let clock: ExpiryClock
    private let room: ScanRoom
    /// The run with the current record; negative at the end.
    private var current = -1

    init(_ view: EngineView, _ range: RecordRange, _ order: ScanOrder) throws {
        self.order = order
        hold = try ViewHold(view)
        clock = view.clock
        clears = ScanClears(view, range)
        room = ScanRoom()
        let runs = try ScanRunMaker(view: view, range: range, order: order, room: room.keys).runs()
        self.runs = runs
        var leafCount = 1
        while leafCount < runs.count { leafCount *= 2 }
        self.leafCount = leafCount
        winners = .allocate(capacity: 2 * leafCount)
        winners.initialize(repeating: -1, count: 2 * leafCount)
        places = .allocate(capacity: max(runs.count, 1))
        for (index, run) in runs.enumerated() {
            (places + index).initialize(
                to: Place(head: run.heads, end: run.heads, shard: Int32(run.shard)))
        }
        try seek(order == .ascending ? range.lower : range.upper)
    }

    deinit {
        winners.deallocate()
        places.deallocate()
    }

    // MARK: The current record

    /// The current record key; `nil` at the end.
    package var recordKey: UnsafeRawBufferPointer? {
        current < 0 ? nil : places[current].head.pointee.key
    }

    /// The sequence number of the current record; zero at the end.
    package var sequence: UInt64 { current < 0 ? 0 : places[current].head.pointee.sequence }

    /// When the current value expires.
    package var deadline: Deadline {
        current < 0 ? .never : places[current].head.pointee.deadline
    }

    /// The current value, kind and payload; valid until the next call of anything here. Not to be
    /// called at the end.
    package func value() throws -> UnsafeRawBufferPointer {
        precondition(current >= 0, "the scan is at its end")
        let head = places[current].head.pointee
        guard head.flags.contains(.compressed), let run = runs[current] as? SnapshotRun else {
            return head.stored
        }
        let record = RecordGroup.Record(
            flags: head.flags, shared: 0, suffix: head.key, sequence: head.sequence,
            stored: head.stored, rawCount: head.rawCount)
        let value = room.value(sizeBytes: try run.snapshot.checkedValueCount(of: record))
        try run.snapshot.decompressValue(of: record, into: value)
        return UnsafeRawBufferPointer(value)
    }

    /// Calls `body` with the current value, kind and payload.
    package func withValue<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try body(value())
    }

    // MARK: Moving

    package func moveToNext() throws {
        try step()
        try settle()
    }

    /// Moves to the first record whose key is not before `key`. For ascending scans.
    package func move(to key: [UInt8]) throws { try seek(key) }

    private func seek(_ bound: [UInt8]?) throws {
        // Each asks for the memory that it will look at, before any has to wait for it.
        for run in runs { try run.move(to: bound) }
        for index in runs.indices { try refill(index) }
        for leaf in 0..<leafCount {
            winners[leafCount + leaf] = leaf < runs.count ? Int32(leaf) : -1
        }
        for node in stride(from: leafCount - 1, to: 0, by: -1) { decide(node) }
        try settle()
    }

    @inline(never)
    private func refill(_ index: Int) throws {
        let run = runs[index]
        try run.refill()
        places[index].head = UnsafePointer(run.heads)
        places[index].end = UnsafePointer(run.heads + run.count)
    }

    @inline(__always)
    private func decide(_ node: Int) {
        let left = winners[2 * node]
        let right = winners[2 * node + 1]
        winners[node] = isBefore(right, left) ? right : left
    }

    /// An end comes last.
    @inline(__always)
    private func isBefore(_ left: Int32, _ right: Int32) -> Bool {
        if left < 0 || places[Int(left)].isAtEnd { return false }
        if right < 0 || places[Int(right)].isAtEnd { return true }
        return places[Int(left)].head.pointee.isBefore(places[Int(right)].head.pointee, order)
    }

    /// Moves the run at `index` on and plays its matches again.
    @inline(__always)
    private func advance(_ index: Int) throws {
        places[index].head += 1
        if places[index].isAtEnd { try refill(index) }
        var node = (leafCount + index) / 2
        while node > 0 {
            decide(node)
            node /= 2
        }
    }

    /// Leaves the current key, in every run of its shard.
    private func step() throws {
        let index = Int(winners[1])
        guard index >= 0, !places[index].isAtEnd else { return }
        // The older records of the key stand in the runs behind it.
        var older = index + 1
        while older < runs.count, places[older].shard == places[index].shard {
            if !places[older].isAtEnd,
                places[older].head.pointee.hasSameKey(as: places[index].head.pointee)
            {
                try advance(older)
            }
            older += 1
        }
        try advance(index)
    }

    /// Passes over what is not live, and notes the end.
    private func settle() throws {
        while true {
            let index = Int(winners[1])
            guard index >= 0, !places[index].isAtEnd else { return current = -1 }
            current = index
            let head = places[index].head
            if head.pointee.flags.contains(.put), clock.isLive(head.pointee.deadline),
                !clears.hasRemoved(head.pointee, shard: Int(places[index].shard))
            {
                return
            }
            try step()
        }
    }
}

/// What the `clear`s of a view have removed.
private struct ScanClears {
    private let parts: [ViewPart]
    /// By shard, of the one dictionary that is scanned; `nil` where it is several, empty where
    /// none was cleared.
    private let sequences: [UInt64]?

    init(_ view: EngineView, _ range: RecordRange) {
        parts = view.parts
        let isAny = view.parts.contains { !$0.clears.isEmpty }
        if !isAny {
            sequences = []
        } else if range.prefix.isEmpty {
            sequences = nil
        } else {
            sequences = view.parts.map { $0.clears[range.prefix] ?? 0 }
        }
    }

    @inline(__always)
    func hasRemoved(_ head: ScanRun.Head, shard: Int) -> Bool {
        guard let sequences else { return hasRemovedFromSome(head, shard: shard) }
        return !sequences.isEmpty && head.sequence < sequences[shard]
    }

    @inline(never)
    private func hasRemovedFromSome(_ head: ScanRun.Head, shard: Int) -> Bool {
        let clears = parts[shard].clears
        guard !clears.isEmpty, let (name, _) = splitRecordKey(head.key) else { return false }
        return head.sequence < clears[[UInt8(name.count)] + Array(name)] ?? 0
    }
}

/// Memory that the runs of a scan share.
private final class ScanRoom {
    let keys = ResolvedKeys(
        locations: .allocate(capacity: ResolvedKeys.capacity),
        hashes: .allocate(capacity: ResolvedKeys.capacity))
    private var values = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    func value(sizeBytes: Int) -> UnsafeMutableRawBufferPointer {
        if sizeBytes > values.count {
            values.deallocate()
            values = .allocate(byteCount: max(sizeBytes, 1024), alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: values[..<sizeBytes])
    }

    deinit {
        keys.locations.deallocate()
        keys.hashes.deallocate()
        values.deallocate()
    }
}

/// Makes the runs of a scan.
private struct ScanRunMaker {
    let view: EngineView
    let range: RecordRange
    let order: ScanOrder
    let room: ResolvedKeys

    func runs() throws -> [ScanRun] {
        var runs: [ScanRun] = []
        runs.reserveCapacity(view.parts.count * 4)
        for (shard, part) in view.parts.enumerated() {
            if let enqueued = part.enqueued { add(enqueued, shard, to: &runs) }
            if range.prefix.isEmpty {
                add(try view.activeOperations(ofShard: shard, in: range), shard, to: &runs)
                if let frozen = part.frozen { add(frozen, shard, to: &runs) }
            } else {
                let keys = try view.orderedKeys(ofShard: shard, in: range.prefix)
                add(keys, .active(view), shard, to: &runs)
                if let frozen = part.frozen {
                    let keys = try FrozenTable(table: frozen).orderedKeys(in: range.prefix)
                    add(keys, .frozen(frozen), shard, to: &runs)
                }
            }
            for snapshot in part.snapshots.snapshots {
                runs.append(SnapshotRun(snapshot, shard: shard, range, order))
            }
        }
        return runs
    }

    private func add(_ table: LogTable, _ shard: Int, to runs: inout [ScanRun]) {
        var operations: [Operation] = []
        table.forEach { if range.contains($0.key) { operations.append($0) } }
        add(operations, shard, to: &runs)
    }

    private func add(_ operations: [Operation], _ shard: Int, to runs: inout [ScanRun]) {
        if operations.isEmpty { return }
        runs.append(OperationRun(SortedTable.sorted(operations), shard: shard, range, order))
    }

    private func add(
        _ keys: OrderedKeys, _ table: OrderedKeysRun.Table, _ shard: Int, to runs: inout [ScanRun]
    ) {
        for run in keys.runs {
            runs.append(
                OrderedKeysRun(
                    run, table, regions: keys.regions, seed: view.hashSeed, room: room,
                    shard: shard, range, order))
        }
    }
}
