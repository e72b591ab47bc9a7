import RoostEngine
import RoostFormat
import RoostIO

/// Chooses how to answer a query, by counting what each index would have to read.
///
/// - Counting reads no object: all candidates are counted side by side, up to a number that doubles
///   until the smallest is known. So it costs a few times the smallest, however large the others are.
/// - The costs are in objects that are found by their keys, which is what an entry leads to. An object of a
///   scan costs half of that, an entry itself a tenth (`PlanWeights`). docs/decisions/0082, 0088,
///   0140.
struct QueryPlanner<Item: Identifiable & Sendable> where Item.ID: Sendable {
    let query: Query<Item>
    let view: EngineView
    let name: DictionaryName
    /// `nil` where the condition does not ask for the identifier.
    let identifier: IdentifierCondition<Item>?
    /// Whether objects that are put in order by their keys are read by them afterwards.
    private let readsInTurn: Bool
    private(set) var usable: [IndexSet<Item>.Active] = []
    private var notes: [String] = []

    /// From here on it is asked whether a scan would cost less.
    static var manyEntries: Int { 64 }

    /// - Parameter mayLook: Whether indexes may be looked at that nobody has looked at yet (`ObjectIndexes.agreement`).
    init(
        _ query: Query<Item>, _ view: EngineView, showsIndexes: Bool, mayLook: Bool,
        readsInTurn: Bool = false
    ) throws {
        self.query = query
        self.readsInTurn = readsInTurn
        self.view = view
        name = try query.repository.dictionary.checkedName()
        identifier = IdentifierCondition(query.condition)
        guard let indexes = query.repository.indexes else { return }
        guard showsIndexes else {
            notes.append("the transaction has written \"\(name.name)\" by its keys")
            return
        }
        let set = try query.indexSet ?? indexes.current()
        for index in set.missing { notes.append("index \"\(index.name)\" is not built yet") }
        for active in set.active {
            guard let progress = try IndexCatalog.progress(active.mark, view) else {
                try noteUnmarked(active, indexes)
                continue
            }
            if case .built = progress {
                switch try indexes.agreement(active, progress, view, mayLook: mayLook) {
                case .agrees: usable.append(active)
                case .disagrees: notes.append(Self.disagreement(active, indexes))
                case .unknown:
                    notes.append("index \"\(active.index.name)\" has not been looked at yet")
                }
            } else {
                notes.append(Self.note(progress, active, indexes))
            }
        }
    }

    private mutating func noteUnmarked(
        _ active: IndexSet<Item>.Active, _ indexes: ObjectIndexes<Item>
    ) throws {
        if try indexes.isMarked(active) {
            notes.append("index \"\(active.index.name)\" is newer than what is read")
        } else {
            notes.append("index \"\(active.index.name)\" was written round, and is built anew")
            indexes.noteMarkMissing()
        }
    }

    /// Why an index that is there and not built is not used.
    private static func note(
        _ progress: IndexCatalog.Progress, _ active: IndexSet<Item>.Active,
        _ indexes: ObjectIndexes<Item>
    ) -> String {
        if case .failed(let reason) = progress {
            return "index \"\(active.index.name)\" cannot be built: \(reason)"
        }
        return indexes.looks.isReplacement(active.number)
            ? disagreement(active, indexes) : "index \"\(active.index.name)\" is being built"
    }

    private static func disagreement(
        _ active: IndexSet<Item>.Active, _ indexes: ObjectIndexes<Item>
    ) -> String {
        "index \"\(active.index.name)\" does not have what its declaration makes of the objects, and is "
            + (indexes.engine.isWritable ? "built anew" : "not used")
    }

    /// - Parameter isCounting: whether no object is needed where the entries say all.
    func plan(isCounting: Bool = false) throws -> QueryPlan<Item> {
        // An index has the entries of objects that do not decode any more: where these are passed by, the matches are looked at.
        let isCounting = isCounting && query.undecodable == nil
        if case .always(false) = query.condition { return plan(.nothing) }
        if query.limitCount == 0 { return plan(.everything) }
        if let keys = identifierKeys { return try plan(byKeys: keys, isCounting) }
        let identifiers = identifierRanges
        var found = try plan(identifiers, isCounting)
        found.identifiers = identifiers
        if query.undecodable != nil { found.isCovering = false }
        return found
    }

    private func plan(
        _ identifiers: [IndexRegion.Interval]?, _ isCounting: Bool
    ) throws -> QueryPlan<Item> {
        if identifiers?.isEmpty == true { return plan(.nothing) }
        let scan = QueryPlan<Item>.Access.scan(identifiers ?? IndexRegion.everything.intervals)
        if isCounting, isSaidByKeys { return plan(scan, isCovering: true) }
        if usable.isEmpty { return plan(scan) }
        if isCounting, let covering {
            return plan(covering.ranges.isEmpty ? .nothing : .entries([covering]), isCovering: true)
        }
        if isCounting, let whole = wholeIndex, case .always(true) = query.condition {
            return plan(.entries([whole]), isCovering: true)
        }
        // A few objects, which no index can do better than.
        if let identifiers, try count(identifiers, upTo: Self.manyEntries) < Self.manyEntries {
            return plan(scan)
        }
        let ranges = usable.compactMap { IndexRanges($0, query.condition) }
        let order = isCounting ? nil : bestOrder(of: ranges)
        if let order, isOnlyWay(order, of: ranges) {
            return plan(order.ranges.ranges.isEmpty ? .nothing : .ordered(order))
        }
        let smallest = try smallest(
            query.condition, of: ranges, below: mostEntries(of: order))
        guard let smallest else { return try planByOrder(order, identifiers) }
        if smallest.ranges.allSatisfy({ $0.ranges.isEmpty }) { return plan(.nothing) }
        // The same entries, and they come in order.
        if let order, smallest.ranges.count == 1,
            smallest.ranges[0].active.number == order.ranges.active.number,
            try identifiers == nil || isDearer(scan, than: smallest)
        {
            return plan(.ordered(order))
        }
        return try plan(by: smallest, order, identifiers, isCounting)
    }

    private func plan(
        _ access: QueryPlan<Item>.Access, isCovering: Bool = false
    ) -> QueryPlan<Item> {
        QueryPlan(access: access, isCovering: isCovering, notes: notes)
    }

    /// The objects with these keys, or those of fewer entries.
    private func plan(byKeys keys: [[UInt8]], _ isCounting: Bool) throws -> QueryPlan<Item> {
        if keys.isEmpty { return plan(.nothing) }
        guard keys.count > Self.manyEntries, !usable.isEmpty else { return plan(.keys(keys)) }
        let ranges = usable.compactMap { IndexRanges($0, query.condition) }
        guard let fewer = try smallest(query.condition, of: ranges, below: keys.count) else {
            return plan(.keys(keys))
        }
        var found = plan(.entries(fewer.ranges))
        found.identifiers = identifierRanges
        return found
    }

    /// No index leaves any objects out, or the order's own leaves the least.
    private func planByOrder(
        _ order: IndexOrder<Item>?, _ identifiers: [IndexRegion.Interval]?
    ) throws -> QueryPlan<Item> {
        let scan = QueryPlan<Item>.Access.scan(identifiers ?? IndexRegion.everything.intervals)
        guard let order else { return plan(scan) }
        // Without a limit the entries save the sort, where each object is found by its key anyway.
        let isWanted = query.limitCount != nil || readsInTurn && order.unmatchedCount == 0
        if isWanted, order.ranges.isCovering { return plan(.ordered(order)) }
        guard query.limitCount != nil else { return plan(scan) }
        // How many objects match nobody knows: in order they may be found early.
        var found = plan(scan)
        found.attempt = .init(
            way: .ordered(order),
            costLimit: try identifiers.map {
                Double(try count($0, upTo: .max)) * PlanWeights.scannedObject / 2
            })
        return found
    }

    /// By the fewest entries, or by a scan; but first, where a limit may end it early, by what comes in
    /// the query's order. That is given up once it has cost half of the other: so nothing costs more
    /// than one and a half of what is best, nor three times what it would have been worth.
    private func plan(
        by smallest: Candidate, _ order: IndexOrder<Item>?,
        _ identifiers: [IndexRegion.Interval]?, _ isCounting: Bool
    ) throws -> QueryPlan<Item> {
        let count = Double(smallest.count)
        var found = plan(.entries(smallest.ranges), isCovering: smallest.isCovering)
        found.entryCount = smallest.count
        guard smallest.count > Self.manyEntries else { return found }
        // In the order of the keys both may end early; then it counts what each match costs.
        let mayEnd = query.keyOrder != nil && query.limitCount != nil && !isCounting
        let readsObjects = !(isCounting && smallest.isCovering)
        var cost = mayEnd ? count : count * PlanWeights.entry + (readsObjects ? count : 0)
        let enough = Int(cost / PlanWeights.scannedObject) + 1
        let scanned = identifiers ?? IndexRegion.everything.intervals
        let scanCost =
            Double(try self.count(scanned, upTo: enough)) * PlanWeights.scannedObject
        if scanCost < cost {
            found = plan(.scan(scanned))
            cost = scanCost
        }
        if isCounting || query.limitCount == nil { return found }
        if let order {
            found.attempt = .init(way: .ordered(order), costLimit: cost / 2)
        } else if mayEnd, case .entries(let all) = found.access,
            !all.allSatisfy({ $0.mayEndEarly })
        {
            // All entries are read before the first object.
            let least = count * PlanWeights.entry + min(count, wantedCount) / 2
            let inKeyOrder = try smallestInKeyOrder(
                below: Int(scanCost / (1 + PlanWeights.entry)))
            found.attempt = .init(
                way: inKeyOrder.map { .entries([$0]) } ?? .scan(scanned), costLimit: least)
        }
        return found
    }

    /// Whether a scan costs more than all entries of a candidate and their objects.
    private func isDearer(
        _ scan: QueryPlan<Item>.Access, than candidate: Candidate
    ) throws -> Bool {
        guard case .scan(let ranges) = scan else { return false }
        let cost = Double(candidate.count) * (1 + PlanWeights.entry)
        let most = Int(cost / PlanWeights.scannedObject) + 1
        return try count(ranges, upTo: most) >= most
    }

    /// How many objects have a key in ranges, counted up to `limit`.
    private func count(_ ranges: [IndexRegion.Interval], upTo limit: Int) throws -> Int {
        var sum = 0
        for range in ranges where sum < limit {
            sum += try count(
                RecordRange(name, lower: range.lower, upper: range.upper), upTo: limit - sum)
        }
        return sum
    }

    /// How many matches are looked at.
    private var wantedCount: Double {
        query.limitCount.map { Double($0) + Double(query.offsetCount) } ?? .infinity
    }
}
