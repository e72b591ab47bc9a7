import RoostFormat
import RoostIO
import RoostSnapshot
import Synchronization

/// All shards as they were at one moment: a read view.
///
/// - Begun under every shard's mutex at once, and under `publication`, so no batch is in it by
///   half.
/// - It holds on to what changes no more: the frozen tables, the cold storage, the log's memory. The
///   active tables go on changing; what a writer overwrites is noted in the shard's `ViewLayers`
///   for as long as the view is live.
/// - It is live until `close`, at the latest until its last reference goes. Reading a closed view
///   throws. Scans that have begun keep what they need of it until they end: `holderCount` counts
///   them, and the view itself until it is closed.
package final class EngineView: Sendable {
    let id: UInt64
    private let engine: Engine
    let parts: [ViewPart]
    /// The newest that any of the shards had: a shard whose frozen table is gone had it.
    let cold: ColdStorage
    /// Whether the log's tables had no key at all.
    let isLogEmpty: Bool
    private let isClosed = Atomic<Bool>(false)
    private let holderCount = Atomic<Int>(1)

    fileprivate init(id: UInt64, engine: Engine, _ begun: BegunView) {
        self.id = id
        self.engine = engine
        parts = begun.parts
        cold = begun.cold
        isLogEmpty = begun.isLogEmpty
    }

    deinit { close() }

    package var hashSeed: HashSeed { engine.hashSeed }
    /// Whether there are enqueued writes in it that had no place among the changes yet.
    package var hasEnqueued: Bool { parts.contains { $0.enqueued != nil } }
    var clock: ExpiryClock { engine.clock }
    var plantedFaults: PlantedFaults { engine.configuration.plantedFaults }

    /// Lets writers forget what they kept for this view, or the last scan of it will. Takes each
    /// shard's mutex once; closing twice does nothing.
    package func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        release()
    }

    /// For a scan, which releases it again.
    fileprivate func retain() throws {
        var count = holderCount.load(ordering: .relaxed)
        while count > 0 {
            let (isExchanged, seen) = holderCount.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if isExchanged { return }
            count = seen
        }
        throw RoostError(.closed, "the read view is closed")
    }

    fileprivate func release() {
        guard holderCount.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
        else { return }
        for shard in engine.shards {
            // What comes out may be the last hold of mapped files, and is not unmapped under the mutex.
            _ = shard.published.withLock { $0.layers.end(id) }
        }
        engine.liveViews.remove(id)
    }

    func shard(_ index: Int) -> Shard { engine.shards[index] }

    func checkOpen() throws {
        try engine.condition.checkOpen()
        if isClosed.load(ordering: .relaxed) {
            throw RoostError(.closed, "the read view is closed")
        }
    }

    // MARK: One key

    /// The value of a key, or `nil`, as bytes. Synchronous; takes the shard's mutex for the
    /// look-up.
    package func find(_ key: String, name: DictionaryName) throws -> FoundValue? {
        var found: FoundValue?
        try name.withRecordKey(key) { recordKey in
            guard let (place, part) = try place(of: recordKey, name.prefix) else { return }
            switch place {
            case .log(let operation):
                found = FoundValue(
                    resident: nil, bytes: operation.value, owner: part,
                    origin: .log(operation.location))
            case .cold(let record):
                found = try FoundValue(record, keptBy: cold, origin: .view)
            }
        }
        return found
    }

    /// Whether a key has a value; decompresses nothing.
    package func contains(_ key: String, name: DictionaryName) throws -> Bool {
        try deadline(of: key, name: name) != nil
    }

    /// When the value of a key expires; `nil` where it has none.
    func deadline(of key: String, name: DictionaryName) throws -> Deadline? {
        try name.withRecordKey(key) { recordKey in
            guard let (place, part) = try place(of: recordKey, name.prefix) else { return nil }
            return withExtendedLifetime(part) {
                switch place {
                case .log(let operation): operation.deadline
                case .cold(let found): found.record.deadline
                }
            }
        }
    }

    /// The sequence number of a key's record; zero where it has none.
    func sequence(of key: String, name: DictionaryName) throws -> UInt64 {
        try name.withRecordKey(key) { recordKey in
            guard let (place, part) = try place(of: recordKey, name.prefix) else { return 0 }
            return withExtendedLifetime(part) {
                switch place {
                case .log(let operation): operation.sequence
                case .cold(let found): found.record.sequence
                }
            }
        }
    }

    /// The value of a record by its whole key, which begins with the name's prefix.
    package func find(recordKey: [UInt8], in name: DictionaryName) throws -> FoundValue? {
        var found: FoundValue?
        try recordKey.withUnsafeBytes { recordKey in
            guard let (place, part) = try place(of: recordKey, name.prefix) else { return }
            switch place {
            case .log(let operation):
                found = FoundValue(
                    resident: nil, bytes: operation.value, owner: part,
                    origin: .log(operation.location))
            case .cold(let record):
                found = try FoundValue(record, keptBy: cold, origin: .view)
            }
        }
        return found
    }

    /// When a record expires, by its whole key; `nil` where it is not there, or not any more. Decompresses nothing.
    package func deadline(recordKey: [UInt8], in name: DictionaryName) throws -> Deadline? {
        try recordKey.withUnsafeBytes { recordKey in
            guard let (place, part) = try place(of: recordKey, name.prefix) else { return nil }
            return withExtendedLifetime(part) {
                switch place {
                case .log(let operation): operation.deadline
                case .cold(let found): found.record.deadline
                }
            }
        }
    }

    /// Whether a record of the dictionary `prefix` has a value.
    func contains(recordKey: [UInt8], _ prefix: [UInt8]) throws -> Bool {
        try recordKey.withUnsafeBytes { try place(of: $0, prefix) != nil }
    }

    private enum Place {
        case log(Operation)
        case cold(ColdRecord)
    }

    /// Where a key's live record is, if it has one.
    private func place(
        of key: UnsafeRawBufferPointer, _ prefix: [UInt8]
    ) throws -> (Place, ViewPart)? {
        try checkOpen()
        let hash = hashSeed.hash(key)
        let index = shardIndex(of: hash, shardCount: parts.count)
        let part = parts[index]
        if let found = part.enqueued?.find(key, hash: hash) {
            return found.isPut && clock.isLive(found.deadline) ? (.log(found), part) : nil
        }
        let place = try committedPlace(of: key, hash: hash, prefix, shard: index)
        if case .log(let operation) = place { operation.touch() }
        try checkLogRead(key, hash: hash, shard: index)
        return place.map { ($0, part) }
    }

    /// As `place`, without what is enqueued.
    private func committedPlace(
        of key: UnsafeRawBufferPointer, hash: UInt64, _ prefix: [UInt8], shard index: Int
    ) throws -> Place? {
        let part = parts[index]
        var newest = try activeOperation(key, hash: hash, shard: index)
        if newest == nil { newest = part.frozen?.find(key, hash: hash) }
        let cleared = clearedSequence(ofPrefix: prefix)
        if let newest {
            guard newest.isPut, newest.sequence >= cleared, clock.isLive(newest.deadline) else {
                return nil
            }
            return .log(newest)
        }
        guard let found = try cold.find(key, hash: hash), found.record.isLive(cleared, clock) else {
            return nil
        }
        return .cold(found)
    }

    /// The operation on `key` that a shard's active table had when the view began.
    func activeOperation(
        _ key: UnsafeRawBufferPointer, hash: UInt64, shard index: Int
    ) throws -> Operation? {
        try engine.shards[index].published.withLock { state in
            try state.layers.find(key, hash: hash, view: id, active: state.active)
        }
    }

    // MARK: Many keys

    /// The live records in `range`, in order. Costs a sort of the keys that came to the log since
    /// the dictionary's last scan, and a search in each run, before the first. A range over several
    /// dictionaries costs a look at every key in the log. Whoever wants `limit` of them at most says
    /// so: the first are got ready together.
    package func scan(
        _ range: RecordRange, _ order: ScanOrder = .ascending, limit: Int = .max
    ) throws -> ViewScan {
        try checkOpen()
        return try ViewScan(self, range, order, limit: limit)
    }

    package func scan(_ name: DictionaryName) throws -> ViewScan {
        try scan(RecordRange(name))
    }

    /// The operations in `range` that the shard's active table had when the view began, in no
    /// order. Holds the shard's mutex for a few thousand slots at a time.
    func activeOperations(ofShard index: Int, in range: RecordRange) throws -> [Operation] {
        let shard = engine.shards[index]
        let partBits = shard.published.withLock { state in
            max(0, state.active.capacity.trailingZeroBitCount - Self.collectedSlotBits)
        }
        var operations: [Operation] = []
        var collected: [Operation] = []
        for part in 0..<(1 << partBits) {
            collected.removeAll(keepingCapacity: true)
            try shard.published.withLock { state in
                try state.layers.collect(
                    part: part, bitCount: partBits, view: id, active: state.active,
                    into: &collected)
            }
            // Looking at the keys costs a miss each: not under the mutex.
            operations += collected.lazy.filter { range.contains($0.key) }
        }
        return operations
    }

    static let collectedSlotBits = 12

    /// The names of the dictionaries that have at least one key, in the order of their bytes, without
    /// those that the engine's users keep for themselves.
    package func dictionaryNames() throws -> [[UInt8]] {
        var names: [[UInt8]] = []
        let scan = try scan(.everything)
        while let key = scan.recordKey, let (name, _) = splitRecordKey(key) {
            let name = Array(name)
            if name.first != DictionaryName.hiddenByte { names.append(name) }
            // The first key that no record key of this dictionary reaches.
            guard let next = successor(ofPrefix: [UInt8(name.count)] + name) else { break }
            try scan.move(to: next)
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// Keeps a view readable for a scan, be it closed meanwhile.
final class ViewHold {
    private let view: EngineView

    init(_ view: EngineView) throws {
        try view.retain()
        self.view = view
    }

    deinit { view.release() }
}

/// What a view holds of one shard, which changes no more.
final class ViewPart: Sendable {
    /// Above all else; visible, and without a place among the changes yet.
    let enqueued: LogTable?
    let frozen: LogTable?
    let cold: ColdHold
    let clears: [[UInt8]: UInt64]
    /// Of the table that the shard wrote to.
    let activeOrder: KeyOrder
    /// Keeps the memory mapped that the active table pointed into.
    private let regions: RegionList

    /// The memory of the log that has `location`, where one of the view's operations stands.
    func region(of location: UInt) -> MappedRegion? {
        regions.region(of: location) ?? frozen?.regions.region(of: location)
            ?? enqueued?.regions.region(of: location)
    }

    /// Whether a view that begins now would hold the same. While a table is frozen, or put back, none
    /// is kept from before.
    fileprivate func isCurrent(_ state: borrowing ShardState) -> Bool {
        enqueued == nil && state.enqueued == nil && cold === state.cold
            && regions === state.active.regions && activeOrder === state.active.order
            && clears == state.clears
    }

    fileprivate init(_ state: borrowing ShardState, hidesEnqueued: Bool = false) {
        enqueued = hidesEnqueued ? nil : state.enqueued?.table
        frozen = state.frozen
        cold = state.cold
        clears = state.clears
        activeOrder = state.active.order
        regions = state.active.regions
    }
}

/// What a view is made of, while it goes from shard to shard.
private struct BegunView {
    var parts: [ViewPart] = []
    var cold = ColdStorage.none
    var isLogEmpty = true

    mutating func add(_ part: ViewPart, _ state: borrowing ShardState) {
        if part.cold.storage.generation > cold.generation { cold = part.cold.storage }
        if part.frozen != nil || part.enqueued != nil || !state.active.isEmpty {
            isLogEmpty = false
        }
        parts.append(part)
    }
}

extension ShardState {
    /// What a view that begins now holds; the last one's where nothing has changed.
    fileprivate mutating func currentViewPart(hidesEnqueued: Bool) -> ViewPart {
        if let viewPart, viewPart.isCurrent(self) { return viewPart }
        let part = ViewPart(self, hidesEnqueued: hidesEnqueued)
        viewPart = part.enqueued == nil ? part : nil
        return part
    }
}

/// The read views that are live, for the statistics.
final class LiveViews: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var begins: [UInt64: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// The identifier of a view that begins; views get them in the order in which they begin.
    func add() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.begins[state.lastID] = .now
            return state.lastID
        }
    }

    func remove(_ id: UInt64) { state.withLock { $0.begins[id] = nil } }

    var figures: (count: Int, oldestAge: Duration?) {
        state.withLock { state in
            (state.begins.count, state.begins.values.min().map { $0.duration(to: .now) })
        }
    }
}

extension Engine {
    /// All shards at this moment. Holds every shard's mutex while it copies references; takes the turn
    /// of each shard that has a committed batch to fold, which the batch's writer would do next.
    ///
    /// - Parameter hidesEnqueued: Whether enqueued writes that have no place among the changes yet are not
    ///   in it.
    package func view(hidesEnqueued: Bool = false) throws -> EngineView {
        try condition.checkOpen()
        if configuration.plantedFaults.contains(.tornViews) { return tornView() }
        var owed: [(Shard, ShardTurn.Afterwards)] = []
        let view = publication.withLock {
            if let view = begunView(hidesEnqueued) { return view }
            // While `publication` is held, no batch becomes committed.
            owed = foldCommitted()
            return begunView(hidesEnqueued)!
        }
        for (shard, afterwards) in owed { shard.tell(afterwards) }
        return view
    }

    /// As `view`, of a caller that holds `publication` and has called `foldCommitted` under it.
    func viewOfFolded(hidesEnqueued: Bool = false) -> EngineView {
        configuration.plantedFaults.contains(.tornViews) ? tornView() : begunView(hidesEnqueued)!
    }

    /// Moves committed batches into the tables, under the turns of their shards; returns what the
    /// caller, who holds `publication`, owes to others once it holds it no more.
    func foldCommitted() -> [(Shard, ShardTurn.Afterwards)] {
        shards.filter { shard in shard.published.withLock { $0.hasUnfolded } }.map { shard in
            let afterwards = shard.turn.withLock { turn in
                shard.foldResolved(&turn)
                defer { turn.afterwards = ShardTurn.Afterwards() }
                return turn.afterwards
            }
            return (shard, afterwards)
        }
    }

    /// `nil` where a committed batch is not in the tables.
    private func begunView(_ hidesEnqueued: Bool) -> EngineView? {
        var begun = BegunView()
        begun.parts.reserveCapacity(shards.count)
        var id: UInt64 = 0
        guard beginView(&id, from: 0, hidesEnqueued, into: &begun) else { return nil }
        begun.parts.reverse()
        return EngineView(id: id, engine: self, begun)
    }

    /// What a view would be that did not take all mutexes at once.
    private func tornView() -> EngineView {
        let id = liveViews.add()
        var begun = BegunView()
        for shard in shards {
            shard.published.withLock { state in
                state.layers.begin(id)
                begun.add(ViewPart(state), state)
            }
            let next = ContinuousClock.now + .microseconds(30)
            while ContinuousClock.now < next {}
        }
        return EngineView(id: id, engine: self, begun)
    }

    /// Takes one mutex within the other, in the shards' order; once it has all, begins the view in each,
    /// the last first. `false`, with nothing begun, where a committed batch is not in the tables.
    private func beginView(
        _ id: inout UInt64, from index: Int, _ hidesEnqueued: Bool, into begun: inout BegunView
    ) -> Bool {
        guard index < shards.count else {
            id = liveViews.add()
            return true
        }
        return shards[index].published.withLock { state in
            if !state.staged.isEmpty, state.hasUnfolded { return false }
            guard beginView(&id, from: index + 1, hidesEnqueued, into: &begun) else {
                return false
            }
            state.layers.begin(id)
            begun.add(state.currentViewPart(hidesEnqueued: hidesEnqueued), state)
            return true
        }
    }
}
