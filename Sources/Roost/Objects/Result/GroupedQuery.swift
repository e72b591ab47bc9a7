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
            return try reduced(0, &source) { count, _ in count += 1 }
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
        try reduced(CheckedSum<Number>(), &source) { $0.add($1[keyPath: field]) }
            .mapValues { try $0.value(of: field) }
    }

    func sumsPresent<Number: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number?> & Sendable, _ source: inout Source
    ) throws -> [Value: Number] {
        try reduced(CheckedSum<Number>(), &source) { sum, item in
            if let value = item[keyPath: field] { sum.add(value) }
        }.mapValues { try $0.value(of: field) }
    }

    func extremes<Other: Comparable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Other> & Sendable, _ source: inout Source,
        _ better: (Other, Other) -> Other
    ) throws -> [Value: Other] {
        try reduced(Other?.none, &source) { best, item in
            let value = item[keyPath: field]
            guard value == value else { return }
            best = better(best ?? value, value)
        }.compactMapValues(\.self)
    }

    private func reduced<Result, Source: ObjectSource & ~Copyable>(
        _ initial: Result, _ source: inout Source, _ add: (inout Result, Item) -> Void
    ) throws -> [Value: Result] {
        var results: [Value: Result] = [:]
        try query.forEach(&source) { _, item in
            add(&results[item[keyPath: path], default: initial], item)
        }
        return results
    }
}
