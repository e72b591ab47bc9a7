import RoostEngine
import RoostFormat
import RoostIO
import RoostSnapshot

/// One run of a query over one source, and what it read.
struct QueryRun<Item: Identifiable & Sendable> where Item.ID: Sendable {
    let query: Query<Item>
    let name: DictionaryName
    private(set) var plan: QueryPlan<Item>
    /// The condition as the bytes of objects answer it, where they may and are asked.
    let stored: StoredCondition?
    private(set) var entriesRead = 0
    private(set) var objectsRead = 0
    /// Of the objects, those that scans passed.
    private(set) var objectsScanned = 0
    /// What may still be read, in the planner's unit.
    private var costLeft = Double.infinity

    /// - Parameter readsInTurn: whether objects that are put in order by their keys are read by them afterwards.
    init<Source: ObjectSource & ~Copyable>(
        _ query: Query<Item>, _ source: inout Source, isCounting: Bool = false,
        readsInTurn: Bool = false
    ) throws {
        self.query = query
        name = try query.repository.dictionary.checkedName()
        let planner = try QueryPlanner(
            query, try source.planningView(), showsIndexes: source.showsIndexes(of: name),
            mayLook: !source.isWaitedFor, readsInTurn: readsInTurn)
        plan = try planner.plan(isCounting: isCounting)
        stored = plan.asksObjects(isCounting: isCounting) ? query.storedCondition : nil
        for access in [plan.access, plan.attempt?.way] {
            switch access {
            case .entries(let all): for ranges in all { try source.noteMark(ranges.active.mark) }
            case .ordered(let order): try source.noteMark(order.ranges.active.mark)
            case .nothing, .scan, .keys, nil: break
            }
        }
    }

    /// For looking at entries and objects, by a plan or without one.
    init(
        _ query: Query<Item>, _ view: EngineView,
        _ plan: QueryPlan<Item> = QueryPlan(access: .everything)
    ) throws {
        self.query = query
        name = try query.repository.dictionary.checkedName()
        self.plan = plan
        stored = query.storedCondition
    }

    mutating func noteObjectRead() throws {
        objectsRead += 1
        try spend(1)
    }

    mutating func noteObjectScanned() throws {
        objectsRead += 1
        objectsScanned += 1
        try spend(PlanWeights.scannedObject)
    }

    private mutating func spend(_ cost: Double) throws {
        costLeft -= cost
        if costLeft < 0 { throw AttemptEnded() }
    }

    /// What `keep` makes of the first matches in the query's order, without those of which it makes nothing, by a way
    /// that may cost so much; `nil` where that is not enough.
    mutating func firstMatches<Source: ObjectSource & ~Copyable, Made, Kept>(
        _ count: Int, by way: QueryPlan<Item>.Access, costing limit: Double,
        _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ keep: (_ key: [UInt8], _ made: Made) -> Kept?
    ) throws -> [Kept]? {
        var matches: [Kept] = []
        costLeft = limit
        defer { costLeft = .infinity }
        func add(_ key: [UInt8], _ made: Made) -> Bool {
            if let kept = keep(key, made) { matches.append(kept) }
            return matches.count < count
        }
        do {
            try forEachMatch(by: way, &source, form, add)
            return matches
        } catch is AttemptEnded { return nil }
    }

    /// The plan without its attempt is followed.
    mutating func giveUpAttempt() { plan.attempt = nil }

    /// Whether `forEachMatch` gives the matches in the query's order.
    var isOrdered: Bool {
        if query.keyOrder != nil { return true }
        if case .ordered = plan.access { return true }
        return false
    }

    /// In which order of the keys objects are read.
    private var keyOrder: ScanOrder { query.keyOrder ?? .ascending }

    /// Calls `body` with what is made of each match until it says `false`: in the query's order where `isOrdered`, and
    /// else in that of the keys. Neither offset nor limit count here.
    mutating func forEachMatch<Source: ObjectSource & ~Copyable, Made>(
        _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws {
        try forEachMatch(by: plan.access, &source, form, body)
    }

    private mutating func forEachMatch<Source: ObjectSource & ~Copyable, Made>(
        by way: QueryPlan<Item>.Access, _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws {
        switch way {
        case .nothing: return
        case .scan(let ranges): try scanObjects(ranges, &source, form, body)
        case .keys(let keys): try readAll(keys, &source, form, body)
        case .entries(let all):
            if all.count == 1, all[0].mayEndEarly {
                let rest = query.cursorKey.map { all[0].behind(objectKey: $0, keyOrder) }
                try readInOrder(rest ?? all[0], &source, form, body)
            } else {
                try readAll(objectKeys(all, &source), &source, form, body)
            }
        case .ordered(let order): try readOrdered(order, &source, form, body)
        }
    }

    /// Reads the objects with these keys, which are in order.
    private mutating func readAll<Source: ObjectSource & ~Copyable, Made>(
        _ keys: [[UInt8]], _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws {
        let cursor = query.cursorKey
        func read(_ key: [UInt8]) throws -> Bool {
            if let cursor, isUpTo(cursor, key) { return true }
            return try self.read(key, &source, form, body)
        }
        switch keyOrder {
        case .ascending: for key in keys { guard try read(key) else { return } }
        case .descending: for key in keys.reversed() { guard try read(key) else { return } }
        }
    }

    /// Whether a key is at a cursor or before it.
    private func isUpTo(_ cursor: [UInt8], _ key: [UInt8]) -> Bool {
        switch keyOrder {
        case .ascending: !bytes(cursor, precede: key)
        case .descending: !bytes(key, precede: cursor)
        }
    }

    // MARK: Without an index

    private mutating func scanObjects<Source: ObjectSource & ~Copyable, Made>(
        _ ranges: [IndexRegion.Interval], _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws {
        let (name, prefixCount, stored) = (name, name.prefix.count, stored)
        let ranges = query.cursorKey.map { behind($0, keyOrder, ranges) } ?? ranges
        var expectedCount = Int.max
        if isOrdered, case .always(true) = query.condition { expectedCount = query.lookedAtCount }
        var isStopped = false
        for range in keyOrder == .ascending ? ranges : ranges.reversed() where !isStopped {
            try source.forEachRecord(
                in: RecordRange(name, lower: range.lower, upper: range.upper), keyOrder,
                expectedCount: expectedCount
            ) { recordKey, bytes in
                try noteObjectScanned()
                let answer = stored?.answer(bytes)
                if answer == false { return true }
                let key = Array(recordKey[prefixCount...])
                isStopped = try !form.offer(bytes, key, isMatch: answer == true, body)
                return !isStopped
            }
        }
    }

    // MARK: By entries

    /// The keys of the objects that entries name, each once, in order.
    mutating func objectKeys<Source: ObjectSource & ~Copyable>(
        _ all: [IndexRanges<Item>], _ source: inout Source
    ) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for ranges in all {
            try forEachEntry(ranges, .ascending, &source) { entry in
                keys.append(entry.objectKey)
                return true
            }
        }
        return inOrder(
            keys, mayRepeat: all.count > 1 || all[0].ranges.count > 1 || all[0].mayRepeat)
    }

    struct Entry {
        /// The entry's own key, which begins with the form of the fields.
        let key: [UInt8]
        fileprivate let formCount: Int
        /// Where the key does not end with it.
        fileprivate let valueKey: [UInt8]?
        /// The first field that is cut off: what it and those after it say of the order is not all.
        let truncatedField: Int?

        var objectKey: [UInt8] { valueKey ?? Array(key[formCount...]) }
        /// The form of the fields.
        var form: [UInt8] { Array(key[..<formCount]) }
    }

    /// Calls `body` with each entry in the ranges, until it says `false`.
    mutating func forEachEntry<Source: ObjectSource & ~Copyable>(
        _ ranges: IndexRanges<Item>, _ order: ScanOrder, _ source: inout Source,
        _ body: (Entry) throws -> Bool
    ) throws {
        let active = ranges.active
        let prefixCount = active.entries.prefix.count
        let identifiers = plan.identifiers
        var isStopped = false
        for range in order == .ascending ? ranges.ranges : ranges.ranges.reversed() {
            if isStopped { return }
            try source.forEachRecord(
                in: RecordRange(active.entries, lower: range.lower, upper: range.upper), order,
                expectedCount: query.limitCount ?? .max
            ) { recordKey, stored in
                entriesRead += 1
                try spend(PlanWeights.entry)
                let key = UnsafeRawBufferPointer(rebasing: recordKey[prefixCount...])
                guard let (end, truncatedField) = active.index.parse(key) else {
                    throw RoostError(
                        .corrupt, "an entry of index \"\(active.index.name)\" is none: reindex")
                }
                let isInKey = end < key.count || !active.index.isUnique
                let entry = Entry(
                    key: Array(key), formCount: end,
                    valueKey: isInKey ? nil : indexedObjectKey(inValue: stored),
                    truncatedField: truncatedField)
                // Its object cannot match.
                if let identifiers, !identifiers.contains(key: entry.objectKey) { return true }
                isStopped = try !body(entry)
                return !isStopped
            }
        }
    }

    /// Reads the object with a key and calls `body` where it matches; `false` where that is enough. What an entry
    /// says is not believed: a coder may give back another value than the entry was made of.
    mutating func read<Source: ObjectSource & ~Copyable, Made>(
        _ key: [UInt8], _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws -> Bool {
        try noteObjectRead()
        return try source.withValue(recordKey: name.prefix + key, in: name) { stored in
            // An entry and its object expire at one instant, which may be just now.
            guard let stored else { return true }
            return try form.offer(stored, key, isMatch: false, body)
        }
    }

    mutating func object<Source: ObjectSource & ~Copyable>(
        _ key: [UInt8], _ source: inout Source
    ) throws -> Item? {
        try noteObjectRead()
        let (query, name) = (query, name)
        return try source.withValue(recordKey: name.prefix + key, in: name) { stored in
            // As above.
            guard let stored else { return nil }
            return try key.withUnsafeBytes { try query.decode(stored, $0) }
        }
    }

    private mutating func readInOrder<Source: ObjectSource & ~Copyable, Made>(
        _ ranges: IndexRanges<Item>, _ source: inout Source, _ form: MatchForm<Item, Made>,
        _ body: (_ key: [UInt8], _ made: Made) throws -> Bool
    ) throws {
        try forEachPiece(ranges, keyOrder, &source) { run, source, piece in
            for entry in piece {
                guard try run.read(entry.objectKey, &source, form, body) else { return false }
            }
            return true
        }
    }

    /// As `forEachEntry`, some entries at a time, so that objects may be read between: a source is
    /// scanned or read, and not both at once.
    mutating func forEachPiece<Source: ObjectSource & ~Copyable>(
        _ ranges: IndexRanges<Item>, _ order: ScanOrder, _ source: inout Source,
        _ body: (inout QueryRun, inout Source, [Entry]) throws -> Bool
    ) throws {
        var count = max(16, min(query.limitCount == nil ? 256 : query.lookedAtCount, 1024))
        var remaining = ranges
        while true {
            var piece: [Entry] = []
            try forEachEntry(remaining, order, &source) { entry in
                piece.append(entry)
                return piece.count < count
            }
            guard let last = piece.last else { return }
            guard try body(&self, &source, piece), piece.count == count else { return }
            remaining = remaining.behind(last.key, order)
            count = min(count * 2, 1024)
        }
    }
}

/// A way that was tried has cost what it may.
private struct AttemptEnded: Error {}
