/// What a query asks for, whoever keeps the objects.
package struct QueryTerms<Item>: Sendable {
    var condition = ConditionNode<Item>.always(true)
    var orders: [OrderTerm<Item>] = []
    package var offsetCount = 0
    package var limitCount: Int?

    package init() {}

    package mutating func add(_ added: Condition<Item>) { condition = .all(condition, added.node) }

    package mutating func add<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder
    ) {
        orders.append(OrderTerm(path, order))
    }

    /// Whether every object matches.
    package var isUnconditional: Bool {
        if case .always(true) = condition { true } else { false }
    }

    /// Whether no object can match.
    package var isImpossible: Bool {
        if case .always(false) = condition { true } else { false }
    }

    package var hasOrder: Bool { !orders.isEmpty }

    /// How many matches are looked at, from the first in the query's order.
    package var wantedCount: Int {
        guard let limitCount else { return .max }
        let (sum, hasOverflown) = limitCount.addingReportingOverflow(offsetCount)
        return hasOverflown ? .max : sum
    }

    package func matches(_ item: Item) throws -> Bool {
        try withUnsafePointer(to: item) { try condition.matches($0) }
    }

    /// Where an object stands in the order: keys compare by their bytes as the objects do.
    package func sortKey(_ item: Item, _ key: [UInt8]) -> [UInt8] {
        var form = IndexForm.whole
        withUnsafePointer(to: item) { object in
            for order in orders { order.encode(object, &form) }
        }
        return form.bytes + key
    }

    /// The condition and the order, for people.
    package var text: String {
        let order = orders.map { $0.path.name + ($0.isDescending ? " descending" : "") }
        return "\(condition)" + (order.isEmpty ? "" : " by \(order.joined(separator: ", "))")
    }
}
