import RoostEngine
import RoostFormat

extension Query {
    func fetch<Source: ObjectSource & ~Copyable>(_ source: inout Source) throws -> [Item] {
        var items: [Item] = []
        try forEach(&source) { _, item in items.append(item) }
        return items
    }

    func keys<Source: ObjectSource & ~Copyable>(_ source: inout Source) throws -> [String] {
        var keys: [String] = []
        try forEach(&source) { key, _ in keys.append(String(decoding: key, as: UTF8.self)) }
        return keys
    }

    func forEach<Source: ObjectSource & ~Copyable>(
        _ source: inout Source, _ body: (_ key: [UInt8], _ item: Item) throws -> Void
    ) throws {
        if limitCount == 0 { return }
        var run = try QueryRun(self, &source)
        try forEach(&run, &source, objectForm(in: run.name), body)
    }

    /// Calls `body` with a value of each match, in order.
    func forEachValue<Value, Source: ObjectSource & ~Copyable>(
        of projection: Projection<Item, Value>, _ source: inout Source,
        _ body: (Value) throws -> Void
    ) throws {
        if limitCount == 0 { return }
        var run = try QueryRun(self, &source)
        try forEach(&run, &source, form(of: projection, in: run.name)) { _, value in
            try body(value)
        }
    }

    /// Calls `body` with what is made of each match, in order.
    func forEach<Source: ObjectSource & ~Copyable, Made>(
        _ run: inout QueryRun<Item>, _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Void
    ) throws {
        if let matches = try matchesOfAttempt(&run, &source, form, { (key: $0, made: $1) }) {
            for match in matches { try body(match.key, match.made) }
            return
        }
        guard run.isOrdered else { return try forEachSorted(&run, &source, form, body) }
        let form = cursor == nil ? form : form.placed
        var remaining = limitCount ?? .max
        var skipped = offsetCount
        try run.forEachMatch(&source, form) { key, made in
            if let cursor, Self.isUpToCursor(cursor, form.place(made, key)) { return true }
            if skipped > 0 {
                skipped -= 1
                return true
            }
            remaining -= 1
            try body(key, made)
            return remaining > 0
        }
    }

    /// How many objects a call that gives one after the other may hold, where that saves to read them again.
    private static var heldObjectCount: Int { 256 }

    /// As `forEach`, with few objects in memory; of a query that has to be sorted, as many keys too as the memory
    /// budget has room for: where there are more, the objects are looked at again for the next of them.
    func forEachInTurn<Source: ObjectSource & ~Copyable>(
        _ source: inout Source, _ body: (Item) throws -> Void
    ) throws {
        var query: Query? = self
        while let current = query, current.limitCount != 0 {
            var run = try QueryRun(current, &source, readsInTurn: true)
            let mayHold = current.lookedAtCount <= Self.heldObjectCount
            guard !mayHold, !run.isOrdered || run.plan.attempt != nil else {
                let form = current.objectForm(in: run.name)
                return try current.forEach(&run, &source, form) { _, item in try body(item) }
            }
            let keys = try current.keysInOrder(&run, &source)
            for index in 0..<keys.count {
                if let item = try run.object(keys[index], &source) { try body(item) }
            }
            query = current.behind(keys)
        }
    }

    /// What `keep` makes of each match, by the way that may end early; `nil` where it did not, or there is none.
    func matchesOfAttempt<Source: ObjectSource & ~Copyable, Made, Kept>(
        _ run: inout QueryRun<Item>, _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ keep: (_ key: [UInt8], _ made: Made) -> Kept
    ) throws -> ArraySlice<Kept>? {
        guard let attempt = run.plan.attempt else { return nil }
        let form = cursor == nil ? form : form.placed
        let wanted = lookedAtCount
        func matches(costing limit: Double) throws -> [Kept]? {
            try run.firstMatches(wanted, by: attempt.way, costing: limit, &source, form) {
                key, made in
                if let cursor, Self.isUpToCursor(cursor, form.place(made, key)) { return nil }
                return keep(key, made)
            }
        }
        // Without a limit little is tried before it is asked what a scan costs.
        let first = attempt.costLimit ?? Double(wanted) * 8 + 256
        var found = try matches(costing: first)
        if found == nil, attempt.costLimit == nil {
            let objectCount = try source.planningView().count(of: run.name)
            let scanCost = Double(objectCount) * PlanWeights.scannedObject
            // Both tries and the scan cost at most three times what a try would have that went on.
            if scanCost > first * 2 { found = try matches(costing: (scanCost + first) / 2) }
        }
        guard let found else {
            run.giveUpAttempt()
            return nil
        }
        return found.dropFirst(offsetCount)
    }

    /// How many matches are needed, those that the offset passes by included.
    var lookedAtCount: Int {
        guard let limitCount else { return .max }
        let (sum, hasOverflown) = limitCount.addingReportingOverflow(offsetCount)
        return hasOverflown ? .max : sum
    }

    private static func isUpToCursor(_ cursor: [UInt8], _ place: [UInt8]) -> Bool {
        !cursor.lexicographicallyPrecedes(place)
    }

    /// Puts the matches in order; with a limit only as many are kept as it asks for.
    private func forEachSorted<Source: ObjectSource & ~Copyable, Made>(
        _ run: inout QueryRun<Item>, _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Void
    ) throws {
        let form = form.placed
        var best = FirstOfOrder<(key: [UInt8], made: Made)>(count: lookedAtCount)
        try run.forEachMatch(&source, form) { key, made in
            let place = form.place(made, key)
            if let cursor, Self.isUpToCursor(cursor, place) { return true }
            best.add((key: key, made: made), place)
            return true
        }
        for (_, match) in best.sorted().dropFirst(offsetCount) { try body(match.key, match.made) }
    }

    func count<Source: ObjectSource & ~Copyable>(_ source: inout Source) throws -> Int {
        // The order does not matter to how many there are, unless a page begins in it.
        var query = self
        if cursor == nil { query.orders = [] }
        guard cursor == nil else {
            var count = 0
            try query.forEach(&source) { _, _ in count += 1 }
            return count
        }
        let wanted = lookedAtCount
        var run = try QueryRun(query, &source, isCounting: true)
        let matches = try query.countMatches(&run, &source, upTo: wanted)
        return Swift.min(limitCount ?? .max, Swift.max(0, matches - offsetCount))
    }

    private func countMatches<Source: ObjectSource & ~Copyable>(
        _ run: inout QueryRun<Item>, _ source: inout Source, upTo wanted: Int
    ) throws -> Int {
        if wanted == 0 { return 0 }
        var count = 0
        if run.plan.isCovering, case .scan(let ranges) = run.plan.access {
            return try run.keyCount(in: ranges, &source, upTo: wanted)
        }
        guard run.plan.isCovering, case .entries(let all) = run.plan.access else {
            try run.countObjects(&source) {
                count += 1
                return count < wanted
            }
            return count
        }
        if all[0].mayRepeat, all[0].ranges.count > 1 {
            return try Swift.min(wanted, run.objectKeys(all, &source).count)
        }
        return try run.entryCount(of: all[0], &source, upTo: wanted)
    }
}

extension QueryRun {
    /// How many entries are in the ranges, counted up to `limit`.
    func entryCount<Source: ObjectSource & ~Copyable>(
        of ranges: IndexRanges<Item>, _ source: inout Source, upTo limit: Int
    ) throws -> Int {
        try recordCount(ranges.active.entries, ranges.ranges, &source, upTo: limit)
    }

    /// How many objects have their key in ranges, counted up to `limit`.
    fileprivate func keyCount<Source: ObjectSource & ~Copyable>(
        in ranges: [IndexRegion.Interval], _ source: inout Source, upTo limit: Int
    ) throws -> Int {
        try recordCount(name, ranges, &source, upTo: limit)
    }

    private func recordCount<Source: ObjectSource & ~Copyable>(
        _ name: DictionaryName, _ ranges: [IndexRegion.Interval], _ source: inout Source,
        upTo limit: Int
    ) throws -> Int {
        var count = 0
        for range in ranges where count < limit {
            count += try source.count(
                in: .init(name, lower: range.lower, upper: range.upper), upTo: limit - count)
        }
        return count
    }
}

/// The first of many in the order of their keys: a heap whose top is the last of them.
struct FirstOfOrder<Element> {
    private let count: Int
    private var heap: [(sortKey: [UInt8], element: Element)] = []

    init(count: Int) { self.count = count }

    mutating func add(_ element: Element, _ sortKey: [UInt8]) {
        if heap.count < count {
            heap.append((sortKey, element))
            if heap.count == count, count < .max {
                for index in stride(from: count / 2 - 1, through: 0, by: -1) { sink(index) }
            }
            return
        }
        guard count > 0, bytes(sortKey, precede: heap[0].sortKey) else { return }
        heap[0] = (sortKey, element)
        sink(0)
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var last = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if bytes(heap[last].sortKey, precede: heap[child].sortKey) { last = child }
            }
            if last == index { return }
            heap.swapAt(index, last)
            index = last
        }
    }

    func sorted() -> [(sortKey: [UInt8], element: Element)] {
        heap.sorted { bytes($0.sortKey, precede: $1.sortKey) }
    }
}
