import RoostEngine

// Fields of the matching objects, without the rest of them.

extension Query {
    /// A field of each matching object, in the query's order: as `fetch().map(\.title)`, which makes the objects.
    ///
    /// Where the type says where its fields are (`StoredFields`), those that are asked for here, of the condition and of the order
    /// are read and no others, so that what does not decode elsewhere in an object is not noticed. An index saves reads as it does for
    /// ``fetch()``; the values themselves are read from the objects, as an entry does not give them back exactly.
    ///
    /// - Throws: as ``fetch()``.
    public func values<Value>(of path: KeyPath<Item, Value> & Sendable) throws -> [Value] {
        try atOneMoment { try values(Projection(path), &$0) }
    }

    /// Two fields of each matching object, in the query's order; as the call for one.
    ///
    /// ```swift
    /// for (id, title) in try posts.order(by: \.title).values(of: \.id, \.title) { menu.add(title, id) }
    /// ```
    public func values<A, B>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) throws -> [(A, B)] {
        try atOneMoment { try values(Projection(first, second), &$0) }
    }

    /// Three fields of each matching object, in the query's order; as the call for one.
    public func values<A, B, C>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) throws -> [(A, B, C)] {
        try atOneMoment { try values(Projection(first, second, third), &$0) }
    }

    func values<Value, Source: ObjectSource & ~Copyable>(
        _ projection: Projection<Item, Value>, _ source: inout Source
    ) throws -> [Value] {
        var values: [Value] = []
        try forEachValue(of: projection, &source) { values.append($0) }
        return values
    }
}

extension Repository {
    /// A field of each object, in the order of the identifiers' keys; as `values(of:)` of a query.
    public func values<Value>(of path: KeyPath<Item, Value> & Sendable) throws -> [Value] {
        try all.values(of: path)
    }

    /// Two fields of each object; as `values(of:_:)` of a query.
    public func values<A, B>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) throws -> [(A, B)] {
        try all.values(of: first, second)
    }

    /// Three fields of each object; as `values(of:_:)` of a query.
    public func values<A, B, C>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) throws -> [(A, B, C)] {
        try all.values(of: first, second, third)
    }
}
