import RoostFormat

/// Keys of one dictionary in a log table, in order. Immutable.
///
/// - `locations[i]` is of an operation on the i-th key: not always the newest one. `words[i]` is
///   the eight bytes of that key after `shared`, which all the keys begin with.
/// - A key stands in it once, or in a row.
final class OrderedRun: Sendable {
    let shared: [UInt8]
    let words: [UInt64]
    let locations: [UInt]

    init(shared: [UInt8], words: [UInt64], locations: [UInt]) {
        self.shared = shared
        self.words = words
        self.locations = locations
    }

    /// The keys of `unsorted`, all of which begin with `shared`, each once.
    convenience init(_ unsorted: [UInt], shared: [UInt8]) {
        var sorter = KeySorter(capacity: unsorted.count)
        let ahead = 16
        for (index, location) in unsorted.enumerated() {
            if index + ahead < unsorted.count {
                Operation(location: unsorted[index + ahead]).prefetch()
            }
            let operation = Operation(location: location)
            sorter.append(leadingWord(operation.key, from: shared.count), operation)
        }
        var (words, locations) = sorter.sortedWords()
        Self.removeRepeats(&words, &locations)
        self.init(shared: shared, words: words, locations: locations)
    }

    private static func removeRepeats(_ words: inout [UInt64], _ locations: inout [UInt]) {
        guard words.count > 1 else { return }
        var kept = 1
        for index in 1..<words.count {
            if words[index] == words[kept - 1],
                equalBytes(
                    Operation(location: locations[index]).key,
                    Operation(location: locations[kept - 1]).key)
            {
                continue
            }
            words[kept] = words[index]
            locations[kept] = locations[index]
            kept += 1
        }
        words.removeLast(words.count - kept)
        locations.removeLast(locations.count - kept)
    }

    var count: Int { words.count }

    @inline(__always)
    func key(_ index: Int) -> UnsafeRawBufferPointer { Operation(location: locations[index]).key }

    /// The first place whose key is not before `target`.
    func firstIndex(notBefore target: UnsafeRawBufferPointer) -> Int {
        let common = min(shared.count, target.count)
        let comparison = shared.withUnsafeBytes {
            compareBytes(.init(rebasing: target[..<common]), .init(rebasing: $0[..<common]))
        }
        if comparison < 0 || (comparison == 0 && target.count < shared.count) { return 0 }
        if comparison > 0 { return count }
        let word = leadingWord(target, from: shared.count)
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let isBefore =
                words[middle] != word
                ? words[middle] < word : compareBytes(key(middle), target) < 0
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The same keys, seen from a shorter `shared`.
    func shortened(to shared: [UInt8]) -> OrderedRun {
        if shared.count == self.shared.count { return self }
        return OrderedRun(
            shared: shared,
            words: locations.map { leadingWord(Operation(location: $0).key, from: shared.count) },
            locations: locations)
    }

    /// The keys of both, which share what they begin with.
    func merged(with other: OrderedRun) -> OrderedRun {
        var words: [UInt64] = []
        var locations: [UInt] = []
        words.reserveCapacity(count + other.count)
        locations.reserveCapacity(count + other.count)
        var (left, right) = (0, 0)
        while left < count, right < other.count {
            let isLeft =
                self.words[left] != other.words[right]
                ? self.words[left] < other.words[right]
                : compareBytes(key(left), other.key(right)) < 0
            if isLeft {
                words.append(self.words[left])
                locations.append(self.locations[left])
                left += 1
            } else {
                words.append(other.words[right])
                locations.append(other.locations[right])
                right += 1
            }
        }
        words += self.words[left...]
        words += other.words[right...]
        locations += self.locations[left...]
        locations += other.locations[right...]
        return OrderedRun(shared: shared, words: words, locations: locations)
    }
}
