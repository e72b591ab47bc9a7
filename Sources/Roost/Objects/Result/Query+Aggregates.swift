import RoostEngine

extension Query {
    /// The smallest value of a field among the matching objects; NaN is none. `nil` where there is none.
    /// From an index that has the field in order, one object is read.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value? {
        try extreme(path, .ascending) { $0 == $0 }?[keyPath: path]
    }

    /// The largest value of a field among the matching objects; as `min(of:)`.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value? {
        try extreme(path, .descending) { $0 == $0 }?[keyPath: path]
    }

    /// The smallest value of a field among the matching objects that have one.
    public func min<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value? {
        try extreme(path, .ascending) { $0 != nil && $0 == $0 }?[keyPath: path]
    }

    /// The largest value of a field among the matching objects that have one.
    public func max<Value: IndexRepresentable & Comparable>(
        of path: KeyPath<Item, Value?> & Sendable
    ) throws -> Value? {
        try extreme(path, .descending) { $0 != nil && $0 == $0 }?[keyPath: path]
    }

    private func extreme<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable, _ order: ScanOrder,
        _ isOrdered: @escaping @Sendable (Value) -> Bool
    ) throws -> Item? {
        let field = Field<Item, Value>(path)
        let shape = Value.indexShape
        let ordered = IndexRegion(intervals: [
            .init(lower: shape.firstOrdered, upper: shape.endOfOrdered)
        ])
        let query =
            limitCount == nil && offsetCount == 0
            ? self.where(field.term(ordered, "has a value", isOrdered)) : nil
        guard var query else {
            // Of the objects that the limit leaves.
            let items = try fetch().filter { isOrdered($0[keyPath: path]) }
            return items.min { left, right in
                let isBefore = bytes(
                    IndexForm(left[keyPath: path]).bytes,
                    precede: IndexForm(right[keyPath: path]).bytes)
                return order == .ascending ? isBefore : !isBefore
            }
        }
        query.orders = []
        return try query.order(by: path, order).first()
    }

    /// The sum of a field over the matching objects; traps where it overflows.
    public func sum<Value: AdditiveArithmetic>(
        of path: KeyPath<Item, Value> & Sendable
    ) throws -> Value {
        var sum = Value.zero
        try forEach { sum += $0[keyPath: path] }
        return sum
    }

    /// The different values of a field among the matching objects, in order. Where an index has the field
    /// first and says all about the condition, one object of each value is read.
    public func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable
    ) throws -> [Value] {
        let view = try repository.dictionary.workspace.engine.view()
        defer { view.close() }
        var source = ViewSource(view: view)
        var found: [[UInt8]: Value] = [:]
        func add(_ value: Value) {
            var form = IndexForm.whole
            value.encode(into: &form)
            found[form.bytes] = value
        }
        if var groups = try IndexGroups(self, by: FieldPath(path), view) {
            for group in try groups.all(&source, isCounting: false) {
                try groups.forEachValue(of: group, path, &source) { value, _ in add(value) }
            }
        } else {
            try forEach(&source) { _, item in add(item[keyPath: path]) }
        }
        return found.sorted { bytes($0.key, precede: $1.key) }.map(\.value)
    }

    /// The matching objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> GroupedQuery<Item, Value> {
        GroupedQuery(query: self, path: path)
    }

    /// The matching objects, in order, as a sequence. It sees the moment at which it is iterated.
    public var objects: QueryObjects<Item> { QueryObjects(query: self) }
}

extension Repository {
    /// All objects by the value of a field.
    public func grouped<Value: Hashable>(
        by path: KeyPath<Item, Value> & Sendable
    ) -> GroupedQuery<Item, Value> {
        all.grouped(by: path)
    }

    /// The different values of a field, in order.
    public func distinct<Value: IndexRepresentable>(
        _ path: KeyPath<Item, Value> & Sendable
    ) throws -> [Value] {
        try all.distinct(path)
    }
}

/// A query's objects by the value of a field.
public struct GroupedQuery<Item: Identifiable & Sendable, Value: Hashable>: Sendable
where Item.ID: Sendable {
    let query: Query<Item>
    let path: KeyPath<Item, Value> & Sendable

    /// How many objects have each value. Where an index has the field first and says all about the
    /// query's condition, one object of each value is read.
    public func counts() throws -> [Value: Int] {
        let view = try query.repository.dictionary.workspace.engine.view()
        defer { view.close() }
        var source = ViewSource(view: view)
        guard var groups = try IndexGroups(query, by: FieldPath(path), view) else {
            return try reduced(0) { count, _ in count + 1 }
        }
        var counts: [Value: Int] = [:]
        for group in try groups.all(&source, isCounting: true) {
            try groups.forEachValue(of: group, path, &source) { value, count in
                counts[value, default: 0] += count
            }
        }
        return counts
    }

    /// The sum of another field for each value; traps where it overflows.
    public func sums<Number: AdditiveArithmetic>(
        of field: KeyPath<Item, Number> & Sendable
    ) throws -> [Value: Number] {
        try reduced(.zero) { $0 + $1[keyPath: field] }
    }

    /// The smallest value of another field for each value; NaN is none.
    public func minima<Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable
    ) throws -> [Value: Other] { try extremes(field, Swift.min) }

    /// The largest value of another field for each value; NaN is none.
    public func maxima<Other: Comparable>(
        of field: KeyPath<Item, Other> & Sendable
    ) throws -> [Value: Other] { try extremes(field, Swift.max) }

    private func extremes<Other: Comparable>(
        _ field: KeyPath<Item, Other>, _ better: (Other, Other) -> Other
    ) throws -> [Value: Other] {
        try reduced(nil) { best, item in
            let value = item[keyPath: field]
            guard value == value else { return best }
            return better(best ?? value, value)
        }.compactMapValues(\.self)
    }

    private func reduced<Result>(
        _ initial: Result, _ add: (Result, Item) -> Result
    ) throws -> [Value: Result] {
        var results: [Value: Result] = [:]
        try query.forEach { item in
            let value = item[keyPath: path]
            results[value] = add(results[value] ?? initial, item)
        }
        return results
    }
}

/// A query's objects, some at a time: pages that are read as they are asked for, of one moment.
public struct QueryObjects<Item: Identifiable & Sendable>: AsyncSequence, Sendable
where Item.ID: Sendable {
    public typealias Element = Item
    let query: Query<Item>

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let query: Query<Item>
        private var view: ReadView?
        private var cursor: PageCursor?
        private var items: [Item] = []
        private var place = 0
        private var isAtEnd = false
        private var remaining: Int

        fileprivate init(_ query: Query<Item>) {
            self.query = query
            remaining = query.limitCount ?? .max
        }

        /// - Throws: as ``Query/fetch()``; `.cancelled`.
        public mutating func next() async throws -> Item? {
            try checkCancellation()
            if place == items.count {
                if isAtEnd || remaining == 0 { return nil }
                try readOn()
                if items.isEmpty { return nil }
            }
            defer { place += 1 }
            return items[place]
        }

        private mutating func readOn() throws {
            let view = try self.view ?? query.repository.dictionary.workspace.readView()
            self.view = view
            var query = query
            query.limitCount = nil
            let page = try query.page(
                after: cursor, limit: Swift.min(256, remaining), in: view)
            items = page.items
            place = 0
            remaining -= items.count
            cursor = page.next
            isAtEnd = cursor == nil
            if isAtEnd { view.close() }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(query) }
}
