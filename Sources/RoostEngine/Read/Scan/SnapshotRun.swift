import RoostFormat
import RoostSnapshot

/// The records of a snapshot, walked in one direction a group at a time. Nothing of a group is decoded
/// before its checksum holds.
///
/// - `room` has the current group, what is behind the range cut off; it is the run's to free.
struct SnapshotRun {
    let snapshot: SnapshotReader
    private(set) var room: HeadRoom
    private var group = 0
    /// Whether `group` has not been decoded yet, so that no step leads to the next.
    private var isFresh = false
    /// Whether no group is left that could have a record of the range.
    private var isBehindRange = true
    private var readAhead = SnapshotReadAhead()

    init(_ snapshot: SnapshotReader, room: HeadRoom) {
        self.snapshot = snapshot
        self.room = room
    }

    /// Finds the group that may have the record nearest to `bound`, as `ScanRun.move` says, and asks
    /// for where it stands; `prefetchGroup` asks for it, and `refill` with the same bound decodes it.
    mutating func move(to bound: [UInt8]?, _ range: RecordRange, _ order: ScanOrder) throws {
        readAhead = .init()
        isFresh = true
        isBehindRange = false
        if let bound {
            group = try bound.withUnsafeBytes { try snapshot.group(for: $0, in: range.prefix) }
        } else if order == .ascending {
            return isBehindRange = true
        } else {
            group = max(0, snapshot.groupCount - 1)
        }
        snapshot.prefetchOffset(ofGroup: group)
    }

    mutating func prefetchGroup() throws {
        if isBehindRange { return }
        snapshot.prefetchGroup(at: try snapshot.offset(ofGroup: group))
    }

    /// The next group's records, those before `bound` passed over where it is given; none at the end.
    mutating func refill(
        from bound: [UInt8]?, _ range: RecordRange, _ order: ScanOrder
    ) throws -> UnsafeBufferPointer<RecordHead> {
        while !isBehindRange {
            if !isFresh, !stepGroup(order) { break }
            isFresh = false
            try decode(range, order)
            let last = room.count
            while room.count > 0, range.isPast(room.heads[room.count - 1].key, order) {
                room.removeLast()
            }
            isBehindRange = room.count < last
            let first = bound.map { firstIndex(from: $0, order) } ?? 0
            if first < room.count {
                return .init(start: room.heads + first, count: room.count - first)
            }
        }
        isBehindRange = true
        room.removeAll()
        return .init(start: room.heads, count: 0)
    }

    private mutating func stepGroup(_ order: ScanOrder) -> Bool {
        group += order == .ascending ? 1 : -1
        return group >= 0 && group < snapshot.groupCount
    }

    private mutating func decode(_ range: RecordRange, _ order: ScanOrder) throws {
        let bytes = try snapshot.group(group)
        readAhead.note(bytes, of: snapshot, order)
        let isWhole = room.decode(
            bytes, firstKey: snapshot.footer.firstKey, isReversed: order == .descending,
            prefixCount: range.prefix.count)
        guard isWhole else {
            throw snapshot.damaged("a group's records make no sense", at: bytes.baseAddress!)
        }
    }

    private func firstIndex(from bound: [UInt8], _ order: ScanOrder) -> Int {
        bound.withUnsafeBytes { bound in
            var index = 0
            while index < room.count {
                let comparison = compareBytes(room.heads[index].key, bound)
                if order == .ascending ? comparison >= 0 : comparison < 0 { break }
                index += 1
            }
            return index
        }
    }
}
