import RoostFormat
import RoostSnapshot

/// Keys of the log in order, whose operations are looked up in the shards' tables a batch at a time.
final class OrderedKeysRun: ScanRun {
    private let run: OrderedRun
    private let tables: OrderedTables
    private let limit: Int
    /// How many keys the scan may want still.
    private var wantedCount = 0
    /// The first batch is about as large as a short scan, those of a long one grow.
    private var batchCount = firstCount
    private static let firstCount = 32
    private var next = 0

    init(
        _ run: OrderedRun, _ tables: OrderedTables, _ range: RecordRange, _ order: ScanOrder,
        limit: Int
    ) {
        self.run = run
        self.tables = tables
        self.limit = limit
        super.init(range, order)
    }

    override func move(to bound: [UInt8]?) {
        let first = bound.map { $0.withUnsafeBytes { run.firstIndex(notBefore: $0) } }
        next = order == .ascending ? first ?? run.count : (first ?? run.count) - 1
        batchCount = Self.firstCount
        wantedCount = limit
        prefetchKeys()
    }

    override func refill() throws {
        var count = 0
        repeat {
            let locations = takeKeys()
            try tables.resolve(locations)
            fill(UnsafeBufferPointer(locations))
            count = locations.count
            if trimBehindRange() { next = -1 }
        } while self.count == 0 && count > 0
        prefetchKeys()
    }

    override func checkRead() throws { try tables.checkRead() }

    /// In the room that the runs of the order share.
    private func takeKeys() -> UnsafeMutableBufferPointer<UInt> {
        // What is not live makes a scan take more than its limit.
        if wantedCount <= 0 { wantedCount = .max }
        let places = nextPlaces
        let room = tables.locations
        if order == .ascending {
            for (index, place) in places.enumerated() { room[index] = run.locations[place] }
            next = places.upperBound
        } else {
            for (index, place) in places.reversed().enumerated() {
                room[index] = run.locations[place]
            }
            next = places.lowerBound - 1
        }
        batchCount = min(batchCount * 2, Self.capacity)
        wantedCount -= places.count
        return .init(start: room, count: places.count)
    }

    private var nextPlaces: Range<Int> {
        guard next >= 0, next < run.count else { return 0..<0 }
        let count = min(batchCount, wantedCount)
        return order == .ascending
            ? next..<min(next + count, run.count) : max(0, next + 1 - count)..<next + 1
    }

    private func prefetchKeys() {
        if wantedCount <= 0 { return }
        for place in nextPlaces { Operation(location: run.locations[place]).prefetchValue() }
    }
}

/// The tables of one order that a view sees, for a scan's looks into them. For one user at a time.
final class OrderedTables {
    private enum Table {
        /// The one that the shard wrote to when the view began.
        case active
        case frozen(LogTable)
    }

    private let view: EngineView
    /// Keeps the keys' memory mapped.
    private let regions: RegionList
    /// By shard; empty where nothing has to be looked up.
    private let tables: [Table?]
    /// Room for a batch: where each key is, its hash, the next one of the same shard.
    let locations = UnsafeMutablePointer<UInt>.allocate(capacity: ScanRun.capacity)
    private let hashes = UnsafeMutablePointer<UInt64>.allocate(capacity: ScanRun.capacity)
    private let nexts = UnsafeMutablePointer<Int32>.allocate(capacity: ScanRun.capacity)
    /// By shard, the first of its keys in the batch; negative where it has none.
    private let firsts: UnsafeMutablePointer<Int32>

    init(_ view: EngineView, _ order: KeyOrder, _ keys: OrderedKeys) {
        self.view = view
        regions = keys.regions
        firsts = .allocate(capacity: view.parts.count)
        firsts.initialize(repeating: -1, count: view.parts.count)
        if keys.isExact {
            tables = []
        } else {
            tables = view.parts.map { part in
                if part.activeOrder === order { return .active }
                guard let frozen = part.frozen, frozen.order === order else { return nil }
                return .frozen(frozen)
            }
        }
    }

    deinit {
        locations.deallocate()
        hashes.deallocate()
        nexts.deallocate()
        firsts.deallocate()
    }

    /// Throws `.io` where a page could not be read that any of the order's keys may stand on.
    func checkRead() throws { try regions.checkRead() }

    /// Replaces each location by that of the operation which the view's table has on its key, or by
    /// zero where it has none.
    func resolve(_ locations: UnsafeMutableBufferPointer<UInt>) throws {
        if tables.isEmpty { return }
        let seed = view.hashSeed
        let shardCount = view.parts.count
        for key in locations.indices {
            hashes[key] = seed.hash(Operation(location: locations[key]).key)
            let shard = shardIndex(of: hashes[key], shardCount: shardCount)
            nexts[key] = firsts[shard]
            firsts[shard] = Int32(key)
        }
        do { try resolveShards(of: locations) } catch {
            // Else the next batch's keys would be chained to those of this one.
            firsts.update(repeating: -1, count: shardCount)
            throw error
        }
    }

    /// Looks the keys up that `firsts` has, and leaves it empty where it does not throw.
    @inline(__always)
    private func resolveShards(of locations: UnsafeMutableBufferPointer<UInt>) throws {
        let shardCount = view.parts.count
        for key in locations.indices {
            let shard = shardIndex(of: hashes[key], shardCount: shardCount)
            let first = firsts[shard]
            guard first >= 0 else { continue }
            firsts[shard] = -1
            switch tables[shard] {
            case .active: try view.resolve(keys(from: first), ofShard: shard)
            case .frozen(let table): keys(from: first).resolve { table.find($0, hash: $1) }
            case nil: keys(from: first).resolve { _, _ in nil }
            }
        }
    }

    private func keys(from first: Int32) -> ShardKeys {
        ShardKeys(first: first, locations: locations, hashes: hashes, nexts: nexts)
    }
}

/// The keys of a batch that are of one shard.
struct ShardKeys {
    fileprivate let first: Int32
    fileprivate let locations: UnsafeMutablePointer<UInt>
    fileprivate let hashes: UnsafeMutablePointer<UInt64>
    fileprivate let nexts: UnsafeMutablePointer<Int32>

    @inline(__always)
    func prefetchSlots(in table: LogTable) {
        var key = Int(first)
        while key >= 0 {
            table.prefetchSlot(hashes[key])
            key = Int(nexts[key])
        }
    }

    @inline(__always)
    func resolve(_ find: (_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> Operation?) {
        var key = Int(first)
        while key >= 0 {
            let bytes = Operation(location: locations[key]).key
            locations[key] = find(bytes, hashes[key])?.location ?? 0
            key = Int(nexts[key])
        }
    }
}

extension EngineView {
    /// Finds the operations that a shard's table had on some keys when the view began. Holds the
    /// shard's mutex for it.
    fileprivate func resolve(_ keys: ShardKeys, ofShard index: Int) throws {
        try shard(index).published.withLock { state in
            try state.layers.withLayers(of: id, active: state.active) { table, layers in
                keys.prefetchSlots(in: table)
                if layers.allSatisfy({ $0.changed.isEmpty }) {
                    keys.resolve { table.find($0, hash: $1) }
                } else {
                    keys.resolve { ViewLayers.find($0, hash: $1, in: table, layers) }
                }
            }
        }
    }
}
