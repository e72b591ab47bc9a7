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
        var sorter = KeySorter(capacity: table.count)
        var shared = Self.sampledPrefixCount(table)
        let first = table.first?.key
        var isStale = false
        table.forEach { operation in
            guard isIncluded(operation), let first else { return }
            let key = operation.key
            let common = commonPrefixCount(.init(rebasing: first[..<shared]), key)
            if common < shared {
                // What was taken from the keys before stands too far behind.
                shared = common
                isStale = true
            }
            sorter.append(leadingWord(key, from: shared), operation)
        }
        if isStale { sorter.replaceWords { leadingWord($0.key, from: shared) } }
        operations = sorter.sorted()
    }

    /// `unsorted` in key order.
    static func sorted(_ unsorted: [Operation]) -> [Operation] {
        guard let first = unsorted.first?.key else { return [] }
        var shared = first.count
        for operation in unsorted {
            shared = commonPrefixCount(.init(rebasing: first[..<shared]), operation.key)
        }
        var sorter = KeySorter(capacity: unsorted.count)
        for operation in unsorted {
            sorter.append(leadingWord(operation.key, from: shared), operation)
        }
        return sorter.sorted()
    }

    /// How much the first keys have in common: nearly always as much as all have.
    private static func sampledPrefixCount(_ table: LogTable) -> Int {
        guard let first = table.first?.key else { return 0 }
        var shared = first.count
        var remaining = 64
        table.forEachUntil { operation in
            let limit = UnsafeRawBufferPointer(rebasing: first[..<shared])
            shared = commonPrefixCount(limit, operation.key)
            remaining -= 1
            return remaining > 0
        }
        return shared
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
