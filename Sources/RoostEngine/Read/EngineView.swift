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
    /// How many enqueued writes had been given up before it began.
    let givenUpCount: Int
    private let isClosed = Atomic<Bool>(false)
    private let holderCount = Atomic<Int>(1)

    init(id: UInt64, engine: Engine, _ begun: BegunView) {
        self.id = id
        self.engine = engine
        parts = begun.parts
        cold = begun.cold
        isLogEmpty = begun.isLogEmpty
        givenUpCount = begun.givenUpCount
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
    func retain() throws {
        var count = holderCount.load(ordering: .relaxed)
        while count > 0 {
            let (isExchanged, seen) = holderCount.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if isExchanged { return }
            count = seen
        }
        throw RoostError(.closed, "the read view is closed")
    }

    func release() {
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
        try name.withRecordKey(key) { found = try value(at: $0, name.prefix) }
        return found
    }

    /// Whether a key has a value; decompresses nothing.
    package func contains(_ key: String, name: DictionaryName) throws -> Bool {
        try deadline(of: key, name: name) != nil
    }

    /// When the value of a key expires; `nil` where it has none.
    func deadline(of key: String, name: DictionaryName) throws -> Deadline? {
        try name.withRecordKey(key) { try deadline(at: $0, name.prefix) }
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
        try recordKey.withUnsafeBytes { found = try value(at: $0, name.prefix) }
        return found
    }

    /// When a record expires, by its whole key; `nil` where it is not there, or not any more. Decompresses nothing.
    package func deadline(recordKey: [UInt8], in name: DictionaryName) throws -> Deadline? {
        try recordKey.withUnsafeBytes { try deadline(at: $0, name.prefix) }
    }

    /// Whether a record of the dictionary `prefix` has a value.
    func contains(recordKey: [UInt8], _ prefix: [UInt8]) throws -> Bool {
        try recordKey.withUnsafeBytes { try place(of: $0, prefix) != nil }
    }

    private func value(
        at recordKey: UnsafeRawBufferPointer, _ prefix: [UInt8]
    ) throws -> FoundValue? {
        guard let (place, part) = try place(of: recordKey, prefix) else { return nil }
        switch place {
        case .log(let operation):
            return FoundValue(
                resident: nil, bytes: operation.value, owner: part,
                origin: .log(operation.location))
        case .cold(let record):
            return try FoundValue(record, keptBy: cold, origin: .view)
        }
    }

    private func deadline(
        at recordKey: UnsafeRawBufferPointer, _ prefix: [UInt8]
    ) throws -> Deadline? {
        guard let (place, part) = try place(of: recordKey, prefix) else { return nil }
        return withExtendedLifetime(part) {
            switch place {
            case .log(let operation): operation.deadline
            case .cold(let found): found.record.deadline
            }
        }
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
