import RoostIO

/// Objects of a repository that match a condition, in an order, as many as wanted.
///
/// A query is a value: making one costs nothing and reads nothing. It is run by `fetch` and the others,
/// on any thread and without suspending; each run sees one moment. In a ``ReadView`` and a
/// ``Transaction`` it sees theirs.
///
/// ```swift
/// let urgent = posts.where { $0.priority > 100 && $0.color == .red }
/// let shown = try urgent.order(by: \.priority, .descending).limit(20).fetch()
/// ```
///
/// - Without an order objects come in the order of their identifiers' keys, and so do those that an order
///   does not tell apart.
/// - An index is used where one is complete and saves reads, and what it gives is what reading every
///   object would give. ``explain()`` says which.
public struct Query<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    let repository: Repository<Item>
    var condition = ConditionNode<Item>.always(true)
    var orders: [OrderTerm<Item>] = []
    var offsetCount = 0
    var limitCount: Int?
    /// Only what comes after this in the order.
    var cursor: [UInt8]?
    /// Is told of objects that do not decode, which are passed by; `nil` where such a one is an error.
    var undecodable: (@Sendable (_ key: String, _ error: RoostError) -> Void)?
    /// The indexes to look at; those of now where it is `nil`.
    var indexSet: IndexSet<Item>?

    init(_ repository: Repository<Item>) { self.repository = repository }

    /// The objects of these that match another condition too.
    public func `where`<Added: ConditionConvertible>(
        _ condition: (Row<Item>) -> Added
    ) -> Query where Added.Root == Item {
        self.where(condition(Row()).condition)
    }

    /// The objects of these that match another condition too.
    public func `where`(_ condition: Condition<Item>) -> Query {
        var query = self
        query.condition = .all(query.condition, condition.node)
        return query
    }

    /// In the order of a field; after the orders that were asked for before. `nil` is before all
    /// others, and NaN after them.
    ///
    /// Objects stand in the order of an identifier that is an integer or a `UUID`: in it, ascending or descending, a
    /// query with a limit reads what it gives.
    ///
    /// The key path is asked of every match, by the program's own code: `\.tags[0]` ends the program at an object without
    /// tags, as anywhere else. Order by `\.tags.first`.
    public func order<Value: IndexRepresentable>(
        by path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder = .ascending
    ) -> Query {
        var query = self
        query.orders.append(OrderTerm(path, order, IdentifierCondition.order(of: path)))
        return query
    }

    /// In the order of several fields, the first the most significant; after the orders that were asked for before. For
    /// an order that is chosen while the program runs:
    ///
    /// ```swift
    /// let columns: [String: OrderedField<Post>] = ["title": .ascending(\.title), "-priority": .descending(\.priority)]
    /// let shown = posts.all.order(by: asked.compactMap { columns[$0] })
    /// ```
    public func order(by fields: [OrderedField<Item>]) -> Query {
        var query = self
        query.orders += fields.map { field in
            OrderTerm(field, IdentifierCondition<Item>.order(of: field.field.path))
        }
        return query
    }

    /// At most so many; with a negative limit, as a request may bring one, none.
    public func limit(_ count: Int) -> Query {
        var query = self
        query.limitCount = Swift.min(Swift.max(count, 0), limitCount ?? .max)
        return query
    }

    /// Without the first so many, which are passed by: a page by ``page(after:limit:)`` costs less. A
    /// negative offset passes none by.
    public func offset(_ count: Int) -> Query {
        var query = self
        let (sum, hasOverflown) = offsetCount.addingReportingOverflow(Swift.max(count, 0))
        query.offsetCount = hasOverflown ? .max : sum
        return query
    }

    /// Passes by objects that are looked at and do not decode, and reports each, with its key. Without, such
    /// a one is the query's error. Each match is looked at to be counted, also where an index says all about the condition.
    ///
    /// - Parameter report: Is called on the thread that runs the query, more than once for an object that it
    ///   looks at again. The error is `.decodingFailed` or `.typeMismatch`; all others still end the query.
    public func skippingUndecodable(
        _ report: @escaping @Sendable (_ key: String, _ error: RoostError) -> Void
    ) -> Query {
        var query = self
        query.undecodable = report
        return query
    }
}

/// One field that objects are ordered by.
struct OrderTerm<Item>: Sendable {
    let path: FieldPath
    let isDescending: Bool
    /// Where the field is the identifier, and the objects stand in its order.
    let identifierOrder: IdentifierOrder?
    let encode: @Sendable (UnsafePointer<Item>, inout IndexForm) -> Void

    init<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder,
        _ identifierOrder: IdentifierOrder? = nil
    ) {
        let isDescending = order == .descending
        self.path = FieldPath(path)
        self.isDescending = isDescending
        self.identifierOrder = identifierOrder
        encode = Self.encoding(path, isDescending: isDescending)
    }

    /// Appends what an object is sorted by.
    static func encoding<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, isDescending: Bool
    ) -> @Sendable (UnsafePointer<Item>, inout IndexForm) -> Void {
        let access = FieldAccess(path)
        return { object, form in
            let start = form.bytes.count
            access.value(of: object).encode(into: &form)
            if isDescending { form.invert(from: start) }
        }
    }

    init(_ ordered: OrderedField<Item>, _ identifierOrder: IdentifierOrder?) {
        path = ordered.field.path
        isDescending = ordered.field.isDescending
        self.identifierOrder = identifierOrder
        encode = ordered.encode
    }

    /// In which order of the keys objects are in these orders; `nil` where in none.
    static func keyOrder(of orders: [OrderTerm]) -> ScanOrder? {
        guard let first = orders.first else { return .ascending }
        guard first.identifierOrder != nil else { return nil }
        return first.isDescending ? .descending : .ascending
    }

    /// Where an object stands in these orders: keys compare by their bytes as the objects do.
    /// Each ends in the object's key, which is also what an identifier's place in the order is: no more is asked of the order
    /// behind it.
    static func sortKey(
        _ orders: [OrderTerm], _ object: UnsafePointer<Item>, _ key: some Collection<UInt8>
    ) -> [UInt8] {
        var form = IndexForm.whole
        for order in orders {
            guard order.identifierOrder == nil else {
                if order.isDescending { form.append(inverting: key) }
                break
            }
            order.encode(object, &form)
        }
        return form.bytes + key
    }

    /// The object's key in a cursor, where the keys say the order.
    static func key(inCursor cursor: [UInt8], of orders: [OrderTerm]) -> [UInt8]? {
        guard let first = orders.first else { return cursor }
        guard first.identifierOrder != nil else { return nil }
        return cursor.withUnsafeBytes { first.key(inSortKey: $0, from: 0) }
    }

    /// Of the identifier: the key in a sort key in which its place begins at `start`; `nil` where there is none.
    func key(inSortKey bytes: UnsafeRawBufferPointer, from start: Int) -> [UInt8]? {
        guard isDescending else { return Array(bytes[start...]) }
        return IndexShape.Layout.escaped.end(in: bytes, from: start, isInverted: true)
            .map { Array(bytes[$0.end...]) }
    }
}

extension Query {
    /// Of the orders those that the objects' keys do not say already: none is asked for behind an identifier, and an
    /// ascending one is what objects come in by themselves.
    var ordersBeforeKeys: ArraySlice<OrderTerm<Item>> {
        guard let place = orders.firstIndex(where: { $0.identifierOrder != nil }) else {
            return orders[...]
        }
        return orders[..<(orders[place].isDescending ? place + 1 : place)]
    }

    /// Whether all matches are asked for.
    var isWhole: Bool { limitCount == nil && offsetCount == 0 && cursor == nil }

    /// In which order of the keys the objects are in the query's order; `nil` where in none.
    var keyOrder: ScanOrder? { OrderTerm.keyOrder(of: orders) }

    /// The key that the cursor is at, where the keys say the order.
    var cursorKey: [UInt8]? { cursor.flatMap { OrderTerm.key(inCursor: $0, of: orders) } }

    /// The condition as stored bytes answer it; `nil` where they cannot, as where migrations make other
    /// objects of them.
    var storedCondition: StoredCondition? {
        repository.dictionary.workspace.migrations.isEmpty ? StoredCondition(condition) : nil
    }

    /// Where an object stands in the order; see ``OrderTerm/sortKey(_:_:_:)``.
    func sortKey(_ object: UnsafePointer<Item>, _ key: some Collection<UInt8>) -> [UInt8] {
        OrderTerm.sortKey(orders, object, key)
    }
}

extension Repository {
    /// All objects, as a query.
    public var all: Query<Item> { Query(self) }

    /// The objects that match a condition. The closure is run once, to make it.
    public func `where`<Made: ConditionConvertible>(
        _ condition: (Row<Item>) -> Made
    ) -> Query<Item> where Made.Root == Item {
        all.where(condition)
    }

    /// The objects that match a condition.
    public func `where`(_ condition: Condition<Item>) -> Query<Item> { all.where(condition) }

    /// All objects in the order of a field; see ``Query/order(by:_:)``.
    public func order<Value: IndexRepresentable>(
        by path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder = .ascending
    ) -> Query<Item> {
        all.order(by: path, order)
    }

    /// All objects in the order of several fields; see ``Query/order(by:)``.
    public func order(by fields: [OrderedField<Item>]) -> Query<Item> { all.order(by: fields) }
}
