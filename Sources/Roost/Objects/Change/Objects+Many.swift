import RoostEngine

// Objects by many, all of them or none, beside `saveAll` and what queries change.

extension Repository {
    /// Stores many objects whose identifiers have none yet, as one batch: all of them or none. Values that are to be unique
    /// are so once all are stored.
    ///
    /// - Throws: `.alreadyExists` where one has an object, or two of them have one identifier; as
    ///   ``saveAll(_:durability:)``. Then none is stored.
    public nonisolated(nonsending) func insertAll(
        _ items: some Sequence<Item>, durability: Durability? = nil
    ) async throws {
        let items = Array(items)
        try await change(durability) { try $0.insertAll(items, in: self) }
    }

    /// Removes the objects with these identifiers as one batch, as far as there are any; how many they were.
    ///
    /// - Throws: as `delete(_:durability:)`, for any of them. Then none is removed.
    @discardableResult
    public nonisolated(nonsending) func deleteAll(
        ids: some Sequence<Item.ID>, durability: Durability? = nil
    ) async throws -> Int {
        let ids = Array(ids)
        return try await change(durability) { try $0.deleteAll(ids: ids, in: self) }
    }
}

extension Transaction {
    /// Stores many objects whose identifiers have none yet; as ``Repository/insertAll(_:durability:)``.
    ///
    /// - Throws: as `insert(_:in:)`, for any of them; then none of them is stored, and the transaction's body may go on.
    public mutating func insertAll<Item>(
        _ items: some Sequence<Item>, in repository: Repository<Item>
    ) throws {
        try changeTogether { transaction in
            for item in items { try transaction.insert(item, in: repository) }
        }
    }

    /// Removes the objects with these identifiers, as far as there are any; how many they were.
    ///
    /// - Throws: as `delete(_:in:)`, for any of them; then none of them is removed, and the transaction's body may go on.
    @discardableResult
    public mutating func deleteAll<Item>(
        ids: some Sequence<Item.ID>, in repository: Repository<Item>
    ) throws -> Int {
        try changeTogether { transaction in
            var count = 0
            for id in ids {
                if try transaction.delete(id, in: repository) { count += 1 }
            }
            return count
        }
    }
}
