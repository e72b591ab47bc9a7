import RoostEngine
import RoostFormat

/// The entries of an index by the value of its first field: for counts of each value, and for the
/// different values, without the objects but one of each.
struct IndexGroups<Item: Identifiable & Sendable> where Item.ID: Sendable {
    struct Group {
        /// Of the first field.
        let form: [UInt8]
        /// Whether several values may have the form.
        let isTruncated: Bool
        /// The key of the first object.
        let objectKey: [UInt8]
        /// How many entries have the form; 1 where they are not counted.
        var count = 1
    }

    private let ranges: IndexRanges<Item>
    private var run: QueryRun<Item>
    /// Entries of one value are passed by up to here; those after cost a search.
    private static var stepCount: Int { 16 }

    /// `nil` where no index has just the objects of the query, by the field.
    init?<Source: ObjectSource & ~Copyable>(
        _ query: Query<Item>, by path: FieldPath, _ source: inout Source
    ) throws {
        guard query.limitCount == nil, query.offsetCount == 0, query.cursor == nil else {
            return nil
        }
        let name = try query.repository.dictionary.checkedName()
        let view = try source.planningView()
        let planner = try QueryPlanner(
            query, view, showsIndexes: source.showsIndexes(of: name),
            mayLook: !source.isWaitedFor)
        guard let ranges = planner.index(of: path) else { return nil }
        try source.noteMark(ranges.active.mark)
        self.ranges = ranges
        run = try QueryRun(query, view)
    }

    /// The groups in the order of the index; `isCounting` goes through all entries of each.
    mutating func all<Source: ObjectSource & ~Copyable>(
        _ source: inout Source, isCounting: Bool
    ) throws -> [Group] {
        var groups: [Group] = []
        var rest = ranges
        while true {
            var skipped: [UInt8]?
            var passed = 0
            let index = ranges.active.index
            try run.forEachEntry(rest, .ascending, &source) { entry in
                let form = index.form(entry.form, fieldCount: 1)
                guard form == groups.last?.form else {
                    groups.append(
                        Group(
                            form: form, isTruncated: entry.truncatedField == 0,
                            objectKey: entry.objectKey))
                    passed = 0
                    return true
                }
                if isCounting {
                    groups[groups.count - 1].count += 1
                    return true
                }
                passed += 1
                if passed == Self.stepCount { skipped = form }
                return passed < Self.stepCount
            }
            guard let skipped else { return groups }
            rest = rest.from(followerOfPrefix(skipped))
        }
    }

    /// Calls `body` with an object of a group, for all that the form says; with each of them where it
    /// does not say all.
    mutating func forEachValue<Value: Equatable, Source: ObjectSource & ~Copyable>(
        of group: Group, _ path: KeyPath<Item, Value>, _ source: inout Source,
        _ body: (Value, _ count: Int) -> Void
    ) throws {
        if !group.isTruncated, let item = try run.object(group.objectKey, &source) {
            let value = item[keyPath: path]
            if value == value { return body(value, group.count) }
        }
        var keys: [[UInt8]] = []
        try run.forEachEntry(ranges.with(form: group.form), .ascending, &source) { entry in
            keys.append(entry.objectKey)
            return true
        }
        for key in keys {
            if let item = try run.object(key, &source) { body(item[keyPath: path], 1) }
        }
    }
}

extension IndexRanges {
    /// What of the ranges is at `bound` or after it; nothing where that is `nil`.
    fileprivate func from(_ bound: [UInt8]?) -> IndexRanges {
        var rest = self
        guard let bound else {
            rest.ranges = []
            return rest
        }
        rest.ranges = ranges.compactMap { range in
            var range = range
            if range.lower.lexicographicallyPrecedes(bound) { range.lower = bound }
            return range.isEmpty ? nil : range
        }
        return rest
    }

    /// All entries whose first field has a form.
    fileprivate func with(form: [UInt8]) -> IndexRanges {
        var rest = self
        rest.ranges = [IndexRegion.Interval(lower: form, upper: followerOfPrefix(form))]
        return rest
    }
}
