import RoostFormat
import RoostSnapshot

/// The records of a tier of cold storage, walked in one direction a group at a time. Nothing of a group
/// is decoded before its checksum holds.
///
/// - `room` has the current group, without what is outside the range or the snapshot's bounds; it is the
///   run's to free.
/// - `part` is the snapshot that the batch is from, and `group` its group.
/// - `own` reads it for this run alone, where a walk has come to it from another and there is no room to keep what is opened
///   of sealed ones: a view holds all that it began on, and would hold all that was ever opened of it.
struct TierRun {
    let tier: ColdTier
    private let readsApart: Bool
    private var own: SnapshotReader?
    private(set) var room: HeadRoom
    private var part = 0
    private var group = 0
    /// Whether `group` has not been decoded yet, so that no step leads to the next.
    private var isFresh = false
    /// Whether, on the way down, what is left of the part is hidden.
    private var isPartDone = false
    /// Whether no group is left that could have a record of the range.
    private var isBehindRange = true
    private var readAhead = SnapshotReadAhead()

    /// - Parameter readsApart: Whether it may have readers of its own, which are gone once it has left their snapshots.
    init(_ tier: ColdTier, room: HeadRoom, readsApart: Bool) {
        self.tier = tier
        self.room = room
        self.readsApart = readsApart
    }

    /// The snapshot that the current batch is from.
    var snapshot: SnapshotReader { own ?? tier.parts[part].snapshot }

    /// Finds the group that may have the record nearest to `bound`, as `ScanRun.move` says, and asks
    /// for where it stands; `prefetchGroup` asks for it, and `refill` with the same bound decodes it.
    mutating func move(to bound: [UInt8]?, _ range: RecordRange, _ order: ScanOrder) throws {
        readAhead = .init()
        isFresh = true
        isPartDone = false
        isBehindRange = false
        own = nil
        if let bound {
            part = max(0, bound.withUnsafeBytes { tier.index(of: $0) })
            try enterPart(from: bound, range, order)
        } else if order == .ascending {
            return isBehindRange = true
        } else {
            part = tier.parts.count - 1
            group = max(0, snapshot.groupCount - 1)
        }
        snapshot.prefetchOffset(ofGroup: group)
    }

    /// Stands at the group of the current part that may have the record nearest to `bound`.
    private mutating func enterPart(
        from bound: [UInt8], _ range: RecordRange, _ order: ScanOrder
    ) throws {
        var bound = bound
        let current = tier.parts[part]
        if order == .ascending, current.hides(recordsFrom: bound) { bound = current.lowerBound }
        group = try bound.withUnsafeBytes { try snapshot.group(for: $0, in: range.prefix) }
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
            if !isFresh, try !stepGroup(range, order) { break }
            isFresh = false
            try decode(range, order)
            var first = bound.map { firstIndex(from: $0, order) } ?? 0
            // Before the range's end is looked for: what is hidden may be outside of the range.
            if tier.parts[part].isTrimmed { leaveOutHidden(&first, order) }
            let last = room.count
            while room.count > 0, range.isPast(room.heads[room.count - 1].key, order) {
                room.removeLast()
            }
            isBehindRange = room.count < last
            if first < room.count {
                // The last is not past the range, and those between are in order.
                guard range.contains(room.heads[first].key) else {
                    throw snapshot.damaged(
                        "a group's keys are not in order with those of other groups",
                        at: try snapshot.group(group).baseAddress!)
                }
                return .init(start: room.heads + first, count: room.count - first)
            }
        }
        isBehindRange = true
        room.removeAll()
        return .init(start: room.heads, count: 0)
    }

    /// Leaves out of the batch what stands before the part's lower bound.
    private mutating func leaveOutHidden(_ first: inout Int, _ order: ScanOrder) {
        let bound = tier.parts[part].lowerBound
        switch order {
        case .ascending: first = max(first, firstIndex(from: bound, order))
        case .descending:
            bound.withUnsafeBytes { bound in
                while room.count > 0, compareBytes(room.heads[room.count - 1].key, bound) < 0 {
                    room.removeLast()
                    isPartDone = true
                }
            }
        }
    }

    private mutating func stepGroup(_ range: RecordRange, _ order: ScanOrder) throws -> Bool {
        group += order == .ascending ? 1 : -1
        if !isPartDone, group >= 0, group < snapshot.groupCount { return true }
        isPartDone = false
        return try stepPart(range, order)
    }

    private mutating func stepPart(_ range: RecordRange, _ order: ScanOrder) throws -> Bool {
        part += order == .ascending ? 1 : -1
        guard part >= 0, part < tier.parts.count else {
            part = order == .ascending ? tier.parts.count - 1 : 0
            return false
        }
        readAhead = .init()
        switch order {
        case .ascending:
            let bound = tier.parts[part].lowerBound
            if range.upper.map({ !bound.lexicographicallyPrecedes($0) }) ?? false { return false }
            try readApart()
            group = 0
            if tier.parts[part].isTrimmed { try enterPart(from: bound, range, order) }
        case .descending:
            try readApart()
            group = snapshot.groupCount - 1
        }
        return true
    }

    /// The part was come to from another one.
    private mutating func readApart() throws {
        own = nil
        if readsApart { own = try tier.parts[part].snapshot.apart(always: false) }
    }

    private mutating func decode(_ range: RecordRange, _ order: ScanOrder) throws {
        let snapshot = self.snapshot
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
