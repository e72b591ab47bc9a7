import Roost

/// A shared query's objects by the value of a field, by the values of several, or by each element of one.
///
/// ```swift
/// let counts = try await posts.grouped(by: \.color).counts()      // [Color: Int]
/// ```
///
/// All of one call is of one revision. What is given is in memory, and of the objects a piece at a time.
public struct SharedGroupedQuery<Item: Identifiable & Sendable, Value: Hashable>: Sendable
where Item.ID: Sendable {
    let query: SharedQuery<Item>
    let values: GroupValues<Item, Value>

    /// How many objects have each value. Where an index begins with the fields, in any order, or with others that the
    /// condition says one value of, and says all about the condition, its entries are read and one object of each value. So
    /// it is by each element where an index is over these and the query has no condition, or no other than the index itself.
    /// Else each match is read.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public func counts() async throws -> [Value: Int] where Value: Sendable {
        try await counts(in: nil)
    }

    /// The sum of another field for each value.
    ///
    /// - Throws: `.overflow` where one does not fit; as `sum(of:)` of a query.
    public func sums<Number: AdditiveArithmetic & Sendable>(
        of field: KeyPath<Item, Number> & Sendable
    ) async throws -> [Value: Number] where Value: Sendable {
        try await sums(field, in: nil)
    }

    /// The sum of another field for each value, over the objects that have one in it; zero where none has one. Else as the
    /// call for a field that every object has.
    public func sums<Number: AdditiveArithmetic & Sendable>(
        of field: KeyPath<Item, Number?> & Sendable
    ) async throws -> [Value: Number] where Value: Sendable {
        try await sumsPresent(field, in: nil)
    }

    /// The average of another field for each value; as `average(of:)` of a query.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public func averages<Number: Averageable>(
        of field: KeyPath<Item, Number> & Sendable
    ) async throws -> [Value: Number.Average] where Value: Sendable, Number.Average: Sendable {
        try await averages(field, in: nil)
    }

    /// The average of another field for each value, over the objects that have one in it; without the values of which none
    /// has one.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public func averages<Number: Averageable>(
        of field: KeyPath<Item, Number?> & Sendable
    ) async throws -> [Value: Number.Average] where Value: Sendable, Number.Average: Sendable {
        try await averagesPresent(field, in: nil)
    }

    /// The smallest value of another field for each value; NaN is none.
    ///
    /// - Throws: as ``SharedQuery/fetch()``.
    public func minima<Other: Comparable & Sendable>(
        of field: KeyPath<Item, Other> & Sendable
    ) async throws -> [Value: Other] where Value: Sendable {
        try await extremes(field, in: nil, Swift.min)
    }

    /// The largest value of another field for each value; NaN is none. As `minima(of:)`.
    public func maxima<Other: Comparable & Sendable>(
        of field: KeyPath<Item, Other> & Sendable
    ) async throws -> [Value: Other] where Value: Sendable {
        try await extremes(field, in: nil, Swift.max)
    }
}

// MARK: - In an attempt of a transaction, or without one

extension SharedGroupedQuery {
    nonisolated(nonsending) func counts(
        in attempt: SharedTransaction?
    ) async throws -> [Value: Int] {
        var counts: [Value: Int] = [:]
        let source = try await query.source(in: attempt)
        func add(_ value: Value, _ count: Int) { counts[value, default: 0] += count }
        switch values {
        case .one(let paths, let values):
            let run = SharedQueryRun(query, source, values.making)
            let isTold = try await run.forEachGroup(
                by: paths, isCounting: true, { made, _ in [made] }, add)
            if !isTold { try await run.forEach { add($0, 1) } }
        case .each(let path, let values):
            let run = SharedQueryRun(query, source, values.making)
            let isTold = try await run.forEachGroup(
                by: [path], isCounting: true, { elements(of: $0, withForm: $1) }, add)
            if !isTold { try await run.forEach { for element in $0 { add(element, 1) } } }
        }
        return counts
    }

    nonisolated(nonsending) func sums<Number: AdditiveArithmetic>(
        _ field: KeyPath<Item, Number> & Sendable, in attempt: SharedTransaction?
    ) async throws -> [Value: Number] {
        try await reduced(CheckedSum<Number>(), field, in: attempt) { $0.add($1) }
            .mapValues { try $0.value(of: field) }
    }

    nonisolated(nonsending) func sumsPresent<Number: AdditiveArithmetic>(
        _ field: KeyPath<Item, Number?> & Sendable, in attempt: SharedTransaction?
    ) async throws -> [Value: Number] {
        try await reduced(CheckedSum<Number>(), field, in: attempt) { sum, value in
            if let value { sum.add(value) }
        }.mapValues { try $0.value(of: field) }
    }

    nonisolated(nonsending) func averages<Number: Averageable>(
        _ field: KeyPath<Item, Number> & Sendable, in attempt: SharedTransaction?
    ) async throws -> [Value: Number.Average] {
        try await reduced(AverageOfValues<Number>(), field, in: attempt) { $0.add($1) }
            .compactMapValues(\.average)
    }

    nonisolated(nonsending) func averagesPresent<Number: Averageable>(
        _ field: KeyPath<Item, Number?> & Sendable, in attempt: SharedTransaction?
    ) async throws -> [Value: Number.Average] {
        try await reduced(AverageOfValues<Number>(), field, in: attempt) { values, value in
            if let value { values.add(value) }
        }.compactMapValues(\.average)
    }

    nonisolated(nonsending) func extremes<Other: Comparable>(
        _ field: KeyPath<Item, Other> & Sendable, in attempt: SharedTransaction?,
        _ better: (Other, Other) -> Other
    ) async throws -> [Value: Other] {
        try await reduced(Other?.none, field, in: attempt) { best, value in
            guard value == value else { return }
            best = better(best ?? value, value)
        }.compactMapValues(\.self)
    }

    /// What `add` makes of another field of the objects of each value.
    private nonisolated(nonsending) func reduced<Result, Other>(
        _ initial: Result, _ field: KeyPath<Item, Other> & Sendable,
        in attempt: SharedTransaction?, _ add: (inout Result, Other) -> Void
    ) async throws -> [Value: Result] {
        var results: [Value: Result] = [:]
        let others = Projection(field)
        switch values {
        case .one(_, let values):
            try await query.forEachValue(values.joined(with: others), in: attempt) { value in
                add(&results[value.0, default: initial], value.1)
            }
        case .each(_, let values):
            try await query.forEachValue(values.joined(with: others), in: attempt) { value in
                for element in value.0 { add(&results[element, default: initial], value.1) }
            }
        }
        return results
    }
}

extension SharedQuery {
    /// The matching objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> SharedGroupedQuery<Item, Value> {
        SharedGroupedQuery(query: self, values: .field(path))
    }

    /// The matching objects by the values of two fields together: `counts[GroupKey(.red, "Ada")]`.
    public func grouped<A: Hashable & SendableMetatype, B: Hashable & SendableMetatype>(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) -> SharedGroupedQuery<Item, GroupKey<A, B>> {
        SharedGroupedQuery(query: self, values: .fields(first, second))
    }

    /// The matching objects by the values of three fields together; as the call for two.
    public func grouped<
        A: Hashable & SendableMetatype, B: Hashable & SendableMetatype,
        C: Hashable & SendableMetatype
    >(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) -> SharedGroupedQuery<Item, GroupKey<A, B, C>> {
        SharedGroupedQuery(query: self, values: .fields(first, second, third))
    }

    /// The matching objects by each element of a field: an object counts once for every element that it has, however often
    /// it has it, and an object without elements not at all.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements> & Sendable
    ) -> SharedGroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        SharedGroupedQuery(query: self, values: .elements(path))
    }

    /// The matching objects by each element of a field that may be `nil`, and then has none.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements?> & Sendable
    ) -> SharedGroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        SharedGroupedQuery(query: self, values: .elements(path))
    }
}

extension SharedRepository {
    /// All objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> SharedGroupedQuery<Item, Value> {
        all.grouped(by: path)
    }

    /// All objects by the values of two fields together; as `grouped(by:_:)` of a query.
    public func grouped<A: Hashable & SendableMetatype, B: Hashable & SendableMetatype>(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) -> SharedGroupedQuery<Item, GroupKey<A, B>> {
        all.grouped(by: first, second)
    }

    /// All objects by the values of three fields together; as `grouped(by:_:)` of a query.
    public func grouped<
        A: Hashable & SendableMetatype, B: Hashable & SendableMetatype,
        C: Hashable & SendableMetatype
    >(
        by first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) -> SharedGroupedQuery<Item, GroupKey<A, B, C>> {
        all.grouped(by: first, second, third)
    }

    /// All objects by each element of a field; as `grouped(byEach:)` of a query.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements> & Sendable
    ) -> SharedGroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        all.grouped(byEach: path)
    }

    /// All objects by each element of a field that may be `nil`, and then has none.
    public func grouped<Elements: Collection & SendableMetatype>(
        byEach path: KeyPath<Item, Elements?> & Sendable
    ) -> SharedGroupedQuery<Item, Elements.Element>
    where Elements.Element: Hashable & SendableMetatype {
        all.grouped(byEach: path)
    }
}
