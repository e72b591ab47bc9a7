import RoostEngine
import RoostIO

// What a query gives. Each stands three times: by itself, at a moment of its own; in a read view; in a
// transaction, which remembers what was read, so that nobody adds, changes or removes a match meanwhile.

extension Query {
    /// The matching objects, in order. Does not suspend.
    ///
    /// - Throws: `.decodingFailed` and `.typeMismatch`, naming the key, where an object that was looked at
    ///   is none; `.corrupt`; `.closed`.
    public func fetch() throws -> [Item] { try atOneMoment { try fetch(&$0) } }

    /// The first of the matching objects.
    public func first() throws -> Item? { try limit(1).fetch().first }

    /// How many objects match.
    public func count() throws -> Int { try atOneMoment { try count(&$0) } }

    /// Whether no object matches.
    public func isEmpty() throws -> Bool { try limit(1).count() == 0 }

    /// Calls `body` with each matching object, in order. The result is never all in memory; of a query
    /// whose order no index has, the keys are.
    public func forEach(_ body: (Item) throws -> Void) throws {
        try atOneMoment { source in
            try forEach(&source) { _, item in try body(item) }
        }
    }

    private func atOneMoment<Result>(_ body: (inout ViewSource) throws -> Result) throws -> Result {
        let view = try repository.dictionary.workspace.engine.view()
        defer { view.close() }
        var source = ViewSource(view: view)
        return try body(&source)
    }
}

extension ReadView {
    /// The objects that matched at the view's moment.
    public func fetch<Item>(_ query: Query<Item>) throws -> [Item] {
        check(query.repository.dictionary)
        var source = ViewSource(view: engineView)
        return try query.fetch(&source)
    }

    /// The first of the objects that matched at the view's moment.
    public func first<Item>(_ query: Query<Item>) throws -> Item? {
        try fetch(query.limit(1)).first
    }

    /// How many objects matched at the view's moment.
    public func count<Item>(of query: Query<Item>) throws -> Int {
        check(query.repository.dictionary)
        var source = ViewSource(view: engineView)
        return try query.count(&source)
    }

    /// How many objects a repository had at the view's moment.
    public func count<Item>(of repository: Repository<Item>) throws -> Int {
        try count(of: repository.dictionary)
    }

    /// The object that had an identifier at the view's moment.
    public func find<Item>(_ id: Item.ID, in repository: Repository<Item>) throws -> Item? {
        try read(repository.key(of: id), repository.dictionary, repository.codec)
    }
}

extension Transaction {
    /// The matching objects, as the body has left them. That there are no others is remembered.
    public mutating func fetch<Item>(_ query: Query<Item>) throws -> [Item] {
        try pinned(query).fetch(&attempt)
    }

    /// The first of the matching objects.
    public mutating func first<Item>(_ query: Query<Item>) throws -> Item? {
        try fetch(query.limit(1)).first
    }

    /// How many objects match.
    public mutating func count<Item>(of query: Query<Item>) throws -> Int {
        try pinned(query).count(&attempt)
    }

    /// Removes the matching objects; how many they were.
    @discardableResult
    public mutating func deleteAll<Item>(_ query: Query<Item>) throws -> Int {
        let keys = try pinned(query).keys(&attempt)
        for key in keys { _ = try delete(key: key, query.repository) }
        return keys.count
    }

    /// Changes the matching objects; how many they were.
    @discardableResult
    public mutating func updateAll<Item>(
        _ query: Query<Item>, _ body: (inout Item) throws -> Void
    ) throws -> Int {
        let items = try fetch(query)
        for item in items { try update(item.id, in: query.repository, body) }
        return items.count
    }

    /// `query` by the indexes that this attempt writes.
    private mutating func pinned<Item>(_ query: Query<Item>) throws -> Query<Item> {
        _ = try checkedName(query.repository.dictionary)
        var pinned = query
        pinned.indexSet = try indexSet(of: query.repository)
        return pinned
    }
}

extension Query {
    /// Removes the matching objects, as one batch; how many they were.
    @discardableResult
    public nonisolated(nonsending) func deleteAll(durability: Durability? = nil) async throws -> Int
    {
        try await repository.change(durability) { try $0.deleteAll(self) }
    }

    /// Changes the matching objects, as one batch; how many they were. `body` runs on the caller's
    /// actor, and again where another writer was there first.
    @discardableResult
    public nonisolated(nonsending) func updateAll(
        durability: Durability? = nil, _ body: (inout Item) throws -> Void
    ) async throws -> Int {
        try await repository.change(durability) { try $0.updateAll(self, body) }
    }
}
