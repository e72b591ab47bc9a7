import RoostFormat
import RoostIO

/// Which entries of which indexes answer a query, where reading one costs a request and nothing is counted before.
package struct EntryPlan<Item: Sendable>: Sendable {
    /// Ranges of one index's entries, in ascending order, apart from each other.
    package struct Part: Sendable {
        /// The place of the index in the declaration.
        package let place: Int
        /// Of the entries' keys; without an upper end, up to the last.
        package let ranges: [(lower: [UInt8], upper: [UInt8]?)]
    }

    /// An object is named by the entries of any of them.
    package let parts: [Part]
    /// Whether the entries are just those of the matching objects.
    package let isCovering: Bool
    /// Whether an object may have several entries among them.
    package let mayRepeat: Bool
    private let order: IndexOrder<Item>?
    /// How the objects' keys are to come, where the entries have them in order; `nil` where they have not.
    private let keyOrder: ScanOrder?
    private let active: [IndexSet<Item>.Active]

    /// Whether the entries come in the query's order, those of one group in any.
    package var isOrdered: Bool { order != nil || keyOrder != nil }
    /// Whether they are to be read from the last to the first.
    package var isReversed: Bool { order?.isReversed ?? (keyOrder == .descending) }
    /// Whether those that the order does not tell apart come as the entries do.
    private let mixesTies: Bool

    init(
        _ all: [IndexRanges<Item>], _ order: IndexOrder<Item>?, keyOrder: ScanOrder? = nil,
        mixesTies: Bool = false, _ active: [IndexSet<Item>.Active]
    ) {
        self.keyOrder = keyOrder
        self.mixesTies = mixesTies
        parts = all.map { ranges in
            Part(
                place: Int(ranges.active.number),
                ranges: ranges.ranges.map { ($0.lower, $0.upper) })
        }
        isCovering = all.count == 1 && all[0].isCovering
        mayRepeat = all.count > 1 || all[0].mayRepeat
        self.order = order
        self.active = active
    }

    /// The object that an entry names, and what of the entry the query's order tells apart from others: `nil` where the
    /// entry's place is the object's own.
    package func entry(
        _ key: [UInt8], _ value: [UInt8], at place: Int
    ) throws -> (objectKey: [UInt8], group: [UInt8]?) {
        let index = active[place].index
        guard let (end, truncatedField) = key.withUnsafeBytes({ index.parse($0) }) else {
            throw Self.malformed(index)
        }
        let objectKey =
            end < key.count || !index.isUnique
            ? Array(key[end...]) : DeclaredIndexes<Item>.objectKey(inValue: value)
        guard let order else { return (objectKey, keyOrder == nil ? [] : nil) }
        let isSorted = !order.needsSort || mixesTies && order.unmatchedCount == 0
        if isSorted, truncatedField == nil { return (objectKey, nil) }
        let toldApart = min(order.fieldCount, truncatedField.map { $0 + 1 } ?? .max)
        return (objectKey, index.form(Array(key[..<end]), fieldCount: toldApart))
    }

    /// What is thrown where a record among the entries is none.
    static func malformed(_ index: Index<Item>) -> RoostError {
        RoostError(
            .corrupt,
            "an entry of index \"\(index.name)\" is none: give the index another name and build it")
    }
}

extension DeclaredIndexes {
    /// The entries that leave the fewest objects, as far as the condition and the indexes say; `nil` where those of
    /// no index are fewer than the objects, unless all of them are asked for in its order.
    package func plan(
        _ terms: QueryTerms<Item>, usable: Set<Int>, isCounting: Bool = false
    ) -> EntryPlan<Item>? {
        let fitting = usable.sorted().map { active[$0] }
        guard
            let (ranges, order) = best(fitting, terms, isCounting) ?? union(fitting, terms)
        else { return nil }
        if let order {
            let rest = terms.cursor.map { order.from($0, terms.orders) } ?? order
            return EntryPlan([rest.ranges], rest, mixesTies: terms.mixesTies, active)
        }
        guard !isCounting, let keyOrder = OrderTerm.keyOrder(of: terms.orders), ranges.count == 1,
            ranges[0].mayEndEarly
        else { return EntryPlan(ranges, nil, active) }
        let rest = terms.cursorKey.map { ranges[0].behind(objectKey: $0, keyOrder) } ?? ranges[0]
        return EntryPlan([rest], nil, keyOrder: keyOrder, active)
    }

    private typealias Choice = (ranges: [IndexRanges<Item>], order: IndexOrder<Item>?)

    private func best(
        _ fitting: [IndexSet<Item>.Active], _ terms: QueryTerms<Item>, _ isCounting: Bool
    ) -> Choice? {
        var best: (rank: [Int], choice: Choice)?
        for active in fitting {
            guard let ranges = IndexRanges(active, terms.condition) else { continue }
            let order =
                isCounting ? nil : IndexOrder(ranges, terms.condition, terms.orders)
            let leavesOut = ranges.fieldCount > 0 || active.index.filter != nil
            guard leavesOut || (terms.isUnconditional && (order != nil || isCounting)) else {
                continue
            }
            let rank = [
                ranges.ranges.isEmpty ? 1 : 0, pointCount(ranges, terms.condition),
                ranges.fieldCount, ranges.isCovering ? 1 : 0, -(order?.unmatchedCount ?? 99),
            ]
            if best.map({ $0.rank.lexicographicallyPrecedes(rank) }) ?? true {
                best = (rank, ([ranges], order))
            }
        }
        return best?.choice
    }

    /// How many of the first fields have single values.
    private func pointCount(
        _ ranges: IndexRanges<Item>, _ condition: ConditionNode<Item>
    ) -> Int {
        ranges.active.index.fields.prefix(ranges.fieldCount).prefix { field in
            condition.region(of: field.path).intervals.allSatisfy(\.isPoint)
        }.count
    }

    /// The entries of each of several conditions of which one must hold.
    private func union(
        _ fitting: [IndexSet<Item>.Active], _ terms: QueryTerms<Item>
    ) -> Choice? {
        for case .any(let parts) in terms.condition.conjuncts {
            var all: [IndexRanges<Item>] = []
            for part in parts {
                var one = QueryTerms<Item>()
                one.condition = part
                guard let choice = best(fitting, one, false) else { break }
                all += choice.ranges
            }
            if all.count == parts.count { return (all, nil) }
        }
        return nil
    }
}
