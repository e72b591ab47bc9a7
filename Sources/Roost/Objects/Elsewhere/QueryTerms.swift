/// What a query asks for, whoever keeps the objects.
package struct QueryTerms<Item>: Sendable {
    var condition = ConditionNode<Item>.always(true)
    var orders: [OrderTerm<Item>] = []
    package var offsetCount = 0
    package var limitCount: Int?

    package init() {}

    package mutating func add(_ added: Condition<Item>) { condition = .all(condition, added.node) }

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

extension QueryTerms where Item: Identifiable & Sendable, Item.ID: Sendable {
    package mutating func add<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder
    ) {
        orders.append(OrderTerm(path, order, IdentifierCondition.order(of: path)))
    }

    package mutating func add(_ field: OrderedField<Item>) {
        orders.append(OrderTerm(field, IdentifierCondition<Item>.order(of: field.field.path)))
    }

    /// The keys of the only objects that can match, in order, each once; `nil` where the condition does not say it.
    package func identifierKeys(_ key: (Item.ID) -> String) -> [[UInt8]]? {
        guard let keys = IdentifierCondition(condition)?.keys(key) else { return nil }
        return Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The ranges of keys that all objects that can match are in, in order; `nil` where the condition leaves none out.
    package var identifierRanges: [KeyBounds]? {
        IdentifierCondition(condition)?.ranges?.map { KeyBounds(lower: $0.lower, upper: $0.upper) }
    }

    /// Whether the objects that match are those whose keys are in `identifierRanges`, or all.
    package var isSaidByKeys: Bool {
        isUnconditional || IdentifierCondition(condition)?.isAll ?? false
    }

    /// In which order of the keys the objects are in the order that is asked for; `nil` where in none.
    package var keyOrder: ScanOrder? { OrderTerm.keyOrder(of: orders) }
}
