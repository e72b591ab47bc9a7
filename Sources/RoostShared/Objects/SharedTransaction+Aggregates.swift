import Roost

// Values of what matches in a transaction, as the body has left the objects: each as the query's own. Every object that was
// read is a guard, and that there are no others; of what the entries of an index told, each entry.

extension SharedTransaction {
    /// The smallest value of a field among the matching objects; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func min<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value? {
        check(query.repository.dictionary)
        return try await query.least(path, .ascending, in: self)
    }

    /// The smallest value of a field among the matching objects that have one.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func min<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value? {
        check(query.repository.dictionary)
        return try await query.leastPresent(path, .ascending, in: self)
    }

    /// The largest value of a field among the matching objects; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func max<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value? {
        check(query.repository.dictionary)
        return try await query.least(path, .descending, in: self)
    }

    /// The largest value of a field among the matching objects that have one.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func max<Item, Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value? {
        check(query.repository.dictionary)
        return try await query.leastPresent(path, .descending, in: self)
    }

    /// The sum of a field over the matching objects; `.overflow` as for `sum(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func sum<Item, Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value {
        check(query.repository.dictionary)
        return try await query.sum(path, in: self)
    }

    /// The sum of a field over the matching objects that have a value in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func sum<Item, Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value?> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value {
        check(query.repository.dictionary)
        return try await query.sumPresent(path, in: self)
    }

    /// The average of a field over the matching objects; as `average(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func average<Item, Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value.Average? {
        check(query.repository.dictionary)
        return try await query.average(path, in: self)
    }

    /// The average of a field over the matching objects that have a value in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func average<Item, Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable, in query: SharedQuery<Item>
    ) async throws -> Value.Average? {
        check(query.repository.dictionary)
        return try await query.averagePresent(path, in: self)
    }

    /// The different values of a field among the matching objects, in order.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func distinct<Item, Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, in query: SharedQuery<Item>
    ) async throws -> [Value] {
        check(query.repository.dictionary)
        return try await query.distinct(path, in: self)
    }

    /// A field of each matching object, in order; as `values(of:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func values<Item, Value>(
        of path: KeyPath<Item, Value> & Sendable, in query: SharedQuery<Item>
    ) async throws -> [Value] {
        check(query.repository.dictionary)
        return try await query.values(Projection(path), in: self)
    }

    /// Two fields of each matching object, in order; as `values(of:_:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func values<Item, A, B>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        in query: SharedQuery<Item>
    ) async throws -> [(A, B)] {
        check(query.repository.dictionary)
        return try await query.values(Projection(first, second), in: self)
    }

    /// Three fields of each matching object, in order; as `values(of:_:)` of a query.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func values<Item, A, B, C>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable, in query: SharedQuery<Item>
    ) async throws -> [(A, B, C)] {
        check(query.repository.dictionary)
        return try await query.values(Projection(first, second, third), in: self)
    }

    // MARK: Groups

    /// How many objects have each value; as ``SharedGroupedQuery/counts()``.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func counts<Item, Value>(
        of groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Int] {
        check(groups.query.repository.dictionary)
        return try await groups.counts(in: self)
    }

    /// The sum of another field for each value; `.overflow` where one does not fit.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func sums<Item, Value, Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number> & Sendable, in groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Number] {
        check(groups.query.repository.dictionary)
        return try await groups.sums(field, in: self)
    }

    /// The sum of another field for each value, over the objects that have one in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func sums<Item, Value, Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number?> & Sendable, in groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Number] {
        check(groups.query.repository.dictionary)
        return try await groups.sumsPresent(field, in: self)
    }

    /// The average of another field for each value.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func averages<Item, Value, Number: Averageable>(
        of field: KeyPath<Item, Number> & Sendable, in groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Number.Average] {
        check(groups.query.repository.dictionary)
        return try await groups.averages(field, in: self)
    }

    /// The average of another field for each value, over the objects that have one in it.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func averages<Item, Value, Number: Averageable>(
        of field: KeyPath<Item, Number?> & Sendable, in groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Number.Average] {
        check(groups.query.repository.dictionary)
        return try await groups.averagesPresent(field, in: self)
    }

    /// The smallest value of another field for each value; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func minima<Item, Value, Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable, in groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Other] {
        check(groups.query.repository.dictionary)
        return try await groups.extremes(field, in: self, Swift.min)
    }

    /// The largest value of another field for each value; NaN is none.
    ///
    /// - Throws: as `fetch(_:)`.
    public nonisolated(nonsending) func maxima<Item, Value, Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable, in groups: SharedGroupedQuery<Item, Value>
    ) async throws -> [Value: Other] {
        check(groups.query.repository.dictionary)
        return try await groups.extremes(field, in: self, Swift.max)
    }
}
