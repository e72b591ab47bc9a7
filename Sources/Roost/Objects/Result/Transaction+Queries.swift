import RoostEngine

// What a query gives in a transaction: each as the query's own, of what the body has left. It is remembered what
// was looked at, so that nobody adds, changes or removes what would give another answer.

extension Transaction {
    /// The matching objects, as the body has left them. That there are no others is remembered.
    ///
    /// - Throws: as ``Query/fetch()``.
    public mutating func fetch<Item>(_ query: Query<Item>) throws -> [Item] {
        let pinned = try self.pinned(query)
        return try pinned.fetch(&attempt)
    }

    /// All objects of a repository, as the body has left them. That there are no others is remembered.
    ///
    /// - Throws: as `fetch(_:)` of a query.
    public mutating func fetch<Item>(_ repository: Repository<Item>) throws -> [Item] {
        try fetch(repository.all)
    }

    /// The first of the matching objects.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func first<Item>(_ query: Query<Item>) throws -> Item? {
        try fetch(query.limit(1)).first
    }

    /// How many objects match.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func count<Item>(of query: Query<Item>) throws -> Int {
        let pinned = try self.pinned(query)
        return try pinned.count(&attempt)
    }

    /// Whether no object matches.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func isEmpty<Item>(_ query: Query<Item>) throws -> Bool {
        try count(of: query.limit(1)) == 0
    }

    /// As ``Query/forEach(_:)``. `body` is not given the transaction, which is being read.
    public mutating func forEach<Item>(_ query: Query<Item>, _ body: (Item) throws -> Void) throws {
        let pinned = try self.pinned(query)
        return try pinned.forEachInTurn(&attempt, body)
    }

    /// As ``Query/page(after:limit:)``.
    public mutating func page<Item>(
        of query: Query<Item>, after cursor: PageCursor?, limit: Int
    ) throws -> Page<Item> {
        let pinned = try self.pinned(query)
        return try pinned.page(after: cursor, limit: limit, &attempt)
    }

    /// How the query is answered here, as ``Query/explain()``: by a scan where the body has written the
    /// dictionary by its keys.
    public mutating func explain<Item>(_ query: Query<Item>) throws -> String {
        let pinned = try self.pinned(query)
        return try pinned.explain(&attempt)
    }

    // MARK: Values

    /// The smallest value of a field among the matching objects; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func min<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        let pinned = try self.pinned(query)
        return try pinned.least(path, .ascending, &attempt)
    }

    /// The largest value of a field among the matching objects; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func max<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        let pinned = try self.pinned(query)
        return try pinned.least(path, .descending, &attempt)
    }

    /// The smallest value of a field among the matching objects that have one.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func min<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        let pinned = try self.pinned(query)
        return try pinned.leastPresent(path, .ascending, &attempt)
    }

    /// The largest value of a field among the matching objects that have one.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func max<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        let pinned = try self.pinned(query)
        return try pinned.leastPresent(path, .descending, &attempt)
    }

    /// The sum of a field over the matching objects; as `sum(of:)` of a query.
    public mutating func sum<Item, Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value {
        let pinned = try self.pinned(query)
        return try pinned.sum(path, &attempt)
    }

    /// The sum of a field over the matching objects that have a value in it.
    public mutating func sum<Item, Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value {
        let pinned = try self.pinned(query)
        return try pinned.sumPresent(path, &attempt)
    }

    /// The average of a field over the matching objects; as `average(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func average<Item, Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value.Average? {
        let pinned = try self.pinned(query)
        return try pinned.average(path, &attempt)
    }

    /// The average of a field over the matching objects that have a value in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func average<Item, Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value.Average? {
        let pinned = try self.pinned(query)
        return try pinned.averagePresent(path, &attempt)
    }

    /// The different values of a field among the matching objects, in order.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func distinct<Item, Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> [Value] {
        let pinned = try self.pinned(query)
        return try pinned.distinct(path, &attempt)
    }

    /// A field of each matching object, in order; as `values(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func values<Item, Value>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> [Value] {
        let pinned = try self.pinned(query)
        return try pinned.values(Projection(path), &attempt)
    }

    /// Two fields of each matching object, in order; as `values(of:_:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func values<Item, A, B>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        in query: Query<Item>
    ) throws -> [(A, B)] {
        let pinned = try self.pinned(query)
        return try pinned.values(Projection(first, second), &attempt)
    }

    /// Three fields of each matching object, in order; as `values(of:_:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func values<Item, A, B, C>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable, in query: Query<Item>
    ) throws -> [(A, B, C)] {
        let pinned = try self.pinned(query)
        return try pinned.values(Projection(first, second, third), &attempt)
    }

    // MARK: Groups

    /// How many objects have each value; as ``GroupedQuery/counts()``.
    public mutating func counts<Item, Value>(of groups: GroupedQuery<Item, Value>) throws -> [Value:
        Int]
    {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.counts(&attempt)
    }

    /// The sum of another field for each value; as `sums(of:)` of ``GroupedQuery``.
    public mutating func sums<Item, Value, Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number] {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.sums(field, &attempt)
    }

    /// The sum of another field for each value, over the objects that have one in it.
    public mutating func sums<Item, Value, Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number?> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number] {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.sumsPresent(field, &attempt)
    }

    /// The average of another field for each value; as `averages(of:)` of ``GroupedQuery``.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func averages<Item, Value, Number: Averageable>(
        of field: KeyPath<Item, Number> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number.Average] {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.averages(field, &attempt)
    }

    /// The average of another field for each value, over the objects that have one in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func averages<Item, Value, Number: Averageable>(
        of field: KeyPath<Item, Number?> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number.Average] {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.averagesPresent(field, &attempt)
    }

    /// The smallest value of another field for each value; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func minima<Item, Value, Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Other] {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.extremes(field, &attempt, Swift.min)
    }

    /// The largest value of another field for each value; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public mutating func maxima<Item, Value, Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Other] {
        var pinned = groups
        pinned.query = try self.pinned(groups.query)
        return try pinned.extremes(field, &attempt, Swift.max)
    }

    /// Removes the matching objects; how many they were.
    ///
    /// - Throws: as `fetch(_:)` and `delete`. Then none of them is removed, and the transaction's body may go on.
    @discardableResult
    public mutating func deleteAll<Item>(_ query: Query<Item>) throws -> Int {
        let keys = try pinned(query).keys(&attempt)
        try changeTogether { transaction in
            for key in keys { _ = try transaction.delete(key: key, query.repository) }
        }
        return keys.count
    }

    /// Changes the matching objects; how many they were. Values that are to be unique are so once all are changed: objects may
    /// pass them on to each other.
    ///
    /// `keepsExpiry` says whether objects that expire go when they would have gone; else they stay.
    ///
    /// - Throws: what `body` throws; `.notUnique`, and as `update`. Then none of them is changed, and the transaction's
    ///   body may go on.
    @discardableResult
    public mutating func updateAll<Item>(
        _ query: Query<Item>, keepsExpiry: Bool = false, _ body: (inout Item) throws -> Void
    ) throws -> Int {
        // By the keys that matched: an object that was written round the repository may have another identifier.
        let keys = try pinned(query).keys(&attempt)
        try changeTogether { transaction in
            for key in keys {
                try transaction.update(
                    key: key, query.repository, keepsExpiry: keepsExpiry, body)
            }
        }
        return keys.count
    }

    /// `query` by the indexes that this attempt writes.
    private mutating func pinned<Item>(_ query: Query<Item>) throws -> Query<Item> {
        _ = try checkedName(query.repository.dictionary)
        var pinned = query
        pinned.indexSet = try indexSet(of: query.repository)
        return pinned
    }
}
