import RoostEngine
import RoostFormat

/// The entries of an index by the values of its first fields, or by each element that it has: for counts of each value,
/// and for the different values, without the objects but one of each.
struct IndexGroups<Item: Identifiable & Sendable> where Item.ID: Sendable {
    struct Group {
        /// Of the first fields.
        let form: [UInt8]
        /// Whether several values may have the form.
        let isTruncated: Bool
        /// The key of the first object.
        let objectKey: [UInt8]
        /// How many entries have the form; 1 where they are not counted.
        var count = 1
    }

    private let ranges: IndexRanges<Item>
    /// How many fields of the index the groups are told apart by.
    private let fieldCount: Int
    private var run: QueryRun<Item>
    /// Entries of one value are passed by up to here; those after cost a search.
    private static var stepCount: Int { 16 }

    /// `nil` where no index has just the objects of the query, by the fields.
    init?<Source: ObjectSource & ~Copyable>(
        _ query: Query<Item>, by paths: [FieldPath], _ source: inout Source
    ) throws {
        try self.init(query, &source) { $0.index(of: paths) }
    }

    /// `nil` where no index has the elements of just the objects of the query.
    init?<Source: ObjectSource & ~Copyable>(
        _ query: Query<Item>, byEach path: FieldPath, _ source: inout Source
    ) throws {
        try self.init(query, &source) { planner in planner.index(ofElements: path).map { ($0, 1) } }
    }

    private init?<Source: ObjectSource & ~Copyable>(
        _ query: Query<Item>, _ source: inout Source,
        _ index: (QueryPlanner<Item>) -> (ranges: IndexRanges<Item>, fieldCount: Int)?
    ) throws {
        // Which of a group's objects do not decode the entries do not say.
        guard query.isWhole, query.undecodable == nil else { return nil }
        let name = try query.repository.dictionary.checkedName()
        let view = try source.planningView()
        let planner = try QueryPlanner(
            query, view, showsIndexes: source.showsIndexes(of: name),
            mayLook: !source.isWaitedFor)
        guard let found = index(planner) else { return nil }
        try source.noteMark(found.ranges.active.mark)
        ranges = found.ranges
        fieldCount = found.fieldCount
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
            let (index, fieldCount) = (ranges.active.index, fieldCount)
            try run.forEachEntry(rest, .ascending, &source) { entry in
                let form = index.form(entry.form, fieldCount: fieldCount)
                guard form == groups.last?.form else {
                    groups.append(
                        Group(
                            form: form,
                            isTruncated: entry.truncatedField.map { $0 < fieldCount } ?? false,
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
        of group: Group, _ values: Projection<Item, Value>, _ source: inout Source,
        _ body: (Value, _ count: Int) -> Void
    ) throws {
        if !group.isTruncated, let item = try run.object(group.objectKey, &source) {
            let value = withUnsafePointer(to: item) { values.value($0) }
            if value == value { return body(value, group.count) }
        }
        try forEachObject(of: group, &source) { body(values.value($0), 1) }
    }

    /// As `forEachValue`, of the elements that the group is of.
    mutating func forEachElement<Element: Equatable, Source: ObjectSource & ~Copyable>(
        of group: Group, _ elements: Projection<Item, [Element]>, _ source: inout Source,
        _ body: (Element, _ count: Int) -> Void
    ) throws {
        func elementsOfGroup(_ object: UnsafePointer<Item>) -> [Element] {
            Roost.elements(of: elements.value(object), withForm: group.form)
        }
        if !group.isTruncated, let item = try run.object(group.objectKey, &source),
            let element = withUnsafePointer(to: item, { elementsOfGroup($0).first }),
            element == element
        {
            return body(element, group.count)
        }
        try forEachObject(of: group, &source) { object in
            for element in elementsOfGroup(object) { body(element, 1) }
        }
    }

    private mutating func forEachObject<Source: ObjectSource & ~Copyable>(
        of group: Group, _ source: inout Source, _ body: (UnsafePointer<Item>) -> Void
    ) throws {
        var keys: [[UInt8]] = []
        try run.forEachEntry(ranges.with(form: group.form), .ascending, &source) { entry in
            keys.append(entry.objectKey)
            return true
        }
        for key in keys {
            if let item = try run.object(key, &source) { withUnsafePointer(to: item) { body($0) } }
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
}
