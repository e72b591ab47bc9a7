/// What objects are grouped by.
package enum GroupValues<Item, Value: Hashable>: Sendable {
    /// One value of each object, of one field or of several.
    case one([FieldPath], Projection<Item, Value>)
    /// Each distinct element of a field.
    case each(FieldPath, Projection<Item, [Value]>)

    /// The fields, or the one whose elements.
    package var paths: [FieldPath] {
        switch self {
        case .one(let paths, _): paths
        case .each(let path, _): [path]
        }
    }

    /// The value of a field.
    package static func field(_ path: KeyPath<Item, Value> & Sendable) -> GroupValues {
        .one([FieldPath(path)], Projection(path))
    }

    /// The values of two fields together.
    package static func fields<A: Hashable & SendableMetatype, B: Hashable & SendableMetatype>(
        _ first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) -> GroupValues where Value == GroupKey<A, B> {
        let values = Projection(first, second).map { GroupKey($0, $1) }
        return .one([FieldPath(first), FieldPath(second)], values)
    }

    /// The values of three fields together.
    package static func fields<
        A: Hashable & SendableMetatype, B: Hashable & SendableMetatype,
        C: Hashable & SendableMetatype
    >(
        _ first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) -> GroupValues where Value == GroupKey<A, B, C> {
        let values = Projection(first, second, third).map { GroupKey($0, $1, $2) }
        return .one([FieldPath(first), FieldPath(second), FieldPath(third)], values)
    }

    /// Each element of a field, once of an object however often it has it.
    package static func elements<Elements: Collection & SendableMetatype>(
        _ path: KeyPath<Item, Elements> & Sendable
    ) -> GroupValues where Elements.Element == Value, Value: SendableMetatype {
        .each(FieldPath(path, isEach: true), Projection(path).map { distinct($0) })
    }

    /// Each element of a field that may be `nil`, and then has none.
    package static func elements<Elements: Collection & SendableMetatype>(
        _ path: KeyPath<Item, Elements?> & Sendable
    ) -> GroupValues where Elements.Element == Value, Value: SendableMetatype {
        let elements = Projection(path).map { $0.map { distinct($0) } ?? [] }
        return .each(FieldPath(path, isEach: true), elements)
    }

    private static func distinct(_ elements: some Collection<Value>) -> [Value] {
        guard elements.count > 1 else { return Array(elements) }
        var seen: Set<Value> = []
        return elements.filter { seen.insert($0).inserted }
    }
}

extension Query {
    /// The matching objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> GroupedQuery<Item, Value> {
        GroupedQuery(query: self, values: .field(path))
    }

    /// The matching objects by the values of two fields together.
    ///
    /// ```swift
    /// let counts = try posts.grouped(by: \.color, \.author.name).counts()
    /// let red = counts[GroupKey(.red, "Ada")] ?? 0
    /// ```
    public func grouped<A: Hashable & SendableMetatype, B: Hashable & SendableMetatype>(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) -> GroupedQuery<Item, GroupKey<A, B>> {
        GroupedQuery(query: self, values: .fields(first, second))
    }

    /// The matching objects by the values of three fields together; as the call for two.
    public func grouped<
        A: Hashable & SendableMetatype, B: Hashable & SendableMetatype,
        C: Hashable & SendableMetatype
    >(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) -> GroupedQuery<Item, GroupKey<A, B, C>> {
        GroupedQuery(query: self, values: .fields(first, second, third))
    }

    /// The matching objects by each element of a field: an object counts once for every element that it has, however often
    /// it has it, and an object without elements not at all.
    ///
    /// ```swift
    /// let counts = try posts.grouped(byEach: \.tags).counts()        // how many posts have each tag
    /// ```
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements> & Sendable
    ) -> GroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        GroupedQuery(query: self, values: .elements(path))
    }

    /// The matching objects by each element of a field that may be `nil`, and then has none.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements?> & Sendable
    ) -> GroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        GroupedQuery(query: self, values: .elements(path))
    }
}

extension Repository {
    /// All objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> GroupedQuery<Item, Value> {
        all.grouped(by: path)
    }

    /// All objects by the values of two fields together; as `grouped(by:_:)` of a query.
    public func grouped<A: Hashable & SendableMetatype, B: Hashable & SendableMetatype>(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) -> GroupedQuery<Item, GroupKey<A, B>> {
        all.grouped(by: first, second)
    }

    /// All objects by the values of three fields together; as `grouped(by:_:)` of a query.
    public func grouped<
        A: Hashable & SendableMetatype, B: Hashable & SendableMetatype,
        C: Hashable & SendableMetatype
    >(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) -> GroupedQuery<Item, GroupKey<A, B, C>> {
        all.grouped(by: first, second, third)
    }

    /// All objects by each element of a field; as `grouped(byEach:)` of a query.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements> & Sendable
    ) -> GroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        all.grouped(byEach: path)
    }

    /// All objects by each element of a field that may be `nil`, and then has none.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements?> & Sendable
    ) -> GroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        all.grouped(byEach: path)
    }
}
