import Roost

// Values of the matching objects: their sums, averages and extremes, and the values themselves. All of one call are of one
// revision.

extension SharedQuery {
    /// The smallest value of a field among the matching objects; NaN is none. `nil` where there is none. From an index that
    /// has the field in order, one object is read; else each match, of which a piece is in memory at a time.
    ///
    /// - Throws: as ``fetch()``.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value? {
        try await least(path, .ascending)
    }

    /// The largest value of a field among the matching objects; as `min(of:)`.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value? {
        try await least(path, .descending)
    }

    /// The smallest value of a field among the matching objects that have one. Else as the call for a field that every object
    /// has.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value? {
        try await leastPresent(path, .ascending)
    }

    /// The largest value of a field among the matching objects that have one. Else as the call for a field that every object
    /// has.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value? {
        try await leastPresent(path, .descending)
    }

    /// The sum of a field over the matching objects, which are read, a piece of them in memory at a time.
    ///
    /// - Throws: `.overflow` where the sum of integers or of durations does not fit into their type, whatever is added first;
    ///   as ``fetch()``. The sum of another type is what its `+` makes, in whatever order the objects are read.
    public func sum<Value: AdditiveArithmetic & Sendable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value {
        try await sum(path, in: nil)
    }

    /// The sum of a field over the matching objects that have a value in it; zero where none has one. Else as the call for a
    /// field that every object has.
    public func sum<Value: AdditiveArithmetic & Sendable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value {
        try await sumPresent(path, in: nil)
    }

    /// The average of a field over the matching objects; `nil` where there are none. It reads what `sum(of:)` does.
    ///
    /// Of integers and of floating point it is a `Double`. Integers are added up exactly, however many and however large they
    /// are; the sum is rounded to `Double`, and so is the quotient. Floating point is added up as `Double`, in the order in
    /// which the objects are read. Other types say by `Averageable` what their average is.
    ///
    /// - Throws: as ``fetch()``.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> Value.Average? where Value.Average: Sendable {
        try await average(path, in: nil)
    }

    /// The average of a field over the matching objects that have a value in it; `nil` where none has one. Else as the call
    /// for a field that every object has.
    public func average<Value: Averageable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) async throws -> Value.Average? where Value.Average: Sendable {
        try await averagePresent(path, in: nil)
    }

    /// The different values of a field among the matching objects, in order. Where an index has the field first, or behind
    /// others of which the condition says one value, and says all about the condition, one object of each value is read,
    /// and of the entries of one value no more than a page; else each match.
    ///
    /// - Throws: as ``fetch()``.
    public func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable
    ) async throws -> [Value] {
        try await distinct(path, in: nil)
    }

    // MARK: Fields

    /// A field of each matching object, in the query's order: as `fetch().map(\.title)`, which holds the objects.
    ///
    /// - Throws: as ``fetch()``.
    public func values<Value: Sendable>(
        of path: KeyPath<Item, Value> & Sendable
    ) async throws -> [Value] {
        try await values(Projection(path), in: nil)
    }

    /// Two fields of each matching object, in the query's order; as the call for one.
    public func values<A: Sendable, B: Sendable>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) async throws -> [(A, B)] {
        try await values(Projection(first, second), in: nil)
    }

    /// Three fields of each matching object, in the query's order; as the call for one.
    public func values<A: Sendable, B: Sendable, C: Sendable>(
        of first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) async throws -> [(A, B, C)] {
        try await values(Projection(first, second, third), in: nil)
    }
}

// MARK: - In an attempt of a transaction, or without one

extension SharedQuery {
    nonisolated(nonsending) func least<Value: IndexRepresentable & Comparable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder,
        in attempt: SharedTransaction? = nil
    ) async throws -> Value? {
        try await extreme(path, order, in: attempt) { $0 == $0 }
    }

    nonisolated(nonsending) func leastPresent<Value: IndexRepresentable & Comparable>(
        _ path: KeyPath<Item, Value?> & Sendable, _ order: ScanOrder,
        in attempt: SharedTransaction? = nil
    ) async throws -> Value? {
        try await extreme(path, order, in: attempt) { $0 != nil && $0 == $0 } ?? nil
    }

    /// The first value in the order of a field, of those that `<` is told of.
    private nonisolated(nonsending) func extreme<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder,
        in attempt: SharedTransaction?, _ isOrdered: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value? {
        let source = try await source(in: attempt)
        let field = Projection(path)
        if terms.isWhole, !source.hasChanges {
            var ordered = self
            ordered.terms.removeOrders()
            ordered = ordered.order(by: path, order)
            let isInOrder = try await SharedQueryRun(ordered, source, field.making)
                .comesInOrder()
            if isInOrder {
                if let having = Condition.having(path, isOrdered) {
                    ordered = ordered.where(having)
                }
                ordered = ordered.limit(1)
                // Whichever has the value.
                ordered.terms.mixesTies = true
                return try await SharedQueryRun(ordered, source, field.making)
                    .fetch().first
            }
        }
        var first = FirstInOrder<Value>(order)
        try await SharedQueryRun(self, source, field.making).forEach { value in
            if isOrdered(value) { first.add(value, value) }
        }
        return first.kept
    }

    nonisolated(nonsending) func sum<Value: AdditiveArithmetic>(
        _ path: KeyPath<Item, Value> & Sendable, in attempt: SharedTransaction?
    ) async throws -> Value {
        var sum = CheckedSum<Value>()
        try await forEachValue(Projection(path), in: attempt) { sum.add($0) }
        return try sum.value(of: path)
    }

    nonisolated(nonsending) func sumPresent<Value: AdditiveArithmetic>(
        _ path: KeyPath<Item, Value?> & Sendable, in attempt: SharedTransaction?
    ) async throws -> Value {
        var sum = CheckedSum<Value>()
        try await forEachValue(Projection(path), in: attempt) { value in
            if let value { sum.add(value) }
        }
        return try sum.value(of: path)
    }

    nonisolated(nonsending) func average<Value: Averageable>(
        _ path: KeyPath<Item, Value> & Sendable, in attempt: SharedTransaction?
    ) async throws -> Value.Average? {
        var values = AverageOfValues<Value>()
        try await forEachValue(Projection(path), in: attempt) { values.add($0) }
        return values.average
    }

    nonisolated(nonsending) func averagePresent<Value: Averageable>(
        _ path: KeyPath<Item, Value?> & Sendable, in attempt: SharedTransaction?
    ) async throws -> Value.Average? {
        var values = AverageOfValues<Value>()
        try await forEachValue(Projection(path), in: attempt) { value in
            if let value { values.add(value) }
        }
        return values.average
    }

    nonisolated(nonsending) func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, in attempt: SharedTransaction?
    ) async throws -> [Value] {
        var found = DistinctValues<Value>()
        let field = Projection(path)
        let run = SharedQueryRun(self, try await source(in: attempt), field.making)
        let isTold = try await run.forEachGroup(by: [FieldPath(of: path)], isCounting: false) {
            made, _ in
            [made]
        } _: { value, _ in
            found.add(value)
        }
        if !isTold { try await run.forEach { found.add($0) } }
        return found.inOrder
    }

    nonisolated(nonsending) func values<Value>(
        _ projection: Projection<Item, Value>, in attempt: SharedTransaction?
    ) async throws -> [Value] {
        try await SharedQueryRun(self, in: attempt, projection.making).fetch()
    }

    /// Calls `body` with a value of each match, in any order.
    nonisolated(nonsending) func forEachValue<Value>(
        _ projection: Projection<Item, Value>, in attempt: SharedTransaction?,
        _ body: (Value) throws -> Void
    ) async throws {
        try await SharedQueryRun(self, in: attempt, projection.making).forEach(body)
    }

    /// Where several runs read of one revision; where there may be an index, it has been read which there are.
    nonisolated(nonsending) func source(
        in attempt: SharedTransaction?
    ) async throws -> SharedQuerySource {
        let source = SharedQuerySource(repository.dictionary, attempt)
        return repository.indexes == nil ? source : try await source.withCatalog()
    }
}
