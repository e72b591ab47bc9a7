import Roost
import RoostIO

/// One run of a query, at one revision: the newest, or that of an attempt of a transaction.
///
/// What is kept of an object is what `make` makes of it.
struct SharedQueryRun<Item: Identifiable & Sendable, Made> where Item.ID: Sendable {
    let query: SharedQuery<Item>
    let source: SharedQuerySource
    let make: @Sendable (Item) -> Made

    init(
        _ query: SharedQuery<Item>, _ source: SharedQuerySource,
        _ make: @escaping @Sendable (Item) -> Made
    ) {
        self.query = query
        self.source = source
        self.make = make
    }

    init(
        _ query: SharedQuery<Item>, in attempt: SharedTransaction? = nil,
        _ make: @escaping @Sendable (Item) -> Made
    ) {
        self.init(query, SharedQuerySource(query.repository.dictionary, attempt), make)
    }

    init(_ query: SharedQuery<Item>, in attempt: SharedTransaction? = nil) where Made == Item {
        self.init(query, in: attempt) { $0 }
    }

    var terms: QueryTerms<Item> { query.terms }
    var repository: SharedRepository<Item> { query.repository }
    private var dictionary: SharedDictionary { repository.dictionary }

    typealias Match = SharedMatch<Made>

    enum Way {
        case nothing
        /// The objects with these keys, in order.
        case keys([[UInt8]])
        /// Of ranges that are apart from each other, in ascending order.
        case scan([KeyBounds])
        case entries(EntryPlan<Item>, SharedIndexCatalog)
    }

    nonisolated(nonsending) func fetch() async throws -> [Made] { try await page().map(\.made) }

    /// The matches that the query asks for.
    nonisolated(nonsending) func page() async throws -> ArraySlice<Match> {
        var matches: [Match]
        if let attempt = source.attempt {
            matches = try await self.matches(in: attempt)
        } else {
            matches = try await self.matches().matches
        }
        return matches.dropFirst(terms.offsetCount).prefix(terms.limitCount ?? .max)
    }

    /// The matches as the body of a transaction has left the objects: what it has changed is looked at in the place of what
    /// was there.
    private nonisolated(nonsending) func matches(
        in attempt: SharedTransaction
    ) async throws -> [Match] {
        let changed = attempt.changedKeys(of: dictionary)
        var matches: [Match] = []
        if !attempt.isCleared(dictionary) {
            // As many more as may fall out.
            var wider = query
            if attempt.isPartlyCleared(dictionary) {
                wider.terms.limitCount = nil
            } else if let limit = terms.limitCount, limit > 0 {
                let (sum, hasOverflown) = limit.addingReportingOverflow(changed.count)
                wider.terms.limitCount = hasOverflown ? .max : sum
            }
            matches = try await SharedQueryRun(wider, source, make).matches().matches
            matches.removeAll { attempt.isCleared(dictionary.start + $0.key) }
        }
        guard !changed.isEmpty else { return matches }
        let changedKeys = Set(changed.map { Array($0.dropFirst(dictionary.start.count)) })
        matches.removeAll { changedKeys.contains($0.key) }
        for key in changed {
            guard let stored = attempt.changedValue(key) else { continue }
            let record = SharedRecord(key: key, value: stored, revision: 0, expires: false)
            if let match = try match(record) { matches.append(match) }
        }
        return sorted(matches)
    }

    /// The matches in order, those that an offset leaves out too, and of which revision they are; `nil` where nothing had
    /// to be read.
    nonisolated(nonsending) func matches() async throws -> (
        matches: [Match], revision: UInt64?
    ) {
        let (way, revision) = try await choose(isCounting: false)
        switch way {
        case .nothing: return ([], nil)
        case .keys(let keys): return try await read(keys: keys)
        case .scan(let ranges): return try await scan(ranges, at: revision)
        case .entries(let plan, let catalog):
            let entries = SharedEntries(repository, plan, catalog, source, at: revision)
            let matches =
                plan.isOrdered ? try await read(inOrder: entries) : try await read(all: entries)
            return (matches, revision)
        }
    }

    nonisolated(nonsending) func count() async throws -> Int {
        if terms.limitCount != nil || terms.offsetCount > 0 || source.hasChanges {
            return try await page().count
        }
        let (way, revision) = try await choose(isCounting: true)
        switch way {
        case .nothing: return 0
        case .keys(let keys): return try await read(keys: keys).matches.count
        case .scan(let ranges):
            if terms.isUnconditional, source.attempt == nil { return try await dictionary.count }
            if terms.isSaidByKeys { return try await countKeys(ranges, at: revision) }
            return try await scan(ranges, at: revision).matches.count
        case .entries(let plan, let catalog):
            let entries = SharedEntries(repository, plan, catalog, source, at: revision)
            guard plan.isCovering, !plan.mayRepeat else {
                return try await read(all: entries).count
            }
            var count = 0
            while let page = try await entries.next() {
                entries.guardEach(page)
                count += page.count
            }
            entries.guardRanges()
            return count
        }
    }

    nonisolated(nonsending) func explain() async throws -> String {
        switch try await choose(isCounting: false).way {
        case .nothing: return "nothing can match \(terms.text)"
        case .keys(let keys):
            return (keys.count == 1 ? "one identifier" : "\(keys.count) identifiers")
                + ": \(terms.text)"
        case .scan(Self.everything): return "every object: \(terms.text)"
        case .scan(let ranges):
            return (ranges.count == 1 ? "a range" : "\(ranges.count) ranges")
                + " of identifiers: \(terms.text)"
        case .entries(let plan, _):
            guard let indexes = repository.indexes else { return "" }
            let names = plan.parts.map { "index \"\(indexes.name(at: $0.place))\"" }
            return names.joined(separator: " and ") + (plan.isOrdered ? " in order" : "")
                + ": \(terms.text)"
        }
    }

    // MARK: Choosing

    nonisolated(nonsending) func choose(isCounting: Bool) async throws -> (
        way: Way, revision: UInt64?
    ) {
        if terms.isImpossible || terms.limitCount == 0 { return (.nothing, nil) }
        let keys = terms.identifierKeys { repository.key(of: $0) }
        let ranges = terms.identifierRanges
        if keys?.isEmpty == true || ranges?.isEmpty == true { return (.nothing, nil) }
        // An index may leave fewer than many, which are a request each.
        if let keys, keys.count <= Self.fewKeys || repository.indexes == nil {
            return (.keys(terms.behindCursor(keys)), nil)
        }
        let byKeys =
            keys.map { Way.keys(terms.behindCursor($0)) }
            ?? ranges.map { Way.scan(terms.behindCursor($0)) }
        guard let indexes = repository.indexes else { return (try byKeys ?? scanOrRefuse(), nil) }
        let (catalog, revision) = try await source.catalog()
        let built = catalog.listed(indexes).filter(\.index.isBuilt).map(\.place)
        if let plan = indexes.plan(terms, usable: Set(built), isCounting: isCounting) {
            return (.entries(plan, catalog), revision)
        }
        return (try byKeys ?? scanOrRefuse(), revision)
    }

    private static var everything: [KeyBounds] { [KeyBounds()] }
    private static var fewKeys: Int { 64 }

    private func scanOrRefuse() throws -> Way {
        // Of an unconditional one every object that is read is asked for.
        let givesAll = terms.isUnconditional && (terms.keyOrder != nil || terms.limitCount == nil)
        if query.mayScan || givesAll { return .scan(terms.behindCursor(Self.everything)) }
        var advice =
            "declare one in `\(Item.self).indexes`, or let the query read every object by `scanning()`"
        if let indexes = repository.indexes,
            let plan = indexes.plan(terms, usable: Set(indexes.places))
        {
            let names = plan.parts.map { "\"\(indexes.name(at: $0.place))\"" }
            advice =
                "index \(names.joined(separator: " and ")) would, once `buildIndexes()` has built it; what is written by keys takes it away"
        }
        throw RoostError(
            .notIndexed, "no index of \"\(dictionary.name)\" answers \(terms.text): \(advice)")
    }

    // MARK: Reading

    private nonisolated(nonsending) func scan(
        _ ranges: [KeyBounds], at revision: UInt64?
    ) async throws -> (matches: [Match], revision: UInt64?) {
        var matches: [Match] = []
        let revision = try await forEachRecord(ranges, isKeysOnly: false, at: revision) { record in
            if let match = try match(record) { matches.append(match) }
            leaveOut(&matches)
            return terms.keyOrder == nil || matches.count < terms.wantedCount
        }
        return (sorted(matches), revision)
    }

    private nonisolated(nonsending) func countKeys(
        _ ranges: [KeyBounds], at revision: UInt64?
    ) async throws -> Int {
        var count = 0
        _ = try await forEachRecord(ranges, isKeysOnly: true, at: revision) { _ in
            count += 1
            return true
        }
        return count
    }

    /// The records of ranges, of one revision, in the query's order where the keys have it, until `body` has enough. Gives
    /// the revision.
    nonisolated(nonsending) func forEachRecord(
        _ ranges: [KeyBounds], isKeysOnly: Bool, at revision: UInt64?,
        _ body: (SharedRecord) throws -> Bool
    ) async throws -> UInt64? {
        let order = terms.keyOrder ?? .ascending
        // Where each is given that is read, no more are asked for.
        let limit = terms.keyOrder != nil && terms.isSaidByKeys ? terms.wantedCount : nil
        var revision = revision
        for range in order == .ascending ? ranges : ranges.reversed() {
            var selection = KeySelection(limit: limit, order: order)
            selection.bounds = range
            var isDone = false
            revision = try await source.forEachRecord(
                selection, isKeysOnly: isKeysOnly, at: revision
            ) { record in
                isDone = try !body(record)
                return !isDone
            }
            if isDone { break }
        }
        return revision
    }

    /// Of the revision at which the first is read.
    private nonisolated(nonsending) func read(
        keys: [[UInt8]]
    ) async throws -> (matches: [Match], revision: UInt64?) {
        let order = terms.keyOrder
        var matches: [Match] = []
        let revision = try await forEachPiece(
            ofKeys: order == .descending ? keys.reversed() : keys
        ) { piece in
            matches += piece
            leaveOut(&matches)
            return order == nil || matches.count < terms.wantedCount
        }
        return (sorted(matches), revision)
    }

    /// What matches of the objects with keys, a piece of them at a time, until `body` has enough. Gives the revision at
    /// which the first is read, as all are.
    nonisolated(nonsending) func forEachPiece(
        ofKeys keys: [[UInt8]], _ body: ([Match]) throws -> Bool
    ) async throws -> UInt64? {
        _ = try dictionary.checkedName()
        var rest = keys[...]
        var revision: UInt64?
        while !rest.isEmpty {
            // The first alone, as it says which revision the others are to be of.
            let piece = rest.prefix(revision == nil ? 1 : 64)
            let (records, newest) = try await source.records(Array(piece), at: revision)
            revision = newest
            let matches = try records.compactMap { record in try record.flatMap { try match($0) } }
            guard try body(matches) else { break }
            rest = rest.dropFirst(piece.count)
        }
        return revision
    }

    /// Leaves out what cannot be among the matches that are asked for any more, once there are twice as many.
    private func leaveOut(_ matches: inout [Match]) {
        guard matches.count / 2 >= max(terms.wantedCount, 256) else { return }
        matches = Array(sorted(matches).prefix(terms.wantedCount))
    }

    /// All entries before the first object, as they come in any order.
    private nonisolated(nonsending) func read(
        all entries: SharedEntries<Item>
    ) async throws -> [Match] {
        var keys: [[UInt8]] = []
        while let page = try await entries.next() { keys += page.map(\.objectKey) }
        entries.guardRanges()
        if entries.plan.mayRepeat { keys = Array(Set(keys)) }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        keys = terms.behindCursor(keys)
        if terms.keyOrder == .descending { keys.reverse() }
        var matches: [Match] = []
        var rest = keys[...]
        var pieceCount = min(64, terms.wantedCount)
        while !rest.isEmpty {
            matches += try await objects(Array(rest.prefix(pieceCount)), at: entries.revision)
            leaveOut(&matches)
            if terms.keyOrder != nil, matches.count >= terms.wantedCount { break }
            rest = rest.dropFirst(pieceCount)
            pieceCount = 64
        }
        return sorted(matches)
    }

    /// The objects with these keys that match.
    nonisolated(nonsending) func objects(
        _ keys: [[UInt8]], at revision: UInt64
    ) async throws -> [Match] {
        var matches: [Match] = []
        var rest = keys[...]
        while !rest.isEmpty {
            // Each piece has a call's time.
            let piece = Array(rest.prefix(64))
            rest = rest.dropFirst(piece.count)
            for (key, record) in zip(piece, try await source.records(piece, at: revision).records) {
                guard let record else {
                    throw RoostError(
                        .corrupt,
                        "an index of \"\(dictionary.name)\" names \"\(String(decoding: key, as: UTF8.self))\", which is not there: write any key of the dictionary and build the indexes anew"
                    )
                }
                if let match = try match(record) { matches.append(match) }
            }
        }
        return matches
    }

    func match(_ record: SharedRecord) throws -> Match? {
        let key = Array(record.key.dropFirst(dictionary.start.count))
        let item = try repository.form.value(
            ofStored: record.value, key: String(decoding: key, as: UTF8.self),
            in: try dictionary.checkedName())
        guard try terms.matches(item) else { return nil }
        let sortKey = terms.sortKey(item, key)
        guard terms.isBehindCursor(sortKey) else { return nil }
        return Match(
            key: key, sortKey: sortKey,
            deadline: dictionary.connection.clock.deadline(of: record.value), made: make(item))
    }

    func sorted(_ matches: [Match]) -> [Match] {
        matches.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }
}
