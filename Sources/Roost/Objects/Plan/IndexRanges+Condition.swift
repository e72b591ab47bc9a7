extension IndexRanges {
    /// No more ranges than that are made of several fields' values.
    private static var rangeLimit: Int { 4096 }

    /// The entries of an index that a condition leaves; `nil` where the index does not have all
    /// matching objects.
    init?(_ active: IndexSet<Item>.Active, _ condition: ConditionNode<Item>) {
        let index = active.index
        if let filter = index.filter, !condition.implies(filter) { return nil }
        var prefixes: [[UInt8]] = [[]]
        var ranges: [IndexRegion.Interval]?
        var fieldCount = 0
        for field in index.fields {
            let region = condition.region(of: field.path)
            if region.isEverything { break }
            let intervals =
                field.isDescending
                ? region.intervals.map { $0.inverted }.filter { !$0.isEmpty }.reversed()
                : region.intervals
            // Of more of them together the objects are asked.
            let isFew = intervals.count * prefixes.count <= Self.rangeLimit
            if !isFew, prefixes.count > 1 { break }
            fieldCount += 1
            if isFew, intervals.allSatisfy({ $0.isPoint }) {
                prefixes = prefixes.flatMap { prefix in intervals.map { prefix + $0.lower } }
            } else {
                ranges = Self.ranges(prefixes, intervals)
                break
            }
        }
        guard fieldCount > 0 || !index.fields[0].path.isEach else { return nil }
        self.active = active
        self.ranges =
            ranges
            ?? prefixes.map { IndexRegion.Interval(lower: $0, upper: followerOfPrefix($0)) }
        self.fieldCount = fieldCount
        isInKeyOrder =
            ranges == nil && prefixes.count == 1 && fieldCount == index.fields.count
        isCovering = Self.isCovering(index, fieldCount, condition)
    }

    /// All entries of an index over elements; `nil` where it is not known that they are of just the objects that match a
    /// condition. A condition on the elements leaves objects, with all of their elements.
    init?(elementsOf active: IndexSet<Item>.Active, _ condition: ConditionNode<Item>) {
        let index = active.index
        if let filter = index.filter, !condition.implies(filter) { return nil }
        guard Self.isCovering(index, 0, condition) else { return nil }
        self.init(
            active: active, ranges: IndexRegion.everything.intervals, fieldCount: 0,
            isInKeyOrder: false, isCovering: true)
    }

    private static func ranges(
        _ prefixes: [[UInt8]], _ intervals: [IndexRegion.Interval]
    ) -> [IndexRegion.Interval] {
        prefixes.flatMap { prefix in
            intervals.map { interval in
                IndexRegion.Interval(
                    lower: prefix + interval.lower,
                    upper: interval.upper.map { prefix + $0 } ?? followerOfPrefix(prefix))
            }
        }
    }

    /// Whether the ranges leave nothing to ask of the objects.
    private static func isCovering(
        _ index: Index<Item>, _ fieldCount: Int, _ condition: ConditionNode<Item>
    ) -> Bool {
        let fields = index.fields.prefix(fieldCount).map { $0.path }
        return condition.conjuncts.allSatisfy { part in
            if case .always(true) = part { return true }
            guard let field = part.onlyField else { return false }
            if field.isEach {
                // An entry says what one element is: not what another is too, nor that none is something.
                return fields.contains(field) && condition.conjuncts.count == 1
                    && part.isTermOrAny
            }
            if fields.contains(field) { return true }
            return index.filter?.region(of: field).isSubset(of: part.region(of: field)) ?? false
        }
    }
}

extension IndexOrder {
    /// `ranges` in the order that a query asks for; `nil` where they are not.
    init?(
        _ ranges: IndexRanges<Item>, _ condition: ConditionNode<Item>, _ orders: [OrderTerm<Item>]
    ) {
        guard !orders.isEmpty, !ranges.mayRepeat else { return nil }
        let fields = ranges.active.index.fields
        // The fields that have one value come first, and say nothing of the order.
        var place = 0
        var fixedForm: [UInt8] = []
        while place < fields.count, place < ranges.fieldCount {
            let region = condition.region(of: fields[place].path)
            guard region.intervals.count == 1, let point = region.intervals.first, point.isPoint
            else { break }
            fixedForm += fields[place].isDescending ? point.lower.map { ~$0 } : point.lower
            place += 1
        }
        fixedCount = place
        self.fixedForm = fixedForm
        guard ranges.ranges.count == 1 || ranges.fieldCount == place + 1 else { return nil }
        let fixed = fields[..<place].map { $0.path }
        var isReversed: Bool?
        var matched = 0
        for order in orders where !fixed.contains(order.path) {
            guard place < fields.count, fields[place].path == order.path else { break }
            let isTurned = fields[place].isDescending != order.isDescending
            if let isReversed, isReversed != isTurned { break }
            isReversed = isTurned
            place += 1
            matched += 1
        }
        let wanted = orders.filter { !fixed.contains($0.path) }.count
        // Fixed fields alone leave the objects in the order of their keys, or of what is after.
        guard matched > 0 || wanted == 0 else { return nil }
        self.ranges = ranges
        self.isReversed = isReversed ?? false
        fieldCount = place
        unmatchedCount = wanted - matched
        needsSort = matched < wanted || place < fields.count || self.isReversed
    }
}

extension IndexOrder {
    /// The form of a field that has one value.
    private func fixedForm(of path: FieldPath) -> [UInt8]? {
        fixedForm.withUnsafeBytes { bytes in
            var place = 0
            for field in ranges.active.index.fields[..<fixedCount] {
                let end = field.shape.layout.end(
                    in: bytes, from: place, isInverted: field.isDescending)?.end
                guard let end else { return nil }
                if field.path == path { return Array(bytes[place..<end]) }
                place = end
            }
            return nil
        }
    }

    /// Without the entries that are before a cursor whatever object they name. `orders` are the query's.
    func from(_ cursor: [UInt8], _ orders: [OrderTerm<Item>]) -> IndexOrder {
        // Longer ones may be cut off in the index.
        guard cursor.count < IndexForm.fieldSizeLimitBytes else { return self }
        let fixed = ranges.active.index.fields[..<fixedCount]
        var fields = ranges.active.index.fields[fixedCount..<fieldCount]
        var form = fixedForm
        // Where the object's key begins in the cursor.
        var keyStart: Int?
        let isParsed = cursor.withUnsafeBytes { bytes in
            var place = 0
            var isAtKey = true
            for order in orders {
                guard let field = fields.first else {
                    isAtKey = false
                    break
                }
                let isFixed = order.path != field.path
                guard let known = isFixed ? fixed.first(where: { $0.path == order.path }) : field
                else { return false }
                if let identifiers = order.identifierOrder {
                    // Its place has the key, and is the last.
                    guard
                        let identifier = order.key(inSortKey: bytes, from: place)
                            .flatMap({ identifiers.form(key: $0) })
                    else { return false }
                    let turned = identifier.map { known.isDescending ? ~$0 : $0 }
                    if isFixed { return fields.isEmpty && turned == fixedForm(of: known.path) }
                    fields.removeFirst()
                    form += turned
                    isAtKey = false
                    break
                }
                guard
                    let end = known.shape.layout.end(
                        in: bytes, from: place, isInverted: order.isDescending)?.end
                else { return false }
                if isFixed {
                    // The page before may be of the same query with another value there, or with none.
                    let isTurned = order.isDescending != known.isDescending
                    let turned = bytes[place..<end].map { isTurned ? ~$0 : $0 }
                    guard turned == fixedForm(of: known.path) else { return false }
                    place = end
                    continue
                }
                fields.removeFirst()
                let isTurned = order.isDescending != field.isDescending
                form += bytes[place..<end].map { isTurned ? ~$0 : $0 }
                place = end
            }
            if isAtKey { keyStart = place }
            return fields.isEmpty
        }
        guard isParsed else { return self }
        // Where entries with the same fields come in the order of the objects' keys.
        if let keyStart, !needsSort, !ranges.active.index.isUnique {
            form += cursor[keyStart...] + [0]
        }
        var rest = self
        rest.ranges.ranges = ranges.ranges.compactMap { range in
            var range = range
            if isReversed {
                if let end = followerOfPrefix(form),
                    range.upper.map({ end.lexicographicallyPrecedes($0) }) ?? true
                {
                    range.upper = end
                }
            } else if range.lower.lexicographicallyPrecedes(form) {
                range.lower = form
            }
            return range.isEmpty ? nil : range
        }
        return rest
    }
}
