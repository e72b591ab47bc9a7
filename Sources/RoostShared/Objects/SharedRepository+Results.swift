import Roost

// What a repository gives of all its objects: each as `all` gives it, which is a query.

extension SharedRepository {
    /// All objects, in the order of the keys of their identifiers; as ``loadAll()``.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public func fetch() async throws -> [Item] { try await all.fetch() }

    /// The first object in the order of the keys of the identifiers.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public func first() async throws -> Item? { try await all.first() }

    /// Whether there is no object. Looks for one at most.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public var isEmpty: Bool { get async throws { try await all.isEmpty() } }

    /// At most so many of the objects; as ``SharedQuery/limit(_:)``.
    public func limit(_ count: Int) -> SharedQuery<Item> { all.limit(count) }

    /// The next objects after a cursor, at most `limit`; as ``SharedQuery/page(after:limit:)``.
    public func page(after cursor: PageCursor?, limit: Int) async throws -> Page<Item> {
        try await all.page(after: cursor, limit: limit)
    }

    /// All objects, and all again after each change; as ``SharedQuery/updates()``.
    public func updates() -> KeyValueSequence<[Item]> { all.updates() }

    /// Removes all objects, as one commit; how many they were. As ``SharedQuery/deleteAll()``, with what that says of many.
    @discardableResult
    public nonisolated(nonsending) func deleteAll() async throws -> Int {
        try await all.deleteAll()
    }

    // MARK: Values

    /// The smallest value of a field; as `min(of:)` of a query.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value? {
        try await all.min(of: path)
    }

    /// The largest value of a field; as `max(of:)` of a query.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value? {
        try await all.max(of: path)
    }

    /// The smallest value of a field among the objects that have one.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value? {
        try await all.min(of: path)
    }

    /// The largest value of a field among the objects that have one.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value? {
        try await all.max(of: path)
    }

    /// The sum of a field; as `sum(of:)` of a query.
    public func sum<Value: AdditiveArithmetic & Sendable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value {
        try await all.sum(of: path)
    }

    /// The sum of a field over the objects that have a value in it.
    public func sum<Value: AdditiveArithmetic & Sendable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value {
        try await all.sum(of: path)
    }

    /// The average of a field; as `average(of:)` of a query.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value.Average? where Value.Average: Sendable {
        try await all.average(of: path)
    }

    /// The average of a field over the objects that have a value in it.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value.Average? where Value.Average: Sendable {
        try await all.average(of: path)
    }

    /// The different values of a field, in order; as `distinct(_:)` of a query.
    public func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable
    ) async throws -> [Value] {
        try await all.distinct(path)
    }

    /// A field of each object, in the order of the identifiers' keys; as `values(of:)` of a query.
    public func values<Value: Sendable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> [Value] {
        try await all.values(of: path)
    }

    /// Two fields of each object; as `values(of:_:)` of a query.
    public func values<A: Sendable, B: Sendable>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) async throws -> [(A, B)] {
        try await all.values(of: first, second)
    }

    /// Three fields of each object; as `values(of:_:)` of a query.
    public func values<A: Sendable, B: Sendable, C: Sendable>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) async throws -> [(A, B, C)] {
        try await all.values(of: first, second, third)
    }
}
