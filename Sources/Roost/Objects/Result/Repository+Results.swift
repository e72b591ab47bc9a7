// What a repository gives of all its objects: each as `all` gives it, which is a query.

extension Repository {
    /// All objects, in the order of the keys of their identifiers. Does not suspend; ``loadAll()`` does.
    ///
    /// - Throws: as ``Query/fetch()``.
    public func fetch() throws -> [Item] { try all.fetch() }

    /// The first object in the order of the keys of the identifiers.
    ///
    /// - Throws: as ``Query/fetch()``.
    public func first() throws -> Item? { try all.first() }

    /// Whether there is no object. Looks for one at most.
    ///
    /// - Throws: as ``Query/fetch()``.
    public var isEmpty: Bool { get throws { try all.isEmpty() } }

    /// At most so many of the objects; see ``Query/limit(_:)``.
    public func limit(_ count: Int) -> Query<Item> { all.limit(count) }

    /// Calls `body` with each object; as ``Query/forEach(_:)``.
    public func forEach(_ body: (Item) throws -> Void) throws { try all.forEach(body) }

    /// The next objects after a cursor, at most `limit`; as ``Query/page(after:limit:)``.
    public func page(after cursor: PageCursor?, limit: Int) throws -> Page<Item> {
        try all.page(after: cursor, limit: limit)
    }

    /// All objects, and all again after each change; as ``Query/updates()``.
    public func updates() -> LiveUpdates<Item> { all.updates() }

    /// Removes all objects, as one batch; how many they were. As ``Query/deleteAll(durability:)``.
    @discardableResult
    public nonisolated(nonsending) func deleteAll(durability: Durability? = nil) async throws -> Int
    {
        try await all.deleteAll(durability: durability)
    }

    // MARK: Values

    /// The smallest value of a field; as `min(of:)` of a query.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value? {
        try all.min(of: path)
    }

    /// The largest value of a field; as `max(of:)` of a query.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value? {
        try all.max(of: path)
    }

    /// The smallest value of a field among the objects that have one.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value? {
        try all.min(of: path)
    }

    /// The largest value of a field among the objects that have one.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value? {
        try all.max(of: path)
    }

    /// The sum of a field; as `sum(of:)` of a query.
    public func sum<Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value {
        try all.sum(of: path)
    }

    /// The sum of a field over the objects that have a value in it.
    public func sum<Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value {
        try all.sum(of: path)
    }

    /// The average of a field; as `average(of:)` of a query.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value.Average? {
        try all.average(of: path)
    }

    /// The average of a field over the objects that have a value in it.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value.Average? {
        try all.average(of: path)
    }
}
