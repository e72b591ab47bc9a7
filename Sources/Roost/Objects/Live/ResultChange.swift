import RoostIO

/// What a reader of ``Query/changes()`` is told.
public enum LiveChange<Item: Sendable>: Sendable {
    /// The whole result: the first element, and again where the reader has fallen so far behind that the
    /// positions of what it missed would be more than the result.
    case result([Item])
    /// What one transaction changed in the result.
    case changed(ResultChange<Item>)
    /// An object of the repository could not be read, and is in no result until it can be; or, as the
    /// last element, the result could not be.
    case failed(RoostError)
}

/// How a result became another: positions, as list views take them.
///
/// `removed` and `moved.from` are positions in the old result; `inserted`, `moved.to` and `updated` are
/// positions in the new one. Each array is in ascending order, `moved` by `to`. What stands in none of
/// them is unchanged, and in the order that it was in.
public struct ResultChange<Item: Sendable>: Sendable {
    /// An object, and where it stands in the new result.
    public struct Placed: Sendable {
        /// The position in the new result.
        public let position: Int
        /// The object as it is now.
        public let item: Item
    }

    /// An object that stands elsewhere now, and may have changed.
    public struct Move: Sendable {
        /// The position in the old result.
        public let from: Int
        /// The position in the new result.
        public let to: Int
        /// The object as it is now.
        public let item: Item
    }

    /// What is not in the result any more.
    public internal(set) var removed: [Int] = []
    /// What is new in the result.
    public internal(set) var inserted: [Placed] = []
    /// What has another place among the others.
    public internal(set) var moved: [Move] = []
    /// What changed, and has its place among the others still.
    public internal(set) var updated: [Placed] = []

    /// How many positions there are.
    public var count: Int { removed.count + inserted.count + moved.count + updated.count }
    /// Whether nothing changed.
    public var isEmpty: Bool { count == 0 }

    /// Makes the new result of the old one. Costs a pass over the items.
    public func apply(to items: inout [Item]) {
        if removed.count + inserted.count + moved.count > 4 {
            items = rebuilt(items)
        } else {
            let gone = (removed + moved.map(\.from)).sorted(by: >)
            for position in gone { items.remove(at: position) }
            for placed in arrivals { items.insert(placed.item, at: placed.position) }
        }
        for placed in updated { items[placed.position] = placed.item }
    }

    /// Whatever comes to a new place, by it.
    private var arrivals: [Placed] {
        if moved.isEmpty { return inserted }
        let moved = moved.map { Placed(position: $0.to, item: $0.item) }
        return (inserted + moved).sorted { $0.position < $1.position }
    }

    private func rebuilt(_ items: [Item]) -> [Item] {
        var gone = Array(repeating: false, count: items.count)
        for position in removed { gone[position] = true }
        for move in moved { gone[move.from] = true }
        var rebuilt: [Item] = []
        rebuilt.reserveCapacity(items.count + inserted.count - removed.count)
        var arrivals = arrivals[...]
        for (position, item) in items.enumerated() where !gone[position] {
            while let next = arrivals.first, next.position == rebuilt.count {
                rebuilt.append(next.item)
                arrivals.removeFirst()
            }
            rebuilt.append(item)
        }
        rebuilt += arrivals.map(\.item)
        return rebuilt
    }
}
