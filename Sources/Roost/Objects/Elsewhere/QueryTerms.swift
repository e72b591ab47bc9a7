/// What a query asks for, whoever keeps the objects.
package struct QueryTerms<Item>: Sendable {
    var condition = ConditionNode<Item>.always(true)
    var orders: [OrderTerm<Item>] = []
    package var offsetCount = 0
    package var limitCount: Int?
    /// Whether objects that the order does not tell apart may come in any order.
    package var mixesTies = false
    /// Only what comes after the object with this sort key.
    package private(set) var cursor: [UInt8]?

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

    /// Whether all matches are asked for.
    package var isWhole: Bool { limitCount == nil && offsetCount == 0 && cursor == nil }

    /// In no order that was asked for.
    package mutating func removeOrders() { orders = [] }

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
        withUnsafePointer(to: item) { OrderTerm.sortKey(orders, $0, key) }
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

/// Pages.
extension QueryTerms {
    /// What is behind a cursor, with the limit that it leaves.
    ///
    /// - Throws: `.conflict` where the cursor is of another query.
    package func behind(_ cursor: PageCursor, of dictionary: String) throws -> QueryTerms {
        var rest = self
        rest.cursor = try cursor.sortKey(orders, of: dictionary, limitCount: limitCount)
        rest.limitCount = cursor.remainingCount
        rest.offsetCount = 0
        return rest
    }

    /// The cursor behind the last object of a page.
    ///
    /// - Parameter remainingCount: how many the query's limit allows to come yet.
    package func cursor(
        behind sortKey: [UInt8], of dictionary: String, remainingCount: Int?
    ) -> PageCursor {
        PageCursor(orders, of: dictionary, sortKey: sortKey, remainingCount: remainingCount)
    }

    /// Whether an object is behind the cursor.
    package func isBehindCursor(_ sortKey: [UInt8]) -> Bool {
        cursor.map { $0.lexicographicallyPrecedes(sortKey) } ?? true
    }

    /// What of ranges of keys is behind the cursor, as far as the keys say that.
    package func behindCursor(_ ranges: [KeyBounds]) -> [KeyBounds] {
        guard let key = cursorKey, let order = OrderTerm.keyOrder(of: orders) else { return ranges }
        let intervals = ranges.map { IndexRegion.Interval(lower: $0.lower, upper: $0.upper) }
        return Roost.behind(key, order, intervals).map {
            KeyBounds(lower: $0.lower, upper: $0.upper)
        }
    }

    /// Which of keys, which are in order, are behind the cursor, as far as the keys say that.
    package func behindCursor(_ keys: [[UInt8]]) -> [[UInt8]] {
        guard let key = cursorKey, let order = OrderTerm.keyOrder(of: orders) else { return keys }
        return keys.filter {
            order == .ascending
                ? key.lexicographicallyPrecedes($0) : $0.lexicographicallyPrecedes(key)
        }
    }

    var cursorKey: [UInt8]? { cursor.flatMap { OrderTerm.key(inCursor: $0, of: orders) } }
}
