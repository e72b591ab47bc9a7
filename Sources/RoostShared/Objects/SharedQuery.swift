import Roost
import RoostIO

/// Objects of a ``SharedRepository`` that match a condition, in an order, as many as wanted.
///
/// ```swift
/// let urgent = posts.where { $0.priority > 100 && $0.color == .red }
/// let shown = try await urgent.order(by: \.priority, .descending).limit(20).fetch()
/// ```
///
/// A query is a value: making one costs nothing. Each run sees one revision, the newest when it begins.
///
/// - It reads the entries of one index, or of one for each side of an `||`, that the condition leaves, and the objects
///   that they name: a request for each page of entries and for each object, several at once. What the index does not
///   answer is asked of the objects.
/// - A condition on the identifier reads the objects with its keys: of one, of some, and of a range where identifiers are
///   integers or UUIDs (`$0.id > last`), whose order is that of the keys.
/// - Where neither leaves any objects out it throws `.notIndexed`, unless ``scanning()`` allows to read every
///   object, or every object is asked for.
/// - Without an order objects come in the order of their identifiers' keys, and so do those that an order does not
///   tell apart.
/// - Sums, averages and groups are made here of objects that the engine sends, a piece of which is in memory at a time; counts
///   of values, different values and extremes of the entries of an index that has the field.
public struct SharedQuery<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    let repository: SharedRepository<Item>
    var terms = QueryTerms<Item>()
    var mayScan = false

    init(_ repository: SharedRepository<Item>) { self.repository = repository }

    /// The objects of these that match another condition too.
    public func `where`<Added: ConditionConvertible>(
        _ condition: (Row<Item>) -> Added
    ) -> SharedQuery where Added.Root == Item {
        self.where(Condition.make(condition))
    }

    /// The objects of these that match another condition too.
    public func `where`(_ condition: Condition<Item>) -> SharedQuery {
        var query = self
        query.terms.add(condition)
        return query
    }

    /// In the order of a field; after the orders that were asked for before. `nil` is before all others, and NaN
    /// after them.
    ///
    /// The key path is asked of every match, by the program's own code: `\.tags[0]` ends the program at an object without
    /// tags, as anywhere else. Order by `\.tags.first`.
    public func order<Value: IndexRepresentable>(
        by path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder = .ascending
    ) -> SharedQuery {
        var query = self
        query.terms.add(path, order)
        return query
    }

    /// In the order of several fields, the first the most significant; after the orders that were asked for before. For
    /// an order that is chosen while the program runs.
    public func order(by fields: [OrderedField<Item>]) -> SharedQuery {
        var query = self
        for field in fields { query.terms.add(field) }
        return query
    }

    /// At most so many; with a negative limit, as a request may bring one, none.
    public func limit(_ count: Int) -> SharedQuery {
        var query = self
        query.terms.limitCount = Swift.min(Swift.max(count, 0), terms.limitCount ?? .max)
        return query
    }

    /// Without the first so many, which are read all the same. A negative offset passes none by.
    public func offset(_ count: Int) -> SharedQuery {
        var query = self
        let (sum, hasOverflown) = terms.offsetCount.addingReportingOverflow(Swift.max(count, 0))
        query.terms.offsetCount = hasOverflown ? .max : sum
        return query
    }

    /// Lets the query read every object where no index answers it: for small repositories, and for tools.
    public func scanning() -> SharedQuery {
        var query = self
        query.mayScan = true
        return query
    }

    // MARK: Running

    /// The matching objects, in order, all of one revision.
    ///
    /// - Throws: `.notIndexed`, which says what is missing; `.decodingFailed` and `.typeMismatch`, naming the key,
    ///   where an object that was looked at is none; `.corrupt` where an entry of an index is none; `.compacted` where it
    ///   takes longer than the engine keeps the revision; what reading from the engine throws.
    public func fetch() async throws -> [Item] { try await SharedQueryRun(self).fetch() }

    /// The first of the matching objects.
    ///
    /// - Throws: as ``fetch()``.
    public func first() async throws -> Item? { try await limit(1).fetch().first }

    /// The next objects after a cursor, at most `limit`, of the newest revision; from the first where it is `nil`. All pages
    /// together have as many objects as the query's own limit allows. A cursor may leave the process, as JSON for instance;
    /// other clients go on from it.
    ///
    /// Without an order, in that of the identifiers where these are integers or UUIDs, and in an order that an index has, a
    /// page reads what is in it. In another order each page reads every match.
    ///
    /// - Parameters:
    ///   - cursor: The `next` of the page before; `nil` for the first page.
    ///   - limit: How many; less than 1, as a request may bring it, is taken as 1, so that pages come to an end.
    /// - Throws: `.conflict` where the cursor is not of this query's order and limit; as ``fetch()``.
    public func page(after cursor: PageCursor?, limit: Int) async throws -> Page<Item> {
        try await page(after: cursor, limit: limit, in: nil)
    }

    nonisolated(nonsending) func page(
        after cursor: PageCursor?, limit: Int, in attempt: SharedTransaction?
    ) async throws -> Page<Item> {
        let limit = Swift.max(limit, 1)
        let name = repository.dictionary.name
        var query = self
        if let cursor { query.terms = try terms.behind(cursor, of: name) }
        let remainingCount = query.terms.limitCount
        query.terms.limitCount = Swift.min(
            remainingCount ?? .max, limit == .max ? limit : limit + 1)
        let found = try await SharedQueryRun(query, in: attempt).page()
        let items = found.prefix(limit)
        guard found.count > limit, let last = items.last else {
            return Page(items: items.map(\.made), next: nil)
        }
        let next = terms.cursor(
            behind: last.sortKey, of: name,
            remainingCount: remainingCount.map { $0 - items.count })
        return Page(items: items.map(\.made), next: next)
    }

    /// How many objects match. Reads no object where the entries say all.
    ///
    /// - Throws: as ``fetch()``.
    public func count() async throws -> Int { try await SharedQueryRun(self) { _ in }.count() }

    /// Whether no object matches.
    ///
    /// - Throws: as ``fetch()``.
    public func isEmpty() async throws -> Bool { try await first() == nil }

    /// Removes the matching objects, as one commit; how many they were.
    ///
    /// Each counts against what the engine takes at once, and so does each of its entries: of etcd's 128 operations an object
    /// with two indexes takes three. Of more, a limit makes pieces, each a commit of its own:
    /// `while try await old.limit(30).deleteAll() > 0 {}`.
    ///
    /// - Throws: `.tooLarge`, as ``fetch()`` and as `transaction`. Then nothing is changed.
    @discardableResult
    public nonisolated(nonsending) func deleteAll() async throws -> Int {
        try await repository.dictionary.workspace.transaction { try await $0.deleteAll(self) }
    }

    /// Changes the matching objects, as one commit; how many they were. `body` runs on the caller's actor, and again where
    /// another writer was there first. Values that are to be unique are so once all are changed: objects may pass them on to
    /// each other. Objects that would have expired stay.
    ///
    /// Each counts against what the engine takes at once, as for ``deleteAll()``.
    ///
    /// - Throws: what `body` throws; `.notUnique`; `.conflict` where `body` changes an identifier; `.tooLarge`, as ``fetch()`` and
    ///   as `transaction`. Then nothing is changed.
    @discardableResult
    public nonisolated(nonsending) func updateAll(
        _ body: (inout Item) throws -> Void
    ) async throws -> Int {
        try await repository.dictionary.workspace.transaction {
            try await $0.updateAll(self, body)
        }
    }

    /// How the query is answered, as far as that is known before: by which index, or by reading every object.
    ///
    /// - Throws: `.notIndexed`, as ``fetch()``; what reading from the engine throws.
    public func explain() async throws -> String { try await SharedQueryRun(self).explain() }
}

extension SharedRepository {
    /// All objects, as a query.
    public var all: SharedQuery<Item> { SharedQuery(self) }

    /// The objects that match a condition. The closure is run once, to make it.
    public func `where`<Made: ConditionConvertible>(
        _ condition: (Row<Item>) -> Made
    ) -> SharedQuery<Item> where Made.Root == Item {
        all.where(condition)
    }

    /// The objects that match a condition.
    public func `where`(_ condition: Condition<Item>) -> SharedQuery<Item> { all.where(condition) }

    /// All objects in the order of a field.
    public func order<Value: IndexRepresentable>(
        by path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder = .ascending
    ) -> SharedQuery<Item> {
        all.order(by: path, order)
    }

    /// All objects in the order of several fields.
    public func order(by fields: [OrderedField<Item>]) -> SharedQuery<Item> {
        all.order(by: fields)
    }
}
