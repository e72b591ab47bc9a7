import Roost
import RoostIO

// What a query gives in a transaction: of the attempt's revision, with what the body has changed. All that was looked at is
// guarded, so that nobody adds, changes or removes what would give another answer.

extension SharedTransaction {
    /// The matching objects, as the body has left them. That there are no others is guarded.
    ///
    /// - Each object that was read is a guard, and so is each range of an index or of identifiers as far as it was read. Of
    ///   a query with a limit whose order an index has these are few, so that an object behind the limit disturbs nobody:
    ///   `tx.first(jobs.where { $0.state == .open }.order(by: \.queued))` claims a job beside others that add some.
    /// - Of what the engine takes at once each guard takes one: etcd's 128 operations are enough for about a hundred objects.
    ///
    /// - Throws: as ``SharedQuery/fetch()``, but for `.compacted`: then the body runs again. `.tooLarge` at the commit.
    public nonisolated(nonsending) func fetch<Item>(
        _ query: SharedQuery<Item>
    ) async throws -> [Item] {
        try await run(query).fetch()
    }

    /// The first of the matching objects.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func first<Item>(
        _ query: SharedQuery<Item>
    ) async throws -> Item? {
        try await fetch(query.limit(1)).first
    }

    /// How many objects match. Where the entries of an index say all, no object is read, and each entry is a guard.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func count<Item>(
        of query: SharedQuery<Item>
    ) async throws -> Int {
        check(query.repository.dictionary)
        return try await SharedQueryRun(query, in: self) { _ in }.count()
    }

    /// Whether no object matches.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func isEmpty<Item>(
        _ query: SharedQuery<Item>
    ) async throws -> Bool {
        try await first(query) == nil
    }

    /// As ``SharedQuery/page(after:limit:)``.
    public nonisolated(nonsending) func page<Item>(
        of query: SharedQuery<Item>, after cursor: PageCursor?, limit: Int
    ) async throws -> Page<Item> {
        check(query.repository.dictionary)
        return try await query.page(after: cursor, limit: limit, in: self)
    }

    /// Removes the matching objects; how many they were.
    ///
    /// - Throws: as `fetch(_:)` and `delete`. Then none of them is removed, and the transaction's body may go on.
    @discardableResult
    public nonisolated(nonsending) func deleteAll<Item>(
        _ query: SharedQuery<Item>
    ) async throws -> Int {
        // By the keys that matched: an object that was written round the repository may have another identifier.
        let keys = try await run(query).page().map(\.key)
        try await asOne {
            for key in keys {
                try await change(
                    String(decoding: key, as: UTF8.self), to: nil, in: query.repository)
            }
        }
        return keys.count
    }

    /// Changes the matching objects; how many they were. Values that are to be unique are so once all are changed: objects
    /// may pass them on to each other. Objects that would have expired stay.
    ///
    /// - Throws: what `body` throws; `.conflict` where `body` changes an identifier, `.notUnique`, and as `save`. Then none
    ///   of them is changed, and the transaction's body may go on.
    @discardableResult
    public nonisolated(nonsending) func updateAll<Item>(
        _ query: SharedQuery<Item>, _ body: (inout Item) throws -> Void
    ) async throws -> Int {
        let repository = query.repository
        let changed = try await run(query).page().map { match in
            var item = match.made
            let key = repository.key(of: item.id)
            try body(&item)
            // By the bytes, as strings take canonically equal ones for one.
            guard repository.key(of: item.id).utf8.elementsEqual(key.utf8) else {
                throw RoostError(
                    .conflict,
                    "the body has changed the identifier of \"\(key)\" in \"\(repository.dictionary.name)\": save the object under the new one, and delete the old one"
                )
            }
            return (String(decoding: match.key, as: UTF8.self), item)
        }
        try await changeTogether(changed, in: repository)
        return changed.count
    }

    private func run<Item>(_ query: SharedQuery<Item>) -> SharedQueryRun<Item, Item> {
        check(query.repository.dictionary)
        return SharedQueryRun(query, in: self)
    }
}
