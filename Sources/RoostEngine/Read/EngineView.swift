import RoostFormat
import RoostIO
import RoostSnapshot
import Synchronization

/// All shards as they were at one moment: a read view.
///
/// - Begun under every shard's mutex at once, and under `publication`, so no batch is in it by
///   half.
/// - It holds on to what changes no more: the frozen tables, the snapshots, the log's memory. The
///   active tables go on changing; what a writer overwrites is noted in the shard's `ViewLayers`
///   for as long as the view is live.
/// - It is live until `close`, at the latest until its last reference goes. Reading a closed view
///   throws. Scans that have begun keep what they need of it until they end: `holderCount` counts
///   them, and the view itself until it is closed.
package final class EngineView: Sendable {
    let id: UInt64
    private let engine: Engine
    let parts: [ViewPart]
    private let isClosed = Atomic<Bool>(false)
    private let holderCount = Atomic<Int>(1)

    fileprivate init(id: UInt64, engine: Engine, parts: [ViewPart]) {
        self.id = id
        self.engine = engine
        self.parts = parts
    }

    deinit { close() }

    package var hashSeed: HashSeed { engine.hashSeed }
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
        for shard in engine.shards { shard.published.withLock { $0.layers.end(id) } }
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
            guard let (place, part) = try place(of: recordKey, name) else { return }
            switch place {
            case .log(let operation):
                found = FoundValue(
                    resident: nil, bytes: operation.value, owner: part,
                    origin: .log(operation.location))
            case .cold(let snapshot, let record):
                found = try FoundValue(record, in: snapshot, origin: .view)
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
            guard let (place, part) = try place(of: recordKey, name) else { return nil }
            return withExtendedLifetime(part) {
                switch place {
                case .log(let operation): operation.deadline
                case .cold(_, let record): record.deadline
                }
            }
        }
    }

    private enum Place {
        case log(Operation)
        case cold(SnapshotReader, RecordGroup.Record)
    }

    /// Where a key's live record is, if it has one.
    private func place(
        of key: UnsafeRawBufferPointer, _ name: DictionaryName
    ) throws -> (Place, ViewPart)? {
        try checkOpen()
        let hash = hashSeed.hash(key)
        let index = shardIndex(of: hash, shardCount: parts.count)
        let part = parts[index]
        if let found = part.enqueued?.find(key, hash: hash) {
            return found.isPut && clock.isLive(found.deadline) ? (.log(found), part) : nil
        }
        return try committedPlace(of: key, hash: hash, name.prefix, shard: index).map { ($0, part) }
    }

    /// As `place`, without what is enqueued.
    private func committedPlace(
        of key: UnsafeRawBufferPointer, hash: UInt64, _ prefix: [UInt8], shard index: Int
    ) throws -> Place? {
        let part = parts[index]
        var newest = try activeOperation(key, hash: hash, shard: index)
        if newest == nil { newest = part.frozen?.find(key, hash: hash) }
        let cleared = part.clears.isEmpty ? 0 : part.clears[prefix] ?? 0
        if let newest {
            guard newest.isPut, newest.sequence >= cleared, clock.isLive(newest.deadline) else {
                return nil
            }
            return .log(newest)
        }
        guard let (snapshot, record) = try part.snapshots.find(key, hash: hash), record.isPut,
            record.sequence >= cleared, clock.isLive(record.deadline)
        else { return nil }
        return .cold(snapshot, record)
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

    /// The names of the dictionaries that have at least one key, in the order of their bytes.
    package func dictionaryNames() throws -> [[UInt8]] {
        var names: [[UInt8]] = []
        let scan = try scan(.everything)
        while let key = scan.recordKey, let (name, _) = splitRecordKey(key) {
            let name = Array(name)
            names.append(name)
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
    let snapshots: SnapshotList
    let clears: [[UInt8]: UInt64]
    /// Of the table that the shard wrote to.
    let activeOrder: KeyOrder
    /// Keeps the memory mapped that the active table pointed into.
    private let regions: RegionList

    /// Whether a view that begins now would hold the same. While a table is frozen, or put back, none
    /// is kept from before.
    fileprivate func isCurrent(_ state: borrowing ShardState) -> Bool {
        enqueued == nil && state.enqueued == nil && snapshots === state.snapshots
            && regions === state.active.regions && activeOrder === state.active.order
            && clears == state.clears
    }

    fileprivate init(_ state: borrowing ShardState) {
        enqueued = state.enqueued?.table
        frozen = state.frozen
        snapshots = state.snapshots
        clears = state.clears
        activeOrder = state.active.order
        regions = state.active.regions
    }
}

extension ShardState {
    /// What a view that begins now holds; the last one's where nothing has changed.
    fileprivate mutating func currentViewPart() -> ViewPart {
        if let viewPart, viewPart.isCurrent(self) { return viewPart }
        let part = ViewPart(self)
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
    /// All shards at this moment. Holds every shard's mutex while it copies references.
    package func view() throws -> EngineView {
        try condition.checkOpen()
        var parts: [ViewPart] = []
        parts.reserveCapacity(shards.count)
        if configuration.plantedFaults.contains(.tornViews) { return tornView() }
        let id = publication.withLock { _ in
            let id = liveViews.add()
            beginView(id, from: 0, into: &parts)
            return id
        }
        return EngineView(id: id, engine: self, parts: parts)
    }

    /// What a view would be that did not take all mutexes at once.
    private func tornView() -> EngineView {
        let id = liveViews.add()
        var parts: [ViewPart] = []
        for shard in shards {
            shard.published.withLock { state in
                state.layers.begin(id)
                parts.append(ViewPart(state))
            }
            let next = ContinuousClock.now + .microseconds(30)
            while ContinuousClock.now < next {}
        }
        return EngineView(id: id, engine: self, parts: parts)
    }

    /// Takes one mutex within the other, in the shards' order.
    private func beginView(_ id: UInt64, from index: Int, into parts: inout [ViewPart]) {
        guard index < shards.count else { return }
        shards[index].published.withLock { state in
            // What is committed is in the view, so it has to be in the table.
            if !state.staged.isEmpty { state.foldResolved() }
            state.layers.begin(id)
            parts.append(state.currentViewPart())
            beginView(id, from: index + 1, into: &parts)
        }
    }
}
