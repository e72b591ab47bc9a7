import RoostFormat

// What a `KeyOrder` asks of a view: the keys of the tables that are its.

/// What a table has noted, and where that ends.
struct TakenNotes {
    /// `nil` where some of it was forgotten.
    let locations: [UInt]?
    let mark: NoteMark
    let regions: RegionList

    init(_ table: LogTable, behind mark: NoteMark?) {
        locations = mark.map { table.unordered.behind($0) } ?? []
        self.mark = table.unordered.mark
        regions = table.regions
    }
}

/// What a view sees of the table of an order in a shard.
enum OrderedTable {
    /// It has none of the order, but later views may.
    case none
    /// Nothing was noted that the order does not know. What the order says of each of the shard's keys is
    /// what the view sees, but for those of the dictionaries in `changed`; `nil` where it may be any.
    case known(changed: DictionarySet?)
    case noted(TakenNotes, changed: DictionarySet?)
}

extension EngineView {
    /// The orders of the tables that the view sees, the newest first.
    var keyOrders: [KeyOrder] {
        var orders: [KeyOrder] = []
        for part in parts {
            if orders.last !== part.activeOrder { orders.append(part.activeOrder) }
            if let order = part.frozen?.order { orders.append(order) }
        }
        if orders.count < 2 { return orders }
        orders.sort { $0.number > $1.number }
        return orders.indices.filter { $0 == 0 || orders[$0] !== orders[$0 - 1] }.map { orders[$0] }
    }

    /// Takes what the table of `order` in a shard has noted after `mark`. From here on the table notes
    /// what comes to it.
    func takeNotes(
        of order: KeyOrder, inShard index: Int, behind mark: NoteMark?
    ) throws -> OrderedTable {
        let part = parts[index]
        if let frozen = part.frozen, frozen.order === order {
            return .noted(
                TakenNotes(frozen, behind: mark), changed: frozen.changedDictionaries)
        }
        guard part.activeOrder === order else { return .none }
        return try shard(index).published.withLock { state in
            let (isOfOrder, changed) = try state.layers.withLayers(of: id, active: state.active) {
                (
                    $0.order === order,
                    $1.allSatisfy { $0.changed.isEmpty } ? $0.changedDictionaries : nil
                )
            }
            guard isOfOrder else { return .none }
            if state.layers.isOnActiveTable(id) {
                if state.active.unordered.isNoted(until: mark) { return .known(changed: changed) }
                state.active.beginNoting()
                let notes = TakenNotes(state.active, behind: mark)
                state.active.dropNotes()
                return .noted(notes, changed: changed)
            }
            return try state.layers.withLayers(of: id, active: state.active) { table, _ in
                .noted(TakenNotes(table, behind: mark), changed: changed)
            }
        }
    }

    /// All keys of the table of `order` in a shard that are in the dictionary `prefix`, in no order;
    /// `nil` where the view sees none. Holds the shard's mutex for a few thousand slots at a time.
    func collectKeys(
        of order: KeyOrder, inShard index: Int, _ prefix: [UInt8]
    ) throws -> (locations: [UInt], regions: RegionList)? {
        var locations: [UInt] = []
        let part = parts[index]
        if let frozen = part.frozen, frozen.order === order {
            var all: [UInt] = []
            frozen.forEach { all.append($0.location) }
            locations.append(keysOf: all, with: prefix)
            return (locations, frozen.regions)
        }
        guard part.activeOrder === order else { return nil }
        let partBits = shard(index).published.withLock { state in
            max(0, state.active.capacity.trailingZeroBitCount - Self.collectedSlotBits)
        }
        var regions: RegionList?
        var found: [UInt] = []
        for number in 0..<(1 << partBits) {
            found.removeAll(keepingCapacity: true)
            try shard(index).published.withLock { state in
                try state.layers.withLayers(of: id, active: state.active) { table, _ in
                    guard table.order === order else { return }
                    table.forEach(part: number, bitCount: partBits) { operation, _ in
                        found.append(operation.location)
                    }
                    regions = table.regions
                }
            }
            // Looking at the keys costs a miss each: not under the mutex.
            locations.append(keysOf: found, with: prefix)
        }
        return regions.map { (locations, $0) }
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
                if hasPrefix(key, prefix) { append(location) }
            }
        }
    }
}
