import RoostFormat

extension EngineView {
    /// The keys of the dictionary `prefix` in the table that a shard wrote to when the view began,
    /// in order, and perhaps keys that came since.
    func orderedKeys(ofShard index: Int, in prefix: [UInt8]) throws -> OrderedKeys {
        let source = ViewTable(shard: shard(index), view: id)
        while true {
            let order = try source.begunOrder()
            // `nil` where the table has begun another order meanwhile.
            if let keys = try order.keys(of: prefix, from: source) { return keys }
        }
    }

    /// Whether what a shard's table has of each key is what it had when the view began, and what
    /// its order says.
    func hasFirstOperations(inShard index: Int) throws -> Bool {
        try shard(index).published.withLock { state in
            try state.layers.withLayers(of: id, active: state.active) { table, layers in
                table.hasFirstOperations && layers.allSatisfy { $0.changed.isEmpty }
            }
        }
    }

    /// Finds the operations that a shard's table had on some keys when the view began; zero where
    /// it had none. Holds the shard's mutex for it.
    func resolve(_ keys: ResolvedKeys, ofShard index: Int) throws {
        try shard(index).published.withLock { state in
            try state.layers.withLayers(of: id, active: state.active) { table, layers in
                for key in 0..<keys.count { table.prefetchSlot(keys.hashes[key]) }
                let isUnchanged = layers.allSatisfy { $0.changed.isEmpty }
                for key in 0..<keys.count {
                    let bytes = Operation(location: keys.locations[key]).key
                    let hash = keys.hashes[key]
                    let found =
                        isUnchanged
                        ? table.find(bytes, hash: hash)
                        : ViewLayers.find(bytes, hash: hash, in: table, layers)
                    keys.locations[key] = found?.location ?? 0
                }
            }
        }
    }
}

/// A few keys on their way from what a table's order knows to what the table says of them.
struct ResolvedKeys {
    static let capacity = 32

    let locations: UnsafeMutablePointer<UInt>
    let hashes: UnsafeMutablePointer<UInt64>
    var count = 0

    func setHashes(_ seed: HashSeed) {
        for key in 0..<count { hashes[key] = seed.hash(Operation(location: locations[key]).key) }
    }

    /// As `EngineView.resolve`, in a table that changes no more.
    func resolve(in table: LogTable) {
        for key in 0..<count { table.prefetchSlot(hashes[key]) }
        for key in 0..<count {
            let bytes = Operation(location: locations[key]).key
            locations[key] = table.find(bytes, hash: hashes[key])?.location ?? 0
        }
    }
}

/// The table that a view began on, be it in use or not.
private struct ViewTable: OrderSource {
    let shard: Shard
    let view: UInt64

    private static let collectedSlotBits = 12

    func begunOrder() throws -> KeyOrder {
        try shard.published.withLock { state in
            if state.layers.isOnActiveTable(view) { return state.active.begunOrder() }
            return try state.layers.withLayers(of: view, active: state.active) { table, _ in
                table.order
            }
        }
    }

    func unordered(
        of order: KeyOrder, from count: Int
    ) -> (locations: [UInt], regions: RegionList)? {
        shard.published.withLock { state in
            if state.layers.isOnActiveTable(view) {
                guard state.active.order === order else { return nil }
                let locations = state.active.unordered(from: count)
                state.active.dropUnordered()
                return (locations, state.active.regions)
            }
            guard let table = state.layers.endedTable(of: view), table.order === order else {
                return nil
            }
            return (table.unordered(from: count), table.regions)
        }
    }

    /// Holds the shard's mutex for a few thousand slots at a time.
    func collect(_ prefix: [UInt8]) throws -> (locations: [UInt], regions: RegionList) {
        let partBits = shard.published.withLock { state in
            max(0, state.active.capacity.trailingZeroBitCount - Self.collectedSlotBits)
        }
        var locations: [UInt] = []
        var regions = RegionList()
        var part: [UInt] = []
        for number in 0..<(1 << partBits) {
            part.removeAll(keepingCapacity: true)
            try shard.published.withLock { state in
                try state.layers.withLayers(of: view, active: state.active) { table, _ in
                    table.forEach(part: number, bitCount: partBits) { operation, _ in
                        part.append(operation.location)
                    }
                    regions = table.regions
                }
            }
            // Looking at the keys costs a miss each: not under the mutex.
            locations.append(keysOf: part, with: prefix)
        }
        return (locations, regions)
    }
}

/// A table that changes no more.
struct FrozenTable: OrderSource {
    let table: LogTable

    func orderedKeys(in prefix: [UInt8]) throws -> OrderedKeys {
        // Its order stays its order, so there is one.
        try table.order.keys(of: prefix, from: self)
            ?? OrderedKeys(runs: [], regions: table.regions)
    }

    func unordered(
        of order: KeyOrder, from count: Int
    ) -> (locations: [UInt], regions: RegionList)? {
        (table.unordered(from: count), table.regions)
    }

    func collect(_ prefix: [UInt8]) -> (locations: [UInt], regions: RegionList) {
        var all: [UInt] = []
        table.forEach { all.append($0.location) }
        var locations: [UInt] = []
        locations.append(keysOf: all, with: prefix)
        return (locations, table.regions)
    }
}

extension [UInt] {
    /// Adds those whose keys are in the dictionary `prefix`.
    fileprivate mutating func append(keysOf locations: [UInt], with prefix: [UInt8]) {
        prefix.withUnsafeBytes { prefix in
            for (index, location) in locations.enumerated() {
                let ahead = index + 16
                if ahead < locations.count { Operation(location: locations[ahead]).prefetch() }
                let key = Operation(location: location).key
                guard key.count >= prefix.count,
                    equalBytes(.init(rebasing: key[..<prefix.count]), prefix)
                else { continue }
                append(location)
            }
        }
    }
}
