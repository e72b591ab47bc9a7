import RoostCoding
import RoostEngine
import RoostIO
import Synchronization

/// Keeps objects of one type, each under its identifier: the actor that writes one JSON file on each
/// save, without its cost.
///
/// The objects are the values of a dictionary, whose keys are those of the identifiers (see
/// ``KeyRepresentable``). Calls that change something return once the durability asked for holds.
///
/// ```swift
/// let posts = workspace.repository(of: Post.self)
/// try await posts.save(post)
/// let found = try await posts.find(by: post.id)
/// ```
public final class Repository<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    /// Where the objects are: for all that a repository does not do.
    public let dictionary: WorkspaceDictionary
    let codec: ValueCodec<Item>
    let identifiers: IdentifierForm<Item.ID>
    /// `nil` where the type declares none.
    let indexes: ObjectIndexes<Item>?
    /// Of objects without indexes.
    let noMarks = KeptMarks([])
    /// Whether nothing has to be asked before an object is written here: the dictionary was named, or is this type's.
    private let mayWrite: Atomic<Bool>

    /// - Parameter isNamed: Whether the program has named the dictionary; else it has the type's name.
    init(
        _ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Item>,
        _ identifiers: IdentifierForm<Item.ID>, isNamed: Bool
    ) {
        mayWrite = Atomic(isNamed)
        self.dictionary = dictionary
        self.codec = codec
        self.identifiers = identifiers
        indexes = dictionary.workspace.objectIndexes.indexes(dictionary, codec)
        indexes?.beginAdopting()
    }

    /// The key of the object with this identifier, as the dictionary has it.
    public func key(of id: Item.ID) -> String { identifiers.key(id) }

    /// The identifier of an object that stands under this key, as errors and reports name it; `nil` where it is the key of
    /// none.
    public func id(ofKey key: String) -> Item.ID? { identifiers.identifier(key) }

    // MARK: Reading

    /// The object with this identifier, or `nil`; tasks that load the same cold one at once share one
    /// load.
    ///
    /// - Throws: as `load(_:as:)` of a dictionary.
    public func find(by id: Item.ID) async throws -> Item? {
        try await dictionary.loadShared(key(of: id), codec)
    }

    /// The object with this identifier, or `nil`. Does not suspend.
    ///
    /// - Throws: as `value(forKey:as:)` of a dictionary.
    public subscript(id: Item.ID) -> Item? {
        get throws { try dictionary.read(key(of: id), codec) }
    }

    /// Whether there is an object with this identifier. Decodes nothing, and does not suspend.
    ///
    /// - Throws: as `contains(_:)` of a dictionary.
    public func contains(_ id: Item.ID) throws -> Bool { try dictionary.contains(key(of: id)) }

    /// The objects with these identifiers at one moment, in the order of `ids`, without those that are not there: for what
    /// another object names. Does not suspend.
    ///
    /// - Throws: as `subscript(_:)`, for any of them.
    public func find(by ids: some Sequence<Item.ID>) throws -> [Item] {
        try dictionary.workspace.read { view in
            try ids.compactMap { try view.read(key(of: $0), dictionary, codec) }
        }
    }

    /// All objects at one moment, in the order of the keys of their identifiers.
    ///
    /// - Throws: as `find(by:)`, for any of them.
    public func loadAll() async throws -> [Item] {
        try await Self.items(of: entries(in: nil)).map(\.value)
    }

    /// How many objects there are; costs as ``WorkspaceDictionary/count``.
    public var count: Int { get throws { try dictionary.count } }

    /// Every change of the objects, from the call on, or from those after the version `since` on:
    /// see ``DictionaryChanges``.
    public func changes(
        since version: UInt64? = nil,
        bufferCapacity: Int = WorkspaceDictionary.defaultBufferCapacity
    ) -> DictionaryChanges<Item> {
        dictionary.changes(prefix: "", codec, version, bufferCapacity)
    }

    /// All objects, with their keys, at the moment from which on the changes are.
    func follow() async throws -> (
        items: [(key: String, value: Item)], changes: DictionaryChanges<Item>
    ) {
        let (changes, view) = try dictionary.changesAndView(codec)
        defer { view.close() }
        return (try await Self.items(of: entries(in: view)), changes)
    }

    private func entries(in view: ReadView?) -> EntrySequence<Item> {
        dictionary.entries(
            Result { try dictionary.range(prefix: "") }, nil, .ascending, codec, view)
    }

    private static func items(
        of entries: EntrySequence<Item>
    ) async throws -> [(key: String, value: Item)] {
        var items: [(key: String, value: Item)] = []
        for try await entry in entries { items.append(entry) }
        return items
    }

    func enqueue(_ item: Item, _ key: String) -> Result<Void, RoostError> {
        dictionary.enqueue(key) { try encoded(item) }
    }

    /// What is stored of an object.
    ///
    /// - Throws: `.encodingFailed`; `.conflict` where another type's objects are in the dictionary.
    func encoded(_ item: Item) throws -> EncodedValue {
        try claimDictionary()
        return try dictionary.encode(item, codec)
    }

    /// As before each write of an object: for those who write them by their keys.
    ///
    /// - Throws: `.conflict` where another type's objects are in the dictionary.
    package func claimDictionary() throws {
        if mayWrite.load(ordering: .relaxed) { return }
        try dictionary.workspace.repositoryOwners.claim(dictionary.name, for: Item.self)
        mayWrite.store(true, ordering: .relaxed)
    }
}
