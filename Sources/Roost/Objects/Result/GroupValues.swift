/// What objects are grouped by.
enum GroupValues<Item, Value: Hashable>: Sendable {
    /// One value of each object, of one field or of several.
    case one([FieldPath], Projection<Item, Value>)
    /// Each distinct element of a field.
    case each(FieldPath, Projection<Item, [Value]>)
}

extension Query {
    /// The matching objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> GroupedQuery<Item, Value> {
        GroupedQuery(query: self, values: .one([FieldPath(path)], Projection(path)))
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
        let values = Projection(first, second).map { GroupKey($0, $1) }
        return GroupedQuery(
            query: self, values: .one([FieldPath(first), FieldPath(second)], values))
    }

    /// The matching objects by the values of three fields together; as the call for two.
    public func grouped<
        A: Hashable & SendableMetatype, B: Hashable & SendableMetatype,
        C: Hashable & SendableMetatype
    >(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) -> GroupedQuery<Item, GroupKey<A, B, C>> {
        let values = Projection(first, second, third).map { GroupKey($0, $1, $2) }
        let paths = [FieldPath(first), FieldPath(second), FieldPath(third)]
        return GroupedQuery(query: self, values: .one(paths, values))
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
        let elements = Projection(path).map { Self.distinct($0) }
        return GroupedQuery(query: self, values: .each(FieldPath(path, isEach: true), elements))
    }

    /// The matching objects by each element of a field that may be `nil`, and then has none.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements?> & Sendable
    ) -> GroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        let elements = Projection(path).map { $0.map { Self.distinct($0) } ?? [] }
        return GroupedQuery(query: self, values: .each(FieldPath(path, isEach: true), elements))
    }

    private static func distinct<Elements: Collection>(
        _ elements: Elements
    ) -> [Elements.Element] where Elements.Element: Hashable {
        guard elements.count > 1 else { return Array(elements) }
        var seen: Set<Elements.Element> = []
        return elements.filter { seen.insert($0).inserted }
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
