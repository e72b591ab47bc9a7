import RoostFormat

/// The keys that an attempt of a transaction changes, in order, each by its last change: so that a scan of some of
/// them looks at no others.
///
/// - `order` has the number of a change for each key of the first `notedCount` changes, ascending by the keys.
/// - What was changed since is put in its place at the next look: an attempt that does not scan does nothing here.
struct ChangedKeyOrder: Sendable {
    private var order: [Int] = []
    private var notedCount = 0
    /// So few changes find their places one by one; more are sorted, and merged with all.
    private static let fewCount = 16

    /// For changes that are counted anew from the first on.
    mutating func removeAll() {
        order.removeAll(keepingCapacity: true)
        notedCount = 0
    }

    /// The changes of the keys in `range`, in the order of the keys, of the first `count` changes, which `key` gives the
    /// keys of.
    mutating func changes(
        in range: RecordRange, count: Int, key: (Int) -> UnsafeRawBufferPointer
    ) -> ArraySlice<Int> {
        note(count, key)
        let begin = range.lower.withUnsafeBytes { firstPlace(notBelow: $0, key) }
        guard let upper = range.upper else { return order[begin...] }
        let end = upper.withUnsafeBytes { firstPlace(notBelow: $0, key) }
        return order[begin..<max(begin, end)]
    }

    private mutating func note(_ count: Int, _ key: (Int) -> UnsafeRawBufferPointer) {
        guard notedCount < count else { return }
        let new = notedCount..<count
        notedCount = count
        guard new.count > Self.fewCount else {
            for change in new { insert(change, key) }
            return
        }
        let sorted = new.sorted { first, second in
            let comparison = compareBytes(key(first), key(second))
            return comparison == 0 ? first < second : comparison < 0
        }
        merge(sorted, key)
    }

    private mutating func insert(_ change: Int, _ key: (Int) -> UnsafeRawBufferPointer) {
        let place = firstPlace(notBelow: key(change), key)
        if place < order.count, compareBytes(key(order[place]), key(change)) == 0 {
            order[place] = change
        } else {
            order.insert(change, at: place)
        }
    }

    /// Of several changes of one key the last one stays: those of `newer` came after those of `order`.
    private mutating func merge(_ newer: [Int], _ key: (Int) -> UnsafeRawBufferPointer) {
        let older = order
        var merged: [Int] = []
        merged.reserveCapacity(older.count + newer.count)
        func add(_ change: Int) {
            if let last = merged.last, compareBytes(key(last), key(change)) == 0 {
                merged[merged.count - 1] = change
            } else {
                merged.append(change)
            }
        }
        var next = 0
        for change in newer {
            while next < older.count, compareBytes(key(older[next]), key(change)) <= 0 {
                add(older[next])
                next += 1
            }
            add(change)
        }
        merged += older[next...]
        order = merged
    }

    /// The first place in `order` whose key does not come before this one.
    private func firstPlace(
        notBelow key: UnsafeRawBufferPointer, _ keyOf: (Int) -> UnsafeRawBufferPointer
    ) -> Int {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if compareBytes(keyOf(order[middle]), key) < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
