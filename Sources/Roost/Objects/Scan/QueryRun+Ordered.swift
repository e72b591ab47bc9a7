import RoostFormat
import RoostIO

// By the entries of an index that has the query's order.

extension QueryRun {
    mutating func readOrdered<Source: ObjectSource & ~Copyable>(
        _ order: IndexOrder<Item>, _ source: inout Source,
        _ body: (_ key: [UInt8], _ item: Item) throws -> Bool
    ) throws {
        let index = order.ranges.active.index
        let order = query.cursor.map { order.from($0, query.orders) } ?? order
        // Entries that the order does not tell apart, to be put in order once all are there.
        var group: [Entry] = []
        var groupForm: [UInt8] = []
        var isEnough = false
        try forEachPiece(order.ranges, order.isReversed ? .descending : .ascending, &source) {
            run, source, piece in
            for entry in piece {
                if !order.needsSort, entry.truncatedField == nil, group.isEmpty {
                    guard try run.read(entry.objectKey, &source, body) else {
                        isEnough = true
                        return false
                    }
                    continue
                }
                let toldApart = min(order.fieldCount, (entry.truncatedField ?? .max - 1) + 1)
                let form = index.form(entry.form, fieldCount: toldApart)
                if form != groupForm, !group.isEmpty {
                    guard try run.readGroup(group, order, &source, body) else {
                        isEnough = true
                        return false
                    }
                    group.removeAll(keepingCapacity: true)
                }
                groupForm = form
                group.append(entry)
            }
            return true
        }
        if !isEnough, !group.isEmpty { _ = try readGroup(group, order, &source, body) }
    }

    private mutating func readGroup<Source: ObjectSource & ~Copyable>(
        _ group: [Entry], _ order: IndexOrder<Item>, _ source: inout Source,
        _ body: (_ key: [UInt8], _ item: Item) throws -> Bool
    ) throws -> Bool {
        let fixed = order.ranges.active.index.fields.prefix(order.fieldCount).map { $0.path }
        let isKeyOrder =
            !group.contains { $0.truncatedField != nil }
            && query.ordersBeforeKeys.allSatisfy { fixed.contains($0.path) }
        guard !isKeyOrder else {
            for entry in group.sorted(by: { bytes($0.objectKey, precede: $1.objectKey) }) {
                guard try read(entry.objectKey, &source, body) else { return false }
            }
            return true
        }
        var matches: [(sortKey: [UInt8], key: [UInt8], item: Item)] = []
        for entry in group {
            guard let item = try object(entry.objectKey, &source) else { continue }
            try withUnsafePointer(to: item) { object in
                guard try query.condition.matches(object) else { return }
                matches.append((query.sortKey(object, entry.objectKey), entry.objectKey, item))
            }
        }
        matches.sort { bytes($0.sortKey, precede: $1.sortKey) }
        for match in matches {
            guard try body(match.key, match.item) else { return false }
        }
        return true
    }
}
