/// A query's objects by the value of a field.
public struct GroupedQuery<Item: Identifiable & Sendable, Value: Hashable>: Sendable
where Item.ID: Sendable {
    var query: Query<Item>
    let path: KeyPath<Item, Value> & Sendable

    /// How many objects have each value. Where an index has the field first and says all about the
    /// query's condition, one object of each value is read.
    ///
    /// - Throws: as ``Query/fetch()``.
    public func counts() throws -> [Value: Int] {
        try query.atOneMoment { try counts(&$0) }
    }

    /// The sum of another field for each value.
    ///
    /// - Throws: `.overflow` where one does not fit; as `sum(of:)` of a query.
    public func sums<Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number> & Sendable
    ) throws -> [Value: Number] {
        try query.atOneMoment { try sums(field, &$0) }
    }

    /// The sum of another field for each value, over the objects that have one in it; zero where none has one. Else as the
    /// call for a field that every object has.
    public func sums<Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number?> & Sendable
    ) throws -> [Value: Number] {
        try query.atOneMoment { try sumsPresent(field, &$0) }
    }

    /// The average of another field for each value; as `average(of:)` of a query.
    ///
    /// - Throws: as ``Query/fetch()``.
    public func averages<Number: Averageable>(
        of field: KeyPath<Item, Number> & Sendable
    ) throws -> [Value: Number.Average] {
        try query.atOneMoment { try averages(field, &$0) }
    }

    /// The average of another field for each value, over the objects that have one in it; without the values of which
    /// none has one.
    ///
    /// - Throws: as ``Query/fetch()``.
    public func averages<Number: Averageable>(
        of field: KeyPath<Item, Number?> & Sendable
    ) throws -> [Value: Number.Average] {
        try query.atOneMoment { try averagesPresent(field, &$0) }
    }

    /// The smallest value of another field for each value; NaN is none.
    ///
    /// - Throws: as ``Query/fetch()``.
    public func minima<Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable
    ) throws -> [Value: Other] {
        try query.atOneMoment { try extremes(field, &$0, Swift.min) }
    }

    /// The largest value of another field for each value; NaN is none. As `minima(of:)`.
    public func maxima<Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable
    ) throws -> [Value: Other] {
        try query.atOneMoment { try extremes(field, &$0, Swift.max) }
    }

    // MARK: From a source

    func counts<Source: ObjectSource & ~Copyable>(
        _ source: inout Source
    ) throws -> [Value: Int] {
        guard var groups = try IndexGroups(query, by: FieldPath(path), &source) else {
            return try reduced(0, Projection(path).alone, &source) { count, _ in count += 1 }
        }
        var counts: [Value: Int] = [:]
        for group in try groups.all(&source, isCounting: true) {
            try groups.forEachValue(of: group, path, &source) { value, count in
                counts[value, default: 0] += count
            }
        }
        return counts
    }

    func sums<Number: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number> & Sendable, _ source: inout Source
    ) throws -> [Value: Number] {
        try reduced(CheckedSum<Number>(), valued(field), &source) { $0.add($1) }
            .mapValues { try $0.value(of: field) }
    }

    func sumsPresent<Number: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number?> & Sendable, _ source: inout Source
    ) throws -> [Value: Number] {
        try reduced(CheckedSum<Number>(), valued(field), &source) { sum, value in
            if let value { sum.add(value) }
        }.mapValues { try $0.value(of: field) }
    }

    func averages<Number: Averageable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number> & Sendable, _ source: inout Source
    ) throws -> [Value: Number.Average] {
        try reduced(AverageOfValues<Number>(), valued(field), &source) { $0.add($1) }
            .compactMapValues(\.average)
    }

    func averagesPresent<Number: Averageable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number?> & Sendable, _ source: inout Source
    ) throws -> [Value: Number.Average] {
        try reduced(AverageOfValues<Number>(), valued(field), &source) { values, value in
            if let value { values.add(value) }
        }.compactMapValues(\.average)
    }

    func extremes<Other: Comparable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Other> & Sendable, _ source: inout Source,
        _ better: (Other, Other) -> Other
    ) throws -> [Value: Other] {
        try reduced(Other?.none, valued(field), &source) { best, value in
            guard value == value else { return }
            best = better(best ?? value, value)
        }.compactMapValues(\.self)
    }

    /// The value that an object is grouped by, and another field of it.
    private func valued<Other>(
        _ field: KeyPath<Item, Other> & Sendable
    ) -> Projection<Item, (Value, Other)> {
        Projection(path).joined(with: Projection(field))
    }

    private func reduced<Result, Other, Source: ObjectSource & ~Copyable>(
        _ initial: Result, _ values: Projection<Item, (Value, Other)>, _ source: inout Source,
        _ add: (inout Result, Other) -> Void
    ) throws -> [Value: Result] {
        var results: [Value: Result] = [:]
        try query.forEachValue(of: values, &source) { value, other in
            add(&results[value, default: initial], other)
        }
        return results
    }
}
