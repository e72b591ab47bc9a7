import RoostEngine

extension Query {
    /// The smallest value of a field among the matching objects; NaN is none. `nil` where there is none.
    /// From an index that has the field in order, one object is read.
    ///
    /// - Throws: as ``fetch()``.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value? {
        try atOneMoment { try least(path, .ascending, &$0) }
    }

    /// The largest value of a field among the matching objects; as `min(of:)`.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value? {
        try atOneMoment { try least(path, .descending, &$0) }
    }

    /// The smallest value of a field among the matching objects that have one. Else as the call for a field
    /// that every object has.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value? {
        try atOneMoment { try leastPresent(path, .ascending, &$0) }
    }

    /// The largest value of a field among the matching objects that have one. Else as the call for a field that
    /// every object has.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value? {
        try atOneMoment { try leastPresent(path, .descending, &$0) }
    }

    /// The sum of a field over the matching objects. Where the type says where its fields are (`StoredFields`), it is read
    /// from these, and no object is made.
    ///
    /// - Throws: `.overflow` where the sum of integers or of durations does not fit into their type,
    ///   whatever is added first; as ``fetch()``. The sum of another type is what its `+` makes.
    public func sum<Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value {
        try atOneMoment { try sum(path, &$0) }
    }

    /// The sum of a field over the matching objects that have a value in it; zero where none has one. Else as the call for a
    /// field that every object has.
    public func sum<Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value {
        try atOneMoment { try sumPresent(path, &$0) }
    }

    /// The average of a field over the matching objects; `nil` where there are none. It reads what `sum(of:)` does.
    ///
    /// Of integers and of floating point it is a `Double`. Integers are added up exactly, however many and however large
    /// they are; the sum is rounded to `Double`, and so is the quotient. Floating point is added up as `Double`, one value
    /// after the other: a NaN makes it NaN, and a sum that is too large infinite. Of `Decimal` it is a `Decimal`, as the
    /// type's own `+` and `/` make it.
    ///
    /// - Throws: as ``fetch()``.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value.Average? {
        try atOneMoment { try average(path, &$0) }
    }

    /// The average of a field over the matching objects that have a value in it; `nil` where none has one. Else as the call
    /// for a field that every object has.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value.Average? {
        try atOneMoment { try averagePresent(path, &$0) }
    }

    /// The different values of a field among the matching objects, in order. Where an index has the field
    /// first and says all about the condition, one object of each value is read.
    ///
    /// - Throws: as ``fetch()``.
    public func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable
    ) throws -> [Value] {
        try atOneMoment { try distinct(path, &$0) }
    }

    /// The matching objects, in order, as a sequence. It sees the moment at which it is iterated.
    public var objects: QueryObjects<Item> { QueryObjects(query: self) }
}

extension Repository {
    /// The different values of a field, in order. As `distinct(_:)` of a query.
    public func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable
    ) throws -> [Value] {
        try all.distinct(path)
    }
}

// MARK: From a source

extension Query {
    func least<Value: IndexRepresentable & Comparable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder, _ source: inout Source
    ) throws -> Value? {
        try extreme(path, order, &source) { $0 == $0 }?[keyPath: path]
    }

    func leastPresent<Value: IndexRepresentable & Comparable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value?> & Sendable, _ order: ScanOrder, _ source: inout Source
    ) throws -> Value? {
        try extreme(path, order, &source) { $0 != nil && $0 == $0 }?[keyPath: path]
    }

    /// The first object in the order of a field, of those that have a value in it.
    private func extreme<Value: IndexRepresentable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder, _ source: inout Source,
        _ isOrdered: @escaping @Sendable (Value) -> Bool
    ) throws -> Item? {
        guard limitCount == nil, offsetCount == 0 else {
            return try extremeOfLimited(path, order, &source, isOrdered)
        }
        var query = self
        if let having = Condition.having(path, isOrdered) { query = query.where(having) }
        query.orders = []
        return try query.order(by: path, order).limit(1).fetch(&source).first
    }

    /// Of the objects that the limit leaves.
    private func extremeOfLimited<Value: IndexRepresentable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder, _ source: inout Source,
        _ isOrdered: (Value) -> Bool
    ) throws -> Item? {
        var first = FirstInOrder<Item>(order)
        try forEach(&source) { _, item in
            let value = item[keyPath: path]
            if isOrdered(value) { first.add(value, item) }
        }
        return first.kept
    }

    func sum<Value: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value> & Sendable, _ source: inout Source
    ) throws -> Value {
        var sum = CheckedSum<Value>()
        try forEachValue(of: Projection(path), &source) { sum.add($0) }
        return try sum.value(of: path)
    }

    func sumPresent<Value: AdditiveArithmetic, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value?> & Sendable, _ source: inout Source
    ) throws -> Value {
        var sum = CheckedSum<Value>()
        try forEachValue(of: Projection(path), &source) { value in
            if let value { sum.add(value) }
        }
        return try sum.value(of: path)
    }

    func average<Value: Averageable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value> & Sendable, _ source: inout Source
    ) throws -> Value.Average? {
        var values = AverageOfValues<Value>()
        try forEachValue(of: Projection(path), &source) { values.add($0) }
        return values.average
    }

    func averagePresent<Value: Averageable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value?> & Sendable, _ source: inout Source
    ) throws -> Value.Average? {
        var values = AverageOfValues<Value>()
        try forEachValue(of: Projection(path), &source) { value in
            if let value { values.add(value) }
        }
        return values.average
    }

    func distinct<Value: IndexRepresentable, Source: ObjectSource & ~Copyable>(
        _ path: KeyPath<Item, Value> & Sendable, _ source: inout Source
    ) throws -> [Value] {
        var found = DistinctValues<Value>()
        let values = Projection(path)
        if var groups = try IndexGroups(self, by: [FieldPath(path)], &source) {
            for group in try groups.all(&source, isCounting: false) {
                try groups.forEachValue(of: group, values, &source) { value, _ in found.add(value) }
            }
        } else {
            try forEachValue(of: values, &source) { found.add($0) }
        }
        return found.inOrder
    }
}
