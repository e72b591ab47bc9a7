import RoostEngine
import RoostFormat
import RoostIO

// What the indexes offer to a query, and how many entries that is.

extension QueryPlanner {
    struct Candidate {
        let ranges: [IndexRanges<Item>]
        var count = 0
        var isCovering: Bool { ranges.count == 1 && ranges[0].isCovering }
    }

    /// The index whose order fits best: the one that leaves least to be sorted, and of those the one that leaves
    /// least to be asked of the objects.
    func bestOrder(of ranges: [IndexRanges<Item>]) -> IndexOrder<Item>? {
        let before = Array(query.ordersBeforeKeys)
        let fitting = ranges.flatMap { ranges in
            [IndexOrder(ranges, query.condition, before), orderThroughIdentifiers(ranges)]
                .compactMap { $0 }
        }
        return fitting.max { Self.rank($0) < Self.rank($1) }
    }

    /// The order of an index that has the identifier too. Where the objects stand in the query's order by themselves, it
    /// is of use only if it leaves out what does not match.
    private func orderThroughIdentifiers(_ ranges: IndexRanges<Item>) -> IndexOrder<Item>? {
        guard let place = query.orders.firstIndex(where: { $0.identifierOrder != nil }),
            place > 0 || ranges.fieldCount > 0 || ranges.active.index.filter != nil
        else { return nil }
        return IndexOrder(ranges, query.condition, Array(query.orders[...place]))
    }

    /// A partial index has left out what its filter says, as a field's range would.
    private static func rank(_ order: IndexOrder<Item>) -> (Int, Int, Int) {
        let fieldCount = order.ranges.fieldCount + (order.ranges.active.index.filter == nil ? 0 : 1)
        return (-order.unmatchedCount, fieldCount, order.needsSort ? 0 : 1)
    }

    /// As `IndexRanges.grouping(by:among:_:)`, among the indexes that may be used.
    func index(of paths: [FieldPath]) -> (ranges: IndexRanges<Item>, fieldCount: Int)? {
        IndexRanges.grouping(by: paths, among: usable, query.condition)
    }

    /// As `IndexRanges.grouping(byEach:among:_:)`, among the indexes that may be used.
    func index(ofElements path: FieldPath) -> IndexRanges<Item>? {
        IndexRanges.grouping(byEach: path, among: usable, query.condition)
    }

    /// An index that has every object once.
    var wholeIndex: IndexRanges<Item>? {
        usable.first { $0.index.filter == nil && !$0.index.fields[0].path.isEach }
            .flatMap { IndexRanges($0, .always(true)) }
    }

    /// The entries that say all: how many they are is what is asked for, and so not counted before.
    var covering: IndexRanges<Item>? {
        usable.lazy.compactMap { IndexRanges($0, query.condition) }
            .first { $0.isCovering && $0.fieldCount > 0 }
    }

    /// How many entries an order reads at most: where each of them is of a match, as many as the limit
    /// asks for. So no more need be counted to know that no other index has fewer.
    func mostEntries(of order: IndexOrder<Item>?) -> Int {
        guard let order, order.ranges.isCovering, order.ranges.fieldCount > 0,
            !order.needsSort, query.cursor == nil, let limit = query.limitCount
        else { return .max }
        let (most, hasOverflown) = limit.addingReportingOverflow(query.offsetCount)
        return hasOverflown ? .max : max(1, most)
    }

    /// Whether an order reads no more entries than the limit asks for, and no other index leaves any out: how
    /// many there are need not be counted to choose it.
    func isOnlyWay(_ order: IndexOrder<Item>, of ranges: [IndexRanges<Item>]) -> Bool {
        guard mostEntries(of: order) < .max else { return false }
        let hasUnion = query.condition.conjuncts.contains {
            if case .any = $0 { true } else { false }
        }
        return !hasUnion
            && ranges.allSatisfy {
                $0.fieldCount == 0 || $0.active.number == order.ranges.active.number
            }
    }

    /// The fewest entries that have all matching objects, if they are fewer than `most`; `nil` where
    /// they are not, and where no index leaves any out.
    func smallest(
        _ condition: ConditionNode<Item>, of ranges: [IndexRanges<Item>], below most: Int = .max
    ) throws -> Candidate? {
        var candidates: [Candidate] = []
        // A partial index leaves out what its filter says, also where the condition says nothing of its fields.
        for ranges in ranges where ranges.fieldCount > 0 || ranges.active.index.filter != nil {
            candidates.append(Candidate(ranges: [ranges]))
        }
        for part in condition.conjuncts {
            guard case .any(let parts) = part else { continue }
            if let union = try union(parts) { candidates.append(union) }
        }
        return try smallest(of: candidates, below: most)
    }

    /// The fewest entries that come in the order of the objects' keys, if they are fewer than `most`.
    func smallestInKeyOrder(below most: Int) throws -> IndexRanges<Item>? {
        let candidates = usable.compactMap { IndexRanges($0, query.condition) }
            .filter { $0.fieldCount > 0 && $0.mayEndEarly }
        return try smallest(of: candidates.map { Candidate(ranges: [$0]) }, below: most)?.ranges[0]
    }

    /// The entries of each of several conditions of which one must hold.
    func union(_ parts: [ConditionNode<Item>]) throws -> Candidate? {
        var union: [IndexRanges<Item>] = []
        for part in parts {
            let ranges = usable.compactMap { IndexRanges($0, part) }
            guard let candidate = try smallest(part, of: ranges) else { return nil }
            union += candidate.ranges
        }
        return Candidate(ranges: union)
    }

    func smallest(of candidates: [Candidate], below most: Int) throws -> Candidate? {
        guard var first = candidates.first else { return nil }
        var limit = min(Self.manyEntries, most)
        while true {
            var best: Candidate?
            for candidate in candidates {
                let bound = best?.count ?? limit
                let count = try count(candidate, upTo: bound)
                guard count < bound else { continue }
                best = candidate
                best?.count = count
            }
            if let best { return best }
            if limit >= most { return nil }
            if candidates.count == 1, limit >= Self.manyEntries * 64 {
                // It is the only one: how many more there are only a scan's cost would ask.
                first.count = try count(first, upTo: .max)
                return first
            }
            limit = min(limit * 8, most)
        }
    }

    // MARK: Counting

    func count(_ candidate: Candidate, upTo limit: Int) throws -> Int {
        var sum = 0
        for ranges in candidate.ranges {
            for range in ranges.ranges where sum < limit {
                sum += try count(
                    RecordRange(
                        ranges.active.entries, lower: range.lower, upper: range.upper),
                    upTo: limit - sum)
            }
        }
        return sum
    }

    func count(_ range: RecordRange, upTo limit: Int) throws -> Int {
        if limit == .max, let count = try view.count(in: range) { return count }
        let scan = try view.scan(range, .ascending, limit: limit)
        var count = 0
        while count < limit, scan.recordKey != nil {
            count += 1
            try scan.moveToNext()
        }
        return count
    }
}
