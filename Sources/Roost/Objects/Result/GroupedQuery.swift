/// A query's objects by the value of a field, by the values of several, or by each element of one.
///
/// Groups of which something is to hold are those that it holds for in what is given here:
/// `counts.filter { $0.value > 9 }`.
public struct GroupedQuery<Item: Identifiable & Sendable, Value: Hashable>: Sendable
where Item.ID: Sendable {
    var query: Query<Item>
    let values: GroupValues<Item, Value>

    /// How many objects have each value. Where an index begins with the fields, in any order, or with others that the condition says one
    /// value of, and says all about the condition, one object of each value is read. So it is by each element where
    /// an index is over these and the query has no condition, or no other than the index itself.
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
        var counts: [Value: Int] = [:]
        var query = query
        // Which objects there are an order says only with a limit.
        if query.isWhole { query.orders = [] }
        switch values {
        case .one(let paths, let values):
            if var groups = try IndexGroups(query, by: paths, &source) {
                for group in try groups.all(&source, isCounting: true) {
                    try groups.forEachValue(of: group, values, &source) { value, count in
                        counts[value, default: 0] += count
                    }
                }
            } else {
                try query.forEachValue(of: values, &source) { counts[$0, default: 0] += 1 }
            }
        case .each(let path, let values):
            if var groups = try IndexGroups(query, byEach: path, &source) {
                for group in try groups.all(&source, isCounting: true) {
                    try groups.forEachElement(of: group, values, &source) { value, count in
                        counts[value, default: 0] += count
                    }
                }
            } else {
                try query.forEachValue(of: values, &source) { elements in
                    for element in elements { counts[element, default: 0] += 1 }
                }
            }
        }
        return counts
    }

    func sums<Number: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number> & Sendable, _ source: inout Source
    ) throws -> [Value: Number] {
        try reduced(CheckedSum<Number>(), field, &source) { $0.add($1) }
            .mapValues { try $0.value(of: field) }
    }

    func sumsPresent<Number: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number?> & Sendable, _ source: inout Source
    ) throws -> [Value: Number] {
        try reduced(CheckedSum<Number>(), field, &source) { sum, value in
            if let value { sum.add(value) }
        }.mapValues { try $0.value(of: field) }
    }

    func averages<Number: Averageable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number> & Sendable, _ source: inout Source
    ) throws -> [Value: Number.Average] {
        try reduced(AverageOfValues<Number>(), field, &source) { $0.add($1) }
            .compactMapValues(\.average)
    }

    func averagesPresent<Number: Averageable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Number?> & Sendable, _ source: inout Source
    ) throws -> [Value: Number.Average] {
        try reduced(AverageOfValues<Number>(), field, &source) { values, value in
            if let value { values.add(value) }
        }.compactMapValues(\.average)
    }

    func extremes<Other: Comparable, Source: ObjectSource & ~Copyable>(
        _ field: KeyPath<Item, Other> & Sendable, _ source: inout Source,
        _ better: (Other, Other) -> Other
    ) throws -> [Value: Other] {
        try reduced(Other?.none, field, &source) { best, value in
            guard value == value else { return }
            best = better(best ?? value, value)
        }.compactMapValues(\.self)
    }

    /// What `add` makes of another field of the objects of each value.
    private func reduced<Result, Other, Source: ObjectSource & ~Copyable>(
        _ initial: Result, _ field: KeyPath<Item, Other> & Sendable, _ source: inout Source,
        _ add: (inout Result, Other) -> Void
    ) throws -> [Value: Result] {
        var results: [Value: Result] = [:]
        let others = Projection(field)
        switch values {
        case .one(_, let values):
            try query.forEachValue(of: values.joined(with: others), &source) { value, other in
                add(&results[value, default: initial], other)
            }
        case .each(_, let values):
            try query.forEachValue(of: values.joined(with: others), &source) { elements, other in
                for element in elements { add(&results[element, default: initial], other) }
            }
        }
        return results
    }
}
