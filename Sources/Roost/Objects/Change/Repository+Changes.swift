import RoostEngine
import RoostIO

extension Repository {
    /// Stores an object whose identifier has none yet.
    ///
    /// - Throws: `.alreadyExists` where it has one, `.notUnique`, whose cause names the index and the
    ///   other object, where a value that is to be unique is taken; as `save`.
    public nonisolated(nonsending) func insert(
        _ item: Item, durability: Durability? = nil
    ) async throws {
        try await change(durability) {
            try $0.insert(item, in: self)
        } otherwise: {
            try $0.insert(item, in: self)
        }
    }

    /// Stores an object, in the place of the one with its identifier if there is one.
    ///
    /// - Throws: `.notUnique`; `.decodingFailed` where the type does not decode what it has encoded and that takes
    ///   the object to make its index entries (`StoredFields`); as `set(_:forKey:durability:)` of a dictionary. Of a
    ///   type that declares indexes also `.conflict`, where the dictionary has the indexes of another type while the
    ///   workspace is open, and as `transaction`.
    public nonisolated(nonsending) func save(
        _ item: Item, durability: Durability? = nil
    ) async throws {
        guard indexes != nil else {
            try checkCancellation()
            let encoded = try encoded(item)
            return try await dictionary.write(encoded, key(of: item.id), durability)
        }
        try await change(durability) {
            try $0.save(item, in: self)
        } otherwise: {
            try $0.save(item, in: self)
        }
    }

    /// Stores many objects as one batch: all of them or none. Of several with one identifier the
    /// last counts. Values that are to be unique are so once all are stored: objects may swap them.
    ///
    /// - Throws: as `save`, for any of them; `.valueTooLarge` where all of them have more than 1 GiB. Then none
    ///   is stored.
    public nonisolated(nonsending) func saveAll(
        _ items: some Sequence<Item>, durability: Durability? = nil
    ) async throws {
        guard indexes == nil else {
            let items = Array(items)
            return try await change(durability) { transaction in
                try transaction.saveAll(items, in: self)
            }
        }
        var batch = EncodedBatch(hashSeed: dictionary.workspace.engine.hashSeed)
        let name = try dictionary.checkedName()
        for item in items {
            batch.put(try encoded(item), forKey: key(of: item.id), in: name)
        }
        try checkCancellation()
        _ = try await dictionary.workspace.engine.commit(batch, durability: durability)
    }

    /// Changes the object with this identifier atomically: no other write of it falls between. `body`
    /// runs on the caller's actor, and again where another writer was there first.
    ///
    /// `keepsExpiry` says whether an object that was saved with `expiresIn:` goes when it would have gone without the
    /// update, as with Redis' `KEEPTTL`; else it stays from now on. An object that stays does so either way.
    ///
    /// - Returns: what `body` returned; `nil` where there is no such object.
    /// - Throws: what `body` throws, and then nothing is changed; `.conflict` where it changes the
    ///   identifier; as `save`.
    @discardableResult
    public nonisolated(nonsending) func update<Result: Sendable>(
        _ id: Item.ID, keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Item) throws -> Result
    ) async throws -> Result? {
        try await change(durability) {
            // One of an object that expires is for a transaction to make.
            try $0.update(id, in: self, body)
        } otherwise: {
            try $0.update(id, in: self, keepsExpiry: keepsExpiry, body)
        }
    }

    /// Removes the object with this identifier; if there is none that is no error.
    ///
    /// - Throws: as `removeValue(forKey:durability:)` of a dictionary; of a type that declares indexes, as `transaction`,
    ///   and `.conflict` where the dictionary has the indexes of another type while the workspace is open.
    public nonisolated(nonsending) func delete(
        _ id: Item.ID, durability: Durability? = nil
    ) async throws {
        guard indexes != nil else {
            return try await dictionary.removeValue(forKey: key(of: id), durability: durability)
        }
        try await change(durability) {
            try $0.delete(id, in: self)
        } otherwise: {
            _ = try $0.delete(id, in: self)
        }
    }

    /// Removes an object, by its identifier. As the call that takes the identifier.
    public nonisolated(nonsending) func delete(
        _ item: Item, durability: Durability? = nil
    ) async throws {
        try await delete(item.id, durability: durability)
    }

    // MARK: Indexes

    /// Returns once the declared indexes are complete. Queries do without them before; a value that is
    /// to be unique is kept so from then on, and ``insert(_:durability:)`` and the others wait for it.
    ///
    /// - Throws: `.conflict` where one cannot be built, saying why: two objects have a value that is to be
    ///   unique, or one does not decode. It is tried again at the next opening, and by `reindex`. Else as
    ///   `set(_:forKey:durability:)` of a dictionary.
    public func indexesBuilt() async throws { try await indexes?.built(throwing: true) }

    /// Builds the declared indexes anew, and returns once they are complete.
    ///
    /// - Throws: as ``indexesBuilt()``.
    public func reindex() async throws { try await indexes?.rebuild() }

    /// Makes a change of one object at once; where that is not possible, as a transaction.
    private nonisolated(nonsending) func change<Result: Sendable>(
        _ durability: Durability?, _ atOnce: (inout ObjectChange) throws -> Result?,
        otherwise body: (inout Transaction) throws -> Result
    ) async throws -> Result {
        if let indexes, !indexes.isReadyToWrite { try await indexes.readyToWrite() }
        try checkCancellation()
        let workspace = dictionary.workspace
        if workspace.engine.configuration.observer != nil {
            return try await workspace.transaction(
                durability, { try await changeAtOnce(durability, atOnce) }, body)
        }
        if let result = try await changeAtOnce(durability, atOnce) { return result }
        return try await workspace.transaction(durability: durability, body)
    }

    nonisolated(nonsending) func change<Result: Sendable>(
        _ durability: Durability?, _ body: (inout Transaction) throws -> Result
    ) async throws -> Result {
        try await indexes?.readyToWrite()
        return try await dictionary.workspace.transaction(durability: durability, body)
    }
}

extension ObjectIndexes {
    /// Returns once all declared indexes are written, and the unique ones complete.
    func readyToWrite() async throws {
        if isReadyToWrite { return }
        let set = try await adopted()
        if set.active.contains(where: { $0.index.isUnique }) { try await built() }
        noteReadyToWrite(set)
    }
}
