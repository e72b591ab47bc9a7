// What a query gives at the moment of a view: each as the query's own.

extension ReadView {
    /// The objects that matched at the view's moment.
    ///
    /// - Throws: as ``Query/fetch()``; `.closed` also where the view is.
    public func fetch<Item>(_ query: Query<Item>) throws -> [Item] {
        try read(query) { try query.fetch(&$0) }
    }

    /// All objects that a repository had at the view's moment.
    ///
    /// - Throws: as `fetch(_:)` of a query.
    public func fetch<Item>(_ repository: Repository<Item>) throws -> [Item] {
        try fetch(repository.all)
    }

    /// The first of the objects that matched at the view's moment.
    ///
    /// - Throws: as `fetch(_:)`.
    public func first<Item>(_ query: Query<Item>) throws -> Item? {
        try fetch(query.limit(1)).first
    }

    /// How many objects matched at the view's moment.
    ///
    /// - Throws: as `fetch(_:)`.
    public func count<Item>(of query: Query<Item>) throws -> Int {
        try read(query) { try query.count(&$0) }
    }

    /// Whether no object matched at the view's moment.
    ///
    /// - Throws: as `fetch(_:)`.
    public func isEmpty<Item>(_ query: Query<Item>) throws -> Bool {
        try count(of: query.limit(1)) == 0
    }

    /// How many objects a repository had at the view's moment.
    ///
    /// - Throws: as `count(of:)` of its dictionary.
    public func count<Item>(of repository: Repository<Item>) throws -> Int {
        try count(of: repository.dictionary)
    }

    /// The object that had an identifier at the view's moment.
    ///
    /// - Throws: as `value(forKey:as:in:)`.
    public func find<Item>(_ id: Item.ID, in repository: Repository<Item>) throws -> Item? {
        try read(repository.key(of: id), repository.dictionary, repository.codec)
    }

    /// The objects that had these identifiers at the view's moment, in the order of `ids`, without those that were not
    /// there: for what another object names.
    ///
    /// - Throws: as `find(_:in:)`, for any of them.
    public func find<Item>(
        by ids: some Sequence<Item.ID>, in repository: Repository<Item>
    ) throws -> [Item] {
        try ids.compactMap { try find($0, in: repository) }
    }

    /// As ``Query/forEach(_:)``.
    public func forEach<Item>(_ query: Query<Item>, _ body: (Item) throws -> Void) throws {
        try read(query) { try query.forEachInTurn(&$0, body) }
    }

    /// As ``Query/page(after:limit:)``: all pages of one moment.
    public func page<Item>(
        of query: Query<Item>, after cursor: PageCursor?, limit: Int
    ) throws -> Page<Item> {
        try read(query) { try query.page(after: cursor, limit: limit, &$0) }
    }

    /// How the query is answered, as ``Query/explain()``.
    public func explain<Item>(_ query: Query<Item>) throws -> String {
        try read(query) { try query.explain(&$0) }
    }

    // MARK: Values

    /// The smallest value of a field among the objects that matched; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public func min<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        try read(query) { try query.least(path, .ascending, &$0) }
    }

    /// The largest value of a field among the objects that matched; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public func max<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        try read(query) { try query.least(path, .descending, &$0) }
    }

    /// The smallest value of a field among the objects that matched and have one.
    ///
    /// - Throws: as `fetch(_:)`.
    public func min<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        try read(query) { try query.leastPresent(path, .ascending, &$0) }
    }

    /// The largest value of a field among the objects that matched and have one.
    ///
    /// - Throws: as `fetch(_:)`.
    public func max<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value? {
        try read(query) { try query.leastPresent(path, .descending, &$0) }
    }

    /// The sum of a field over the objects that matched; as `sum(of:)` of a query.
    public func sum<Item, Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value {
        try read(query) { try query.sum(path, &$0) }
    }

    /// The sum of a field over the objects that matched and have a value in it.
    public func sum<Item, Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value {
        try read(query) { try query.sumPresent(path, &$0) }
    }

    /// The average of a field over the objects that matched; as `average(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public func average<Item, Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> Value.Average? {
        try read(query) { try query.average(path, &$0) }
    }

    /// The average of a field over the objects that matched that have a value in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public func average<Item, Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: Query<Item>
    ) throws -> Value.Average? {
        try read(query) { try query.averagePresent(path, &$0) }
    }

    /// The different values of a field among the objects that matched, in order.
    ///
    /// - Throws: as `fetch(_:)`.
    public func distinct<Item, Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> [Value] {
        try read(query) { try query.distinct(path, &$0) }
    }

    /// A field of each object that matched, in order; as `values(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public func values<Item, Value>(
        of path: KeyPath<Item, Value> & Sendable, in query: Query<Item>
    ) throws -> [Value] {
        try read(query) { try query.values(Projection(path), &$0) }
    }

    /// Two fields of each object that matched, in order; as `values(of:_:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public func values<Item, A, B>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        in query: Query<Item>
    ) throws -> [(A, B)] {
        try read(query) { try query.values(Projection(first, second), &$0) }
    }

    /// Three fields of each object that matched, in order; as `values(of:_:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public func values<Item, A, B, C>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable, in query: Query<Item>
    ) throws -> [(A, B, C)] {
        try read(query) { try query.values(Projection(first, second, third), &$0) }
    }

    // MARK: Groups

    /// How many objects had each value; as ``GroupedQuery/counts()``.
    public func counts<Item, Value>(of groups: GroupedQuery<Item, Value>) throws -> [Value: Int] {
        try read(groups.query) { try groups.counts(&$0) }
    }

    /// The sum of another field for each value; as `sums(of:)` of ``GroupedQuery``.
    public func sums<Item, Value, Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number] {
        try read(groups.query) { try groups.sums(field, &$0) }
    }

    /// The sum of another field for each value, over the objects that have one in it.
    public func sums<Item, Value, Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number?> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number] {
        try read(groups.query) { try groups.sumsPresent(field, &$0) }
    }

    /// The average of another field for each value; as `averages(of:)` of ``GroupedQuery``.
    ///
    /// - Throws: as `fetch(_:)`.
    public func averages<Item, Value, Number: Averageable>(
        of field: KeyPath<Item, Number> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number.Average] {
        try read(groups.query) { try groups.averages(field, &$0) }
    }

    /// The average of another field for each value, over the objects that have one in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public func averages<Item, Value, Number: Averageable>(
        of field: KeyPath<Item, Number?> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Number.Average] {
        try read(groups.query) { try groups.averagesPresent(field, &$0) }
    }

    /// The smallest value of another field for each value; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public func minima<Item, Value, Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Other] {
        try read(groups.query) { try groups.extremes(field, &$0, Swift.min) }
    }

    /// The largest value of another field for each value; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public func maxima<Item, Value, Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable, in groups: GroupedQuery<Item, Value>
    ) throws -> [Value: Other] {
        try read(groups.query) { try groups.extremes(field, &$0, Swift.max) }
    }

    private func read<Item, Result>(
        _ query: Query<Item>, _ body: (inout ViewSource) throws -> Result
    ) throws -> Result {
        check(query.repository.dictionary)
        var source = ViewSource(view: engineView, notes: notes)
        return try body(&source)
    }
}
