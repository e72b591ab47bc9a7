import Roost
import RoostIO

/// Keeps objects of one type, each under its identifier, in a dictionary of a ``SharedWorkspace``.
///
/// The objects are the values of the dictionary, whose keys are those of the identifiers, as those of a
/// `Repository` of a `Workspace` are: either reads what the other has written, once it is copied.
///
/// Where the type is `Indexed`, the entries of its indexes are written in the same commit as the object, and
/// ``where(_:)`` asks them. An index counts once ``buildIndexes()`` has built it.
public struct SharedRepository<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    /// Where the objects are: for all that a repository does not do.
    public let dictionary: SharedDictionary
    let form: ValueForm<Item>
    /// `nil` where the type declares none.
    let indexes: DeclaredIndexes<Item>?
    private let key: @Sendable (Item.ID) -> String

    init(
        _ dictionary: SharedDictionary, _ form: ValueForm<Item>,
        _ key: @escaping @Sendable (Item.ID) -> String
    ) {
        self.dictionary = dictionary
        self.form = form
        self.key = key
        indexes = DeclaredIndexes()
    }

    private var workspace: SharedWorkspace { dictionary.workspace }

    /// The key of the object with this identifier, as the dictionary has it.
    public func key(of id: Item.ID) -> String { key(id) }

    // MARK: Reading

    /// The object with this identifier, or `nil`. Linearizable; one request.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`; what reading from the engine throws, as `contains` of a
    ///   dictionary does.
    public func find(by id: Item.ID) async throws -> Item? {
        try await dictionary.load(key(id), form: form)
    }

    /// The objects with these identifiers, all of one revision, in the order of `ids`, without those that are not there.
    /// A request for each, several at once.
    ///
    /// - Throws: as ``find(by:)``, for any of them; `.compacted` where it takes longer than the engine keeps the revision.
    public func find(by ids: some Sequence<Item.ID>) async throws -> [Item] {
        let keys = try ids.map { id in
            let key = key(id)
            return (text: key, bytes: try dictionary.engineKey(key))
        }
        guard let first = keys.first else { return [] }
        let name = try dictionary.checkedName()
        let connection = dictionary.connection
        let deadline = workspace.callEnd
        let (record, revision) = try await connection.record(first.bytes, before: deadline)
        let others = try await connection.records(
            keys.dropFirst().map(\.bytes), at: revision, before: deadline)
        return try zip(keys, [record] + others).compactMap { key, record in
            guard let live = connection.live(record) else { return nil }
            return try form.value(ofStored: live.value, key: key.text, in: name)
        }
    }

    /// The object with this identifier, or `nil`, and its version, for ``replace(_:with:)``.
    ///
    /// - Throws: as ``find(by:)``.
    public func entry(of id: Item.ID) async throws -> Entry<Item> {
        try await dictionary.loadEntry(key(id), form: form)
    }

    /// All objects of one revision, in the order of the keys of their identifiers.
    ///
    /// - Throws: as ``find(by:)``, for any of them; `.compacted` where it takes longer than the engine keeps
    ///   the revision.
    public func loadAll() async throws -> [Item] {
        var items: [Item] = []
        for try await entry in dictionary.entries(KeySelection(), form: form) {
            items.append(entry.value)
        }
        return items
    }

    /// How many objects there are. Reads all of their keys.
    ///
    /// - Throws: as `count` of the dictionary.
    public var count: Int { get async throws { try await dictionary.count } }

    /// Every change of the objects, from the next on, or from those after the version `since` on.
    public func changes(since version: UInt64? = nil) -> KeyValueChanges<Item> {
        dictionary.changes(KeySelection(), form: form, since: version)
    }

    // MARK: Changing

    /// Saves an object under its identifier; acknowledged by the engine's quorum when it returns. One request; of a
    /// type with indexes two, as its earlier entries are those of the object that was there.
    ///
    /// - Throws: `.notUnique`, whose cause names the index and the other object, with nothing changed; as `set` of
    ///   a dictionary. Of a type with indexes also `.valueTooLarge` where a value that is to be unique is too long,
    ///   `.decodingFailed` where the type does not decode what it has encoded, and `.conflict` where other writers were
    ///   first until the call's deadline. An index keeps its values unique from ``buildIndexes()`` on, until somebody
    ///   else's write takes it away.
    public func save(_ item: Item) async throws {
        guard indexes != nil else {
            return try await dictionary.set(item, forKey: key(item.id), expiresIn: nil, form: form)
        }
        try await workspace.transaction { try await $0.save(item, in: self) }
    }

    /// Saves objects in one commit; more than the engine takes at once, entries included, is `.tooLarge`. Of several
    /// with one identifier the last counts. Values that are to be unique are so once all are stored: objects may swap
    /// them.
    ///
    /// - Throws: as ``save(_:)``, for any of them, and then none is saved.
    public func saveAll(_ items: some Sequence<Item>) async throws {
        let pairs = items.map { (key($0.id), $0) }
        guard indexes != nil else { return try await dictionary.setAll(pairs, form: form) }
        try await workspace.transaction { attempt in
            try await attempt.prefetch(pairs.map(\.0), in: dictionary)
            try await attempt.changeTogether(pairs, in: self)
        }
    }

    /// Saves an object where none has its identifier.
    ///
    /// - Throws: `.alreadyExists`, with nothing changed; as ``save(_:)``.
    public func insert(_ item: Item) async throws {
        guard indexes == nil else {
            return try await workspace.transaction { try await $0.insert(item, in: self) }
        }
        let deadline = workspace.callEnd
        let engineKey = try dictionary.engineKey(key(item.id))
        var absent = Entry<Item>(
            key: key(item.id), value: nil, version: 0, in: try dictionary.checkedName())
        while true {
            do {
                _ = try await dictionary.replace(absent, with: item, form: form)
                return
            } catch let error as RoostError where error.code == .conflict {
                // One that has expired may not be removed yet: `find` does not find it.
                let (record, _) = try await dictionary.connection.record(
                    engineKey, before: deadline)
                guard dictionary.connection.live(record) == nil else {
                    throw alreadyThere(absent.key)
                }
                guard ContinuousClock.now < deadline else { throw error }
                absent = Entry(
                    key: absent.key, value: nil, version: record?.revision ?? 0,
                    in: try dictionary.checkedName())
            }
        }
    }

    /// Saves objects where none has their identifiers, in one commit.
    ///
    /// - Throws: `.alreadyExists` where one has an object, or two of them have one identifier; as ``saveAll(_:)``. Then none
    ///   is saved.
    public func insertAll(_ items: some Sequence<Item>) async throws {
        let pairs = items.map { (key($0.id), $0) }
        try await workspace.transaction { attempt in
            try await attempt.prefetch(pairs.map(\.0), in: dictionary)
            var seen: Set<[UInt8]> = []
            for (key, _) in pairs {
                let isThere = try await attempt.contains(key, in: dictionary)
                guard !isThere, seen.insert(Array(key.utf8)).inserted else {
                    throw alreadyThere(key)
                }
            }
            try await attempt.changeTogether(pairs, in: self)
        }
    }

    private func alreadyThere(_ key: String) -> RoostError {
        RoostError(.alreadyExists, "\"\(key)\" in \"\(dictionary.name)\" is there already")
    }

    /// Saves an object in the place of the version that was read.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first, and where the object has another
    ///   identifier than that of the entry; as ``save(_:)``.
    @discardableResult
    public func replace(_ entry: Entry<Item>, with item: Item) async throws -> Entry<Item> {
        // By the bytes, as strings take canonically equal ones for one.
        guard key(item.id).utf8.elementsEqual(entry.key.utf8) else {
            throw RoostError(
                .conflict,
                "the object that is to replace \"\(entry.key)\" in \"\(dictionary.name)\" has another identifier: save it under its own, and delete the old one"
            )
        }
        guard indexes != nil else {
            return try await dictionary.replace(entry, with: item, form: form)
        }
        let (_, revision) = try await workspace.committing { attempt in
            let engineKey = try dictionary.engineKey(entry.key)
            _ = try await attempt.stored(engineKey)
            guard attempt.version(ofRead: engineKey) == entry.version else {
                throw RoostError(
                    .conflict,
                    "\"\(entry.key)\" in \"\(dictionary.name)\" was changed by another writer: read it again"
                )
            }
            try await attempt.change(entry.key, to: item, in: self)
        }
        return Entry(
            key: entry.key, value: item, version: revision ?? 0, in: try dictionary.checkedName())
    }

    /// Changes the object with this identifier atomically; `body` gets `nil` where there is none, and removes it by
    /// leaving `nil`.
    ///
    /// - Throws: what `body` throws, and then nothing is changed; `.conflict` where it leaves an object of another identifier,
    ///   and where other writers were first until the call's deadline; as ``find(by:)`` and ``save(_:)``.
    @discardableResult
    public nonisolated(nonsending) func update<Result: Sendable>(
        _ id: Item.ID, _ body: (inout Item?) throws -> Result
    ) async throws -> Result {
        guard indexes != nil else {
            return try await dictionary.update(key(id), form: form) {
                try change(&$0, under: key(id), body)
            }
        }
        return try await workspace.transaction { attempt in
            var item = try await attempt.find(id, in: self)
            let wasThere = item != nil
            let result = try change(&item, under: key(id), body)
            if wasThere || item != nil {
                try await attempt.change(key(id), to: item, in: self)
            }
            return result
        }
    }

    /// Calls `body`, which may not leave an object of another identifier, by the bytes of its key. The object may stand under
    /// another key than its identifier's, where it was written by keys.
    private func change<Result>(
        _ item: inout Item?, under key: String, _ body: (inout Item?) throws -> Result
    ) throws -> Result {
        let before = item.map { self.key(of: $0.id) }
        let result = try body(&item)
        guard let after = item.map({ self.key(of: $0.id).utf8 }) else { return result }
        guard after.elementsEqual(key.utf8) || before.map({ after.elementsEqual($0.utf8) }) ?? false
        else {
            throw RoostError(
                .conflict,
                "an update of \"\(key)\" in \"\(dictionary.name)\" may not change its identifier")
        }
        return result
    }

    /// Changes the object with this identifier atomically, where there is one: `body` is not called where there is none.
    ///
    /// - Returns: what `body` returned; `nil` where there is no such object.
    /// - Throws: as the other `update(_:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Result: Sendable>(
        _ id: Item.ID, _ body: (inout Item) throws -> Result
    ) async throws -> Result? {
        try await update(id) { (found: inout Item?) -> Result? in
            guard var item = found else { return nil }
            let result = try body(&item)
            found = item
            return result
        }
    }

    /// Removes the object with this identifier; that there is none is no error.
    ///
    /// - Throws: as `removeValue(forKey:)` of a dictionary; of a type with indexes also `.conflict` where other writers
    ///   were first until the call's deadline.
    public func delete(_ id: Item.ID) async throws {
        guard indexes != nil else { return try await dictionary.remove(key: key(id)) }
        try await workspace.transaction { try await $0.delete(id, in: self) }
    }

    /// Removes the objects with these identifiers in one commit, as far as there are any; how many they were.
    ///
    /// - Throws: as ``delete(_:)``, for any of them; `.tooLarge` where they are more than the engine takes at once. Then none is
    ///   removed.
    @discardableResult
    public func deleteAll(ids: some Sequence<Item.ID>) async throws -> Int {
        let keys = ids.map { key($0) }
        return try await workspace.transaction { attempt in
            try await attempt.prefetch(keys, in: dictionary)
            var count = 0
            for key in keys {
                guard try await attempt.contains(key, in: dictionary) else { continue }
                try await attempt.change(key, to: nil, in: self)
                count += 1
            }
            return count
        }
    }
}

extension SharedWorkspace {
    /// The repository of the objects of a type.
    ///
    /// - Parameters:
    ///   - type: what it keeps.
    ///   - name: the name of its dictionary; the type's where it is `nil`.
    public func repository<Item: BinaryCodable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> SharedRepository<Item> where Item.ID: KeyRepresentable {
        SharedRepository(dictionary(name ?? "\(type)"), .binary()) { $0.key }
    }

    /// The repository of the objects of a type; as the other `repository(of:named:)`.
    @_disfavoredOverload
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> SharedRepository<Item> where Item.ID: KeyRepresentable {
        SharedRepository(dictionary(name ?? "\(type)"), .codable()) { $0.key }
    }

    /// The repository of the objects of a type whose identifiers have a raw value that is a key.
    @_disfavoredOverload
    public func repository<Item: BinaryCodable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> SharedRepository<Item>
    where Item.ID: RawRepresentable & Sendable, Item.ID.RawValue: KeyRepresentable {
        SharedRepository(dictionary(name ?? "\(type)"), .binary()) { $0.rawValue.key }
    }

    /// The repository of the objects of a type whose identifiers have a raw value that is a key.
    @_disfavoredOverload
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> SharedRepository<Item>
    where Item.ID: RawRepresentable & Sendable, Item.ID.RawValue: KeyRepresentable {
        SharedRepository(dictionary(name ?? "\(type)"), .codable()) { $0.rawValue.key }
    }

    /// The repository of the objects of a type that is coded in both ways, whose identifiers have a raw value that is a key.
    @_disfavoredOverload
    public func repository<Item: BinaryCodable & Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> SharedRepository<Item>
    where Item.ID: RawRepresentable & Sendable, Item.ID.RawValue: KeyRepresentable {
        SharedRepository(dictionary(name ?? "\(type)"), .binary()) { $0.rawValue.key }
    }

    /// The repository of the objects of a type whose identifiers are keys and have a raw value that is one.
    @_disfavoredOverload
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> SharedRepository<Item>
    where Item.ID: KeyRepresentable & RawRepresentable, Item.ID.RawValue: KeyRepresentable {
        SharedRepository(dictionary(name ?? "\(type)"), .codable()) { $0.key }
    }
}
