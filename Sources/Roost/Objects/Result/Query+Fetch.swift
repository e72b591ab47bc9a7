import RoostEngine
import RoostIO

// What a query gives. Each stands three times: here, at a moment of its own; in `ReadView+Queries`; and in
// `Transaction+Queries`.

extension Query {
    /// The matching objects, in order. Does not suspend.
    ///
    /// - Throws: `.decodingFailed`, `.typeMismatch` and `.unsupportedVersion`, naming the key, where an object
    ///   that was looked at is none; `.corrupt`, also where an entry of an index is none, which `reindex` mends;
    ///   `.io`; `.closed`; `.conflict` where the dictionary has the indexes of another type while the workspace
    ///   is open.
    public func fetch() throws -> [Item] { try atOneMoment { try fetch(&$0) } }

    /// The first of the matching objects.
    ///
    /// - Throws: as ``fetch()``.
    public func first() throws -> Item? { try limit(1).fetch().first }

    /// How many objects match. Reads no object where an index says all about the condition, or there is none.
    ///
    /// - Throws: as ``fetch()``.
    public func count() throws -> Int { try atOneMoment { try count(&$0) } }

    /// Whether no object matches. Looks for one at most.
    ///
    /// - Throws: as ``fetch()``.
    public func isEmpty() throws -> Bool { try limit(1).count() == 0 }

    /// Calls `body` with each matching object, in order. No more than 256 of them are in memory at once, and those
    /// that the order of an index does not tell apart. Of a query that has to be sorted keys are too, as many as
    /// ``Workspace/Configuration/memoryBudgetBytes`` has room for, 16 MiB at the least: it looks at all objects again for the next of them. It
    /// has to be where no index has just the order and the condition.
    ///
    /// - Throws: as ``fetch()``; what `body` throws, which ends the call.
    public func forEach(_ body: (Item) throws -> Void) throws {
        try atOneMoment { try forEachInTurn(&$0, body) }
    }

    func atOneMoment<Result>(_ body: (inout ViewSource) throws -> Result) throws -> Result {
        let view = try repository.dictionary.workspace.engine.view()
        defer { view.close() }
        var source = ViewSource(view: view)
        return try body(&source)
    }
}

extension Query {
    /// Removes the matching objects, as one batch; how many they were. Returns once `durability` holds.
    ///
    /// - Throws: as ``fetch()`` and `transaction`. Then nothing is changed.
    @discardableResult
    public nonisolated(nonsending) func deleteAll(durability: Durability? = nil) async throws -> Int
    {
        try await repository.change(durability) { try $0.deleteAll(self) }
    }

    /// Changes the matching objects, as one batch; how many they were. `body` runs on the caller's
    /// actor, and again where another writer was there first. Values that are to be unique are so once all are changed:
    /// objects may pass them on to each other, as `updateAll { $0.place += 1 }` does.
    ///
    /// `keepsExpiry` says whether objects that expire go when they would have gone; else they stay, as after
    /// ``Repository/update(_:keepsExpiry:durability:_:)``.
    ///
    /// - Throws: what `body` throws; `.notUnique`; `.conflict` where `body` changes an identifier; as
    ///   ``fetch()`` and as `save`. Then nothing is changed.
    @discardableResult
    public nonisolated(nonsending) func updateAll(
        keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Item) throws -> Void
    ) async throws -> Int {
        try await repository.change(durability) {
            try $0.updateAll(self, keepsExpiry: keepsExpiry, body)
        }
    }
}
