import RoostFormat

/// The operations of some log tables, in key order. No key stands in two of the tables.
struct SortedTable: Sendable {
    let operations: [Operation]
    /// Keeps the operations' memory mapped.
    private let regions: [RegionList]

    /// Sorts by eight bytes taken after what all keys have in common, and by the whole keys
    /// only where those are equal.
    init(_ tables: [LogTable]) {
        regions = tables.map(\.regions)
        var sorter = KeySorter(capacity: tables.reduce(0) { $0 + $1.count })
        guard let first = tables.lazy.compactMap(\.first).first?.key else {
            operations = []
            return
        }
        var shared = first.count
        for table in tables { shared = Self.sampledPrefixCount(table, first, atMost: shared) }
        var isStale = false
        for table in tables {
            table.forEach { operation in
                let key = operation.key
                let common = commonPrefixCount(.init(rebasing: first[..<shared]), key)
                if common < shared {
                    // The words of the keys before were taken too far to the right.
                    shared = common
                    isStale = true
                }
                sorter.append(leadingWord(key, from: shared), operation)
            }
        }
        if isStale { sorter.replaceWords { leadingWord($0.key, from: shared) } }
        operations = sorter.sorted()
    }

    /// Throws `.io` where a page of the tables' log could not be read.
    func checkRead() throws {
        for list in regions { try list.checkRead() }
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

    /// How much the first keys of a table have in common with `first`: nearly always as much as all have.
    private static func sampledPrefixCount(
        _ table: LogTable, _ first: UnsafeRawBufferPointer, atMost limit: Int
    ) -> Int {
        var shared = limit
        var remaining = 64
        table.forEachUntil { operation in
            let limit = UnsafeRawBufferPointer(rebasing: first[..<shared])
            shared = commonPrefixCount(limit, operation.key)
            remaining -= 1
            return remaining > 0
        }
        return shared
    }
}
