import RoostFormat
import RoostIO

// By the entries of an index that has the query's order.

extension QueryRun {
    mutating func readOrdered<Source: ObjectSource & ~Copyable, Made>(
        _ order: IndexOrder<Item>, _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
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
                    guard try run.read(entry.objectKey, &source, form, body) else {
                        isEnough = true
                        return false
                    }
                    continue
                }
                let toldApart = min(order.fieldCount, (entry.truncatedField ?? .max - 1) + 1)
                let fields = index.form(entry.form, fieldCount: toldApart)
                if fields != groupForm, !group.isEmpty {
                    guard try run.readGroup(group, order, &source, form, body) else {
                        isEnough = true
                        return false
                    }
                    group.removeAll(keepingCapacity: true)
                }
                groupForm = fields
                group.append(entry)
            }
            return true
        }
        if !isEnough, !group.isEmpty { _ = try readGroup(group, order, &source, form, body) }
    }

    private mutating func readGroup<Source: ObjectSource & ~Copyable, Made>(
        _ group: [Entry], _ order: IndexOrder<Item>, _ source: inout Source,
        _ form: MatchForm<Item, Made>, _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws -> Bool {
        let fixed = order.ranges.active.index.fields.prefix(order.fieldCount).map { $0.path }
        let isKeyOrder =
            !group.contains { $0.truncatedField != nil }
            && query.ordersBeforeKeys.allSatisfy { fixed.contains($0.path) }
        guard !isKeyOrder else {
            for entry in group.sorted(by: { bytes($0.objectKey, precede: $1.objectKey) }) {
                guard try read(entry.objectKey, &source, form, body) else { return false }
            }
            return true
        }
        var matches: [(sortKey: [UInt8], key: [UInt8], made: Made)] = []
        let placed = form.placed
        for entry in group {
            _ = try read(entry.objectKey, &source, placed) { key, made in
                matches.append((placed.place(made, key), key, made))
                return true
            }
        }
        matches.sort { bytes($0.sortKey, precede: $1.sortKey) }
        for match in matches {
            guard try body(match.key, match.made) else { return false }
        }
        return true
    }
}
