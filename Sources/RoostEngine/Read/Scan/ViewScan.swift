import RoostFormat
import RoostIO
import RoostSnapshot

/// Steps through records in key order, either way: the live ones of a view, or all newest ones of some
/// tiers, which a merge copies. For one user at a time.
///
/// - One tournament over the sorted runs of the log, the newest first, and after them the tiers of cold
///   storage, the newest first. Of equal keys the first is the newest: it counts, and the others are
///   passed over.
/// - `passed` is the last key that was left, be it live or not.
/// - Records of the log are not checked again, and those of a group not after its checksum. So whoever has looked at
///   some asks after that whether all pages could be read (`checkRead`).
package final class ViewScan {
    private let range: RecordRange
    private let order: ScanOrder
    private let logRuns: [ScanRun]
    private let tierRuns: UnsafeMutablePointer<TierRun>
    private let tierCount: Int
    /// The runs' readers, for each value: what is asked of a run would copy it first.
    private let readers: UnsafeMutablePointer<Unmanaged<SnapshotReader>>
    /// What the tiers' rooms begin in.
    private let roomMemory: UnsafeMutableRawPointer
    private let tournament: Tournament
    /// What of `tierRuns` was lost before the scan began; its checksums tell of that.
    private let lostBefore: [UInt64]
    /// What `MappedRegion.faultCount` was when all that the scan looks at was found to be there, before the look. A
    /// page that is lost after that makes it another.
    private var soundFaultCount: UInt64 = 0
    /// How often all that the scan looks at was asked, for tests.
    private(set) var faultLookCount = 0
    /// Keeps what the runs look at.
    private let hold: AnyObject
    /// The view whose log is scanned.
    private let view: EngineView?
    /// `nil` where tombstones and values that have expired or were cleared are shown too.
    private let liveness: Liveness?
    private var values = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// After a pointer: a class's fields are checked for exclusivity at run time.
    private let passed: UnsafeMutablePointer<PassedKey>
    /// The run with the current record; negative at the end, and where one could not be read.
    private var current = -1

    /// The live records that `view` has in `range`.
    convenience init(
        _ view: EngineView, _ range: RecordRange, _ order: ScanOrder, limit: Int
    ) throws {
        let hold = try ViewHold(view)
        try self.init(
            logRuns: try view.logRuns(range, order, limit: limit), view.cold.tiers, range, order,
            Liveness(clears: ScanClears(view, range), clock: view.clock), hold: hold, view: view)
        // A key that could not be read is in none of the runs.
        try checkRead()
    }

    /// The newest record of each key in `range` that `tiers`, the newest first, have; tombstones too.
    convenience init(
        newestOf tiers: [ColdTier], _ range: RecordRange, _ order: ScanOrder = .ascending
    ) throws {
        try self.init(logRuns: [], tiers, range, order, nil, hold: ColdStorage(tiers))
    }

    private init(
        logRuns: [ScanRun], _ tiers: [ColdTier], _ range: RecordRange, _ order: ScanOrder,
        _ liveness: Liveness?, hold: AnyObject, view: EngineView? = nil
    ) throws {
        self.view = view
        self.range = range
        self.order = order
        self.hold = hold
        self.liveness = liveness
        self.logRuns = logRuns
        tierCount = tiers.count
        lostBefore = MappedRegion.faultCount == 0 ? [] : Self.lostPageCounts(tiers)
        tierRuns = .allocate(capacity: tierCount)
        readers = .allocate(capacity: tierCount)
        // Never empty: the places of runs that have ended point somewhere.
        roomMemory = .allocate(
            byteCount: max(tierCount, 1) * HeadRoom.usualSizeBytes,
            alignment: MemoryLayout<RecordHead>.alignment)
        for (index, tier) in tiers.enumerated() {
            let room = HeadRoom(in: roomMemory + index * HeadRoom.usualSizeBytes)
            (tierRuns + index).initialize(
                to: TierRun(tier, room: room, readsApart: view != nil))
            (readers + index).initialize(to: .passUnretained(tier.parts[0].snapshot))
        }
        passed = .allocate(capacity: 1)
        passed.initialize(to: PassedKey())
        tournament = Tournament(
            runCount: logRuns.count + tierCount, order,
            anywhere: UnsafePointer(roomMemory.assumingMemoryBound(to: RecordHead.self)))
        try seek(order == .ascending ? range.lower : range.upper)
    }

    deinit {
        for index in 0..<tierCount { tierRuns[index].room.free() }
        tierRuns.deinitialize(count: tierCount)
        tierRuns.deallocate()
        readers.deallocate()
        roomMemory.deallocate()
        tournament.free()
        values.deallocate()
        passed.pointee.free()
        passed.deallocate()
    }

    // MARK: The current record

    @inline(__always)
    private var head: UnsafePointer<RecordHead> { tournament.places[current].head }

    /// The current record; `nil` at the end.
    @inline(__always)
    var currentHead: UnsafePointer<RecordHead>? { current < 0 ? nil : head }

    /// The current record key; `nil` at the end.
    package var recordKey: UnsafeRawBufferPointer? { current < 0 ? nil : head.pointee.key }

    /// The sequence number of the current record; zero at the end.
    package var sequence: UInt64 { current < 0 ? 0 : head.pointee.sequence }

    /// When the current value expires.
    package var deadline: Deadline { current < 0 ? .never : head.pointee.deadline }

    /// The current value, kind and payload; valid until the next call of anything here. Not to be
    /// called at the end.
    package func value() throws -> UnsafeRawBufferPointer {
        precondition(current >= 0, "the scan is at its end")
        if head.pointee.flags.isCompressed { return try decompressedValue() }
        if current < logRuns.count { try checkCurrent() }
        return head.pointee.stored
    }

    /// Throws where the current record, which is in the log, could not be read.
    @inline(__always)
    private func checkCurrent() throws {
        let key = head.pointee.key.baseAddress.unsafelyUnwrapped
        Operation(address: key - Operation.headerSizeBytes).touch()
        try checkRead()
    }

    /// Throws `.io` where a page of the log could not be read, or one of cold storage was lost since the scan began. To
    /// be called after a look at keys and values. Costs a load where no page ever failed.
    @inline(__always)
    package func checkRead() throws {
        if MappedRegion.faultCount != 0 { try checkReadBehindFaults() }
    }

    /// The count never goes back, and is that of the whole process: a page that was lost long ago, be it of another
    /// workspace, must not have each record pay.
    @inline(never)
    private func checkReadBehindFaults() throws {
        let faultCount = MappedRegion.faultCount
        if faultCount == soundFaultCount { return }
        faultLookCount += 1
        try view?.checkLogRead()
        for run in logRuns { try run.checkRead() }
        var place = 0
        for index in 0..<tierCount {
            for part in tierRuns[index].tier.parts {
                let before = lostBefore.isEmpty ? 0 : lostBefore[place]
                place += 1
                guard part.snapshot.region.replacedPageCount != before else { continue }
                if let failure = part.snapshot.region.readFailure() { throw failure }
            }
        }
        soundFaultCount = faultCount
    }

    /// For each part of the tiers, one after another, how many of its pages were replaced.
    private static func lostPageCounts(_ tiers: [ColdTier]) -> [UInt64] {
        tiers.flatMap { $0.parts.map(\.snapshot.region.replacedPageCount) }
    }

    @inline(never)
    private func decompressedValue() throws -> UnsafeRawBufferPointer {
        let count = try checkedValueCount()
        let roomCount = count + SnapshotReader.spareSizeBytes
        if roomCount > values.count {
            values.deallocate()
            values = .allocate(byteCount: max(roomCount, 1024), alignment: 16)
        }
        try copyValue(to: values)
        return UnsafeRawBufferPointer(rebasing: values[..<count])
    }

    /// The snapshot that the current record is from; not to be asked of one in the log.
    @inline(__always)
    var reader: Unmanaged<SnapshotReader> { readers[current - logRuns.count] }

    /// The length of the current value once decompressed, which may be believed.
    @inline(__always)
    func checkedValueCount() throws -> Int {
        guard head.pointee.flags.isCompressed else { return head.pointee.rawCount }
        let value = head.pointee.compressed
        if value.isCountSound { return value.rawCount }
        return try reader._withUnsafeGuaranteedRef { try $0.checkedCount(of: value) }
    }

    /// Puts the current value at the begin of `target`; what is after it may change.
    @inline(__always)
    func copyValue(to target: UnsafeMutableRawBufferPointer) throws {
        guard head.pointee.flags.isCompressed else {
            return target.copyMemory(from: head.pointee.stored)
        }
        try reader._withUnsafeGuaranteedRef {
            try $0.decompress(head.pointee.compressed, into: target)
        }
    }

    /// Calls `body` with the current value, kind and payload.
    package func withValue<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        do {
            let result = try body(value())
            try checkRead()
            return result
        } catch {
            // It may be wrong with what could not be read.
            try checkRead()
            throw error
        }
    }

    // MARK: Moving

    package func moveToNext() throws {
        guard current >= 0 else { return }
        passed.pointee.note(head.pointee)
        let left = current
        // Where the next cannot be read, what stood here may be gone.
        current = -1
        try advance(left)
        try settle()
    }

    /// Moves to the first record whose key is not before `key`. For ascending scans.
    package func move(to key: [UInt8]) throws { try seek(key) }

    private func seek(_ bound: [UInt8]?) throws {
        current = -1
        passed.pointee.forget()
        // Each asks for the memory that it will look at, before any has to wait for it.
        for index in 0..<tierCount { try tierRuns[index].move(to: bound, range, order) }
        for index in 0..<tierCount { try tierRuns[index].prefetchGroup() }
        for run in logRuns { try run.move(to: bound) }
        for index in 0..<(logRuns.count + tierCount) { try refill(index, from: bound) }
        tournament.restart()
        try settle()
    }

    /// The next batch of a run whose last one has been left.
    @inline(never)
    private func refill(_ index: Int, from bound: [UInt8]? = nil) throws {
        // It may stand in the batch that goes.
        passed.pointee.keep()
        let place = tournament.places + index
        place.pointee.head = place.pointee.end
        if index < logRuns.count {
            let run = logRuns[index]
            try run.refill()
            try checkRead()
            place.pointee.head = UnsafePointer(run.heads)
            place.pointee.end = place.pointee.head + run.count
        } else {
            let tier = index - logRuns.count
            let heads = try tierRuns[tier].refill(from: bound, range, order)
            readers[tier] = .passUnretained(tierRuns[tier].snapshot)
            // A buffer of heads has a begin, be it empty.
            place.pointee.head = heads.baseAddress.unsafelyUnwrapped
            place.pointee.end = place.pointee.head + heads.count
        }
    }

    /// Moves the winner on.
    @inline(__always)
    private func advance(_ index: Int) throws {
        let place = tournament.places + index
        place.pointee.head += 1
        if place.pointee.isAtEnd { try refill(index) }
        tournament.replay(index)
    }

    /// Passes over what is older than what was left, and over what is not live, and notes what comes then. Called
    /// while there is no current record.
    private func settle() throws {
        while true {
            let index = tournament.winner
            let head = tournament.places[index].head
            if tournament.places[index].isAtEnd { return try checkRead() }
            if !passed.pointee.isKey(of: head) {
                if isLive(head) { return current = index }
                passed.pointee.note(head.pointee)
            }
            try advance(index)
        }
    }

    @inline(__always)
    private func isLive(_ head: UnsafePointer<RecordHead>) -> Bool {
        guard let liveness else { return true }
        guard head.pointee.flags.contains(.put), !liveness.clears.hasRemoved(head) else {
            return false
        }
        return !head.pointee.flags.contains(.expires)
            || liveness.clock.isLive(head.pointee.deadline)
    }

    private struct Liveness {
        let clears: ScanClears
        let clock: ExpiryClock
    }
}

extension EngineView {
    /// The runs of the log that have records in `range`, the newer before the older.
    fileprivate func logRuns(
        _ range: RecordRange, _ order: ScanOrder, limit: Int
    ) throws -> [ScanRun] {
        if isLogEmpty { return [] }
        var runs: [ScanRun] = []
        func add(_ operations: [Operation]) {
            if operations.isEmpty { return }
            runs.append(OperationRun(SortedTable.sorted(operations), range, order))
        }
        func add(_ table: LogTable) {
            var operations: [Operation] = []
            table.forEach { if range.contains($0.key) { operations.append($0) } }
            add(operations)
        }
        for part in parts {
            if let enqueued = part.enqueued { add(enqueued) }
        }
        guard !range.prefix.isEmpty else {
            for shard in parts.indices { add(try activeOperations(ofShard: shard, in: range)) }
            for part in parts {
                if let frozen = part.frozen { add(frozen) }
            }
            return runs
        }
        for keyOrder in keyOrders {
            let keys = try keyOrder.keys(of: range.prefix, in: self)
            if keys.runs.isEmpty { continue }
            let tables = OrderedTables(self, keyOrder, keys)
            for run in keys.runs {
                runs.append(OrderedKeysRun(run, tables, range, order, limit: limit))
            }
        }
        return runs
    }
}

/// The last key that a scan has left. Whoever has it frees it.
private struct PassedKey {
    private var leading: UInt128 = 0
    private var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private var kept = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var isKept = true

    func free() { kept.deallocate() }

    mutating func forget() {
        key = .init(start: nil, count: 0)
        isKept = true
    }

    /// The head's batch must stay until `keep`.
    @inline(__always)
    mutating func note(_ head: RecordHead) {
        leading = head.leading
        key = head.key
        isKept = false
    }

    /// Copies the key, where it was not copied yet.
    mutating func keep() {
        if isKept { return }
        isKept = true
        if key.count > kept.count {
            kept.deallocate()
            kept = .allocate(byteCount: max(64, key.count), alignment: 1)
        }
        kept.copyMemory(from: key)
        key = .init(start: kept.baseAddress, count: key.count)
    }

    @inline(__always)
    func isKey(of head: UnsafePointer<RecordHead>) -> Bool {
        leading == head.pointee.leading && equalBytes(key, head.pointee.key)
    }
}
