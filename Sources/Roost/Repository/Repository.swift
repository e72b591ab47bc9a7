import RoostIO

/// Keeps items of one type, each under its identifier: the actor that writes one JSON file on each
/// save, without its cost.
///
/// The items are the values of a dictionary, whose keys are the identifiers' descriptions. All
/// calls suspend; those that change something return once the durability asked for holds.
///
/// ```swift
/// let posts = workspace.repository(of: Post.self)
/// try await posts.save(post)
/// let found = try await posts.find(by: post.id)
/// ```
public actor Repository<Item: Codable & Identifiable & Sendable>
where Item.ID: LosslessStringConvertible & Sendable {
    /// Where the items are: for all that a repository does not do.
    public nonisolated let dictionary: WorkspaceDictionary

    init(_ dictionary: WorkspaceDictionary) { self.dictionary = dictionary }

    // MARK: Reading

    /// The item with this identifier, or `nil`.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`, `.corrupt`, `.closed`, `.cancelled`.
    public func find(by id: Item.ID) async throws -> Item? {
        try await dictionary.load(id.description, as: Item.self)
    }

    /// All items at one moment, in the order of the bytes of their identifiers.
    ///
    /// - Throws: as `find(by:)`, for any of them.
    public func loadAll() async throws -> [Item] {
        try await Self.items(of: dictionary.entries(as: Item.self)).map(\.value)
    }

    /// How many items there are.
    public var count: Int { get throws { try dictionary.count } }

    /// Every change of the items, from the call on, or from those after the version `since` on:
    /// see ``DictionaryChanges``.
    public nonisolated func changes(
        since version: UInt64? = nil,
        bufferCapacity: Int = WorkspaceDictionary.defaultBufferCapacity
    ) -> DictionaryChanges<Item> {
        dictionary.changes(as: Item.self, since: version, bufferCapacity: bufferCapacity)
    }

    /// All items, with their keys, at the moment from which on the changes are.
    func follow() async throws -> (
        items: [(key: String, value: Item)], changes: DictionaryChanges<Item>
    ) {
        let (changes, view) = try dictionary.changesAndView(as: Item.self)
        defer { view.close() }
        return (try await Self.items(of: view.entries(of: dictionary, as: Item.self)), changes)
    }

    private static func items(
        of entries: EntrySequence<Item>
    ) async throws -> [(key: String, value: Item)] {
        var items: [(key: String, value: Item)] = []
        for try await entry in entries { items.append(entry) }
        return items
    }

    // MARK: Changing

    /// Stores an item, in the place of the one with its identifier if there is one.
    ///
    /// - Throws: as ``WorkspaceDictionary/set(_:forKey:durability:)-(Value,_,_)``.
    public func save(_ item: Item, durability: Durability? = nil) async throws {
        try await dictionary.set(item, forKey: item.id.description, durability: durability)
    }

    /// Stores many items as one batch: all of them or none. Of several with one identifier the
    /// last counts.
    public func saveAll(
        _ items: some Sequence<Item> & Sendable, durability: Durability? = nil
    ) async throws {
        try await dictionary.setAll(items.map { ($0.id.description, $0) }, durability: durability)
    }

    /// Removes the item with this identifier; if there is none that is no error.
    public func delete(_ id: Item.ID, durability: Durability? = nil) async throws {
        try await dictionary.removeValue(forKey: id.description, durability: durability)
    }

    /// Removes an item, by its identifier.
    public func delete(_ item: Item, durability: Durability? = nil) async throws {
        try await delete(item.id, durability: durability)
    }
}

extension Workspace {
    /// The repository of the items of a type. Costs nothing and touches nothing.
    ///
    /// - Parameter name: The dictionary that holds the items; the type's name, without its
    ///   module, where it is `nil`. Give one to types that are nested or may be renamed.
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item> where Item.ID: LosslessStringConvertible & Sendable {
        Repository(dictionary(name ?? "\(type)"))
    }
}
