import RoostFormat

/// A log table's operations in key order.
struct SortedTable {
    let operations: [Operation]
    /// Keeps the operations' memory mapped.
    private let regions: RegionList
    /// The lowest sequence number that any of them may have.
    let minimumSequence: UInt64

    /// Sorts by eight bytes taken behind what all keys have in common, and by the whole keys
    /// only where those are equal.
    init(_ table: LogTable, isIncluded: (Operation) -> Bool = { _ in true }) {
        regions = table.regions
        minimumSequence = table.minimumSequence
        var unsorted: [Operation] = []
        unsorted.reserveCapacity(table.count)
        table.forEach { if isIncluded($0) { unsorted.append($0) } }
        operations = Self.sorted(unsorted)
    }

    /// `unsorted` in key order.
    static func sorted(_ unsorted: [Operation]) -> [Operation] {
        let shared = commonPrefixCount(unsorted)
        var pairs = unsorted.map { (leadingWord($0.key, from: shared), $0) }
        pairs.sort { left, right in
            left.0 != right.0 ? left.0 < right.0 : compareBytes(left.1.key, right.1.key) < 0
        }
        return pairs.map(\.1)
    }

    private static func commonPrefixCount(_ operations: [Operation]) -> Int {
        guard let first = operations.first?.key else { return 0 }
        var shared = first.count
        for operation in operations {
            let key = operation.key
            var index = 0
            let limit = min(shared, key.count)
            while index < limit && key[index] == first[index] { index += 1 }
            shared = index
        }
        return shared
    }

    /// Eight bytes as a big-endian number, zeros where the key has ended: a key that is shorter
    /// comes before, and one that really has zeros there compares equal and is looked at whole.
    private static func leadingWord(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
        if key.count - start >= 8 {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        var word: UInt64 = 0
        for index in 0..<8 {
            word = word << 8 | (start + index < key.count ? UInt64(key[start + index]) : 0)
        }
        return word
    }

    func firstIndex(notBefore target: UnsafeRawBufferPointer) -> Int {
        var low = 0
        var high = operations.count
        while low < high {
            let middle = (low + high) / 2
            if compareBytes(operations[middle].key, target) < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
