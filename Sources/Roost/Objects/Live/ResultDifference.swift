/// As `ResultChange`, with the objects in place of what they are.
struct PlacesChange {
    struct Placed {
        let position: Int
        let object: AnyLiveObject
    }

    struct Move {
        let from: Int
        let to: Int
        let object: AnyLiveObject
    }

    var removed: [Int] = []
    var inserted: [Placed] = []
    var moved: [Move] = []
    var updated: [Placed] = []

    var isEmpty: Bool {
        removed.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty
    }

    /// What readers of objects of this type are told: the objects as they are now.
    func change<Item: Identifiable & Sendable>(of type: Item.Type) -> ResultChange<Item>
    where Item.ID: Sendable {
        var change = ResultChange<Item>()
        if isEmpty { return change }
        func placed(_ place: Placed) -> ResultChange<Item>.Placed {
            .init(position: place.position, item: place.object.of(type).item)
        }
        change.removed = removed
        change.inserted = inserted.map(placed)
        change.moved = moved.map {
            .init(from: $0.from, to: $0.to, item: $0.object.of(type).item)
        }
        change.updated = updated.map(placed)
        return change
    }
}

/// Finds the positions that make one result of another.
///
/// What left its place and what came to one are given; an object that did both is updated where it has
/// its place among the others still, and else moved. As few as possible are.
struct ResultDifference {
    typealias Element = LiveElement

    /// An object that came to a position in the new result.
    struct Arrival {
        let position: Int
        let object: AnyLiveObject
        /// Which of `departures` was it.
        var source: Int?
    }

    /// Positions in the old result, ascending.
    var departures: [Int] = []
    /// Ascending.
    var arrivals: [Arrival] = []

    /// - Parameter isChanged: Whether an object that has its place still is to be told as updated.
    func change(isChanged: (AnyLiveObject) -> Bool = { _ in true }) -> PlacesChange {
        var change = PlacesChange()
        let staying = staying
        var isSource = Array(repeating: false, count: departures.count)
        for (index, arrival) in arrivals.enumerated() {
            let object = arrival.object
            guard let source = arrival.source else {
                change.inserted.append(.init(position: arrival.position, object: object))
                continue
            }
            isSource[source] = true
            if !staying[index] {
                change.moved.append(
                    .init(from: departures[source], to: arrival.position, object: object))
            } else if isChanged(arrival.object) {
                change.updated.append(.init(position: arrival.position, object: object))
            }
        }
        change.removed = departures.indices.filter { !isSource[$0] }.map { departures[$0] }
        return change
    }

    /// Which arrivals have the place that they had: the longest run of them that was in this order, and
    /// with as many objects before that did not leave their places.
    private var staying: [Bool] {
        let candidates = arrivals.indices.filter { index in
            guard let source = arrivals[index].source else { return false }
            return departures[source] - source == arrivals[index].position - index
        }
        var staying = Array(repeating: false, count: arrivals.count)
        let sources = candidates.map { arrivals[$0].source ?? 0 }
        for index in longestAscendingRun(sources) { staying[candidates[index]] = true }
        return staying
    }
}

/// The indices of a longest subsequence whose numbers ascend.
func longestAscendingRun(_ numbers: [Int]) -> [Int] {
    if zip(numbers, numbers.dropFirst()).allSatisfy(<) { return Array(numbers.indices) }
    // The index of the least number that ends a run of each length, and what stood before it.
    var ends: [Int] = []
    var previous = Array(repeating: -1, count: numbers.count)
    for (index, number) in numbers.enumerated() {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
        }
        if low > 0 { previous[index] = ends[low - 1] }
        if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var run: [Int] = []
    var index = ends.last ?? -1
    while index >= 0 {
        run.append(index)
        index = previous[index]
    }
    return run.reversed()
}

extension ResultDifference {
    /// Compares two results, by their objects. `number` is another for each comparison.
    static func between(
        _ old: [Element], _ new: [Element], changedSince batch: UInt64, number: UInt64
    ) -> PlacesChange {
        var prefix = 0
        let shorter = Swift.min(old.count, new.count)
        while prefix < shorter, old[prefix].object === new[prefix].object { prefix += 1 }
        var suffix = 0
        while suffix < shorter - prefix,
            old[old.count - 1 - suffix].object === new[new.count - 1 - suffix].object
        {
            suffix += 1
        }
        var difference = ResultDifference()
        difference.departures = Array(prefix..<(old.count - suffix))
        for position in difference.departures {
            old[position].object.mark(position - prefix, number)
        }
        difference.arrivals = (prefix..<(new.count - suffix)).map { position in
            let object = new[position].object
            return Arrival(position: position, object: object, source: object.place(number))
        }
        difference.pairByKey(old)
        var change = difference.change { $0.changedIn > batch }
        let kept = Array(0..<prefix) + Array((new.count - suffix)..<new.count)
        let updated = kept.filter { new[$0].object.changedIn > batch }
        if !updated.isEmpty {
            change.updated += updated.map { .init(position: $0, object: new[$0].object) }
            change.updated.sort { $0.position < $1.position }
        }
        return change
    }

    /// An object that was let go of and read again is the same to those who look at the result.
    private mutating func pairByKey(_ old: [Element]) {
        guard arrivals.contains(where: { $0.source == nil }), !departures.isEmpty else { return }
        let found = Set(arrivals.compactMap(\.source))
        guard found.count < departures.count else { return }
        var sources: [[UInt8]: Int] = [:]
        for (index, position) in departures.enumerated() where !found.contains(index) {
            sources[old[position].object.key] = index
        }
        for index in arrivals.indices where arrivals[index].source == nil {
            arrivals[index].source = sources[arrivals[index].object.key]
        }
    }
}
