import RoostFormat

/// Keys by their deadlines, the earliest first.
///
/// - `deadlines` is what counts. `heap` has a place for each of them, and places of earlier deadlines of the same
///   keys, which count no more: they are dropped when they come first, and when there are more of them than of the others.
package struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Place {
        let deadline: Deadline
        let key: Key
    }

    private var deadlines: [Key: Deadline] = [:]
    private var heap: [Place] = []
    private static var spareCount: Int { 64 }

    package init() {}

    package var isEmpty: Bool { deadlines.isEmpty }
    package var count: Int { deadlines.count }
    /// How many places the heap has, for tests.
    var placeCount: Int { heap.count }

    /// Takes the place of an earlier deadline of the key; `.never` removes it.
    package mutating func set(_ deadline: Deadline, for key: Key) {
        if deadline == .never { return remove(key) }
        guard deadlines.updateValue(deadline, forKey: key) != deadline else { return }
        heap.append(Place(deadline: deadline, key: key))
        rise(heap.count - 1)
        if heap.count > deadlines.count * 2 + Self.spareCount { dropUnneeded() }
    }

    package mutating func remove(_ key: Key) {
        guard deadlines.removeValue(forKey: key) != nil else { return }
        if heap.count > deadlines.count * 2 + Self.spareCount { dropUnneeded() }
    }

    package mutating func removeAll() {
        deadlines = [:]
        heap = []
    }

    /// The earliest deadline; `.never` where there is none.
    package mutating func earliest() -> Deadline {
        while let first = heap.first {
            if deadlines[first.key] == first.deadline { return first.deadline }
            removeFirst()
        }
        return .never
    }

    /// Removes the key with the earliest deadline, where that is not after `milliseconds`.
    package mutating func popFirst(upTo milliseconds: UInt64) -> Key? {
        let deadline = earliest()
        guard deadline != .never, deadline.milliseconds <= milliseconds else { return nil }
        let key = heap[0].key
        removeFirst()
        deadlines[key] = nil
        return key
    }

    // MARK: The heap

    private mutating func dropUnneeded() {
        heap = deadlines.map { Place(deadline: $0.value, key: $0.key) }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink(0)
    }

    private mutating func rise(_ start: Int) {
        var index = start
        while index > 0, heap[index].deadline < heap[(index - 1) / 2].deadline {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var first = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if heap[child].deadline < heap[first].deadline { first = child }
            }
            if first == index { return }
            heap.swapAt(index, first)
            index = first
        }
    }
}
