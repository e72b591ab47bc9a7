import Roost
import RoostIO

/// One run of a query, at one revision.
struct SharedQueryRun<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    private let query: SharedQuery<Item>

    init(_ query: SharedQuery<Item>) { self.query = query }

    private var terms: QueryTerms<Item> { query.terms }
    private var repository: SharedRepository<Item> { query.repository }
    private var dictionary: SharedDictionary { repository.dictionary }
    private var connection: SharedConnectionState { dictionary.connection }

    private typealias Match = SharedMatch<Item>

    private enum Way {
        case nothing
        /// The objects with these keys, in order.
        case keys([[UInt8]])
        /// Of ranges that are apart from each other, in ascending order.
        case scan([KeyBounds])
        case entries(EntryPlan<Item>, SharedIndexCatalog)
    }

    func fetch() async throws -> [Item] { try await page().map(\.item) }

    /// The matches that the query asks for.
    func page() async throws -> ArraySlice<SharedMatch<Item>> {
        try await matches().matches.dropFirst(terms.offsetCount).prefix(terms.limitCount ?? .max)
    }

    /// The matches in order, those that an offset leaves out too, and of which revision they are; `nil` where nothing had
    /// to be read.
    func matches() async throws -> (matches: [SharedMatch<Item>], revision: UInt64?) {
        let (way, revision) = try await choose(isCounting: false)
        switch way {
        case .nothing: return ([], nil)
        case .keys(let keys): return try await read(keys: keys)
        case .scan(let ranges): return try await scan(ranges, at: revision)
        case .entries(let plan, let catalog):
            let entries = SharedEntries(repository, plan, catalog, at: revision)
            let matches =
                plan.isOrdered ? try await read(inGroups: entries) : try await read(all: entries)
            return (matches, revision)
        }
    }

    func count() async throws -> Int {
        if terms.limitCount != nil || terms.offsetCount > 0 { return try await fetch().count }
        let (way, revision) = try await choose(isCounting: true)
        switch way {
        case .nothing: return 0
        case .keys(let keys): return try await read(keys: keys).matches.count
        case .scan(let ranges):
            if terms.isUnconditional { return try await dictionary.count }
            if terms.isSaidByKeys { return try await countKeys(ranges, at: revision) }
            return try await scan(ranges, at: revision).matches.count
        case .entries(let plan, let catalog):
            let entries = SharedEntries(repository, plan, catalog, at: revision)
            guard plan.isCovering, !plan.mayRepeat else {
                return try await read(all: entries).count
            }
            var count = 0
            while let page = try await entries.next() { count += page.count }
            return count
        }
    }

    func explain() async throws -> String {
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

    private func choose(isCounting: Bool) async throws -> (way: Way, revision: UInt64?) {
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
        let (known, revision) = try await connection.readCatalog(
            of: dictionary.name, before: dictionary.workspace.callEnd)
        let built = known.catalog.listed(indexes).filter(\.index.isBuilt).map(\.place)
        if let plan = indexes.plan(terms, usable: Set(built), isCounting: isCounting) {
            return (.entries(plan, known.catalog), revision)
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

    private func scan(
        _ ranges: [KeyBounds], at revision: UInt64?
    ) async throws -> (matches: [Match], revision: UInt64?) {
        var matches: [Match] = []
        let revision = try await forEachRecord(ranges, isKeysOnly: false, at: revision) { record in
            if let match = try match(record) { matches.append(match) }
            return terms.keyOrder == nil || matches.count < terms.wantedCount
        }
        return (sorted(matches), revision)
    }

    private func countKeys(_ ranges: [KeyBounds], at revision: UInt64?) async throws -> Int {
        var count = 0
        _ = try await forEachRecord(ranges, isKeysOnly: true, at: revision) { _ in
            count += 1
            return true
        }
        return count
    }

    /// The records of ranges, of one revision, in the query's order where the keys have it, until `body` has enough. Gives
    /// the revision.
    private func forEachRecord(
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
            let scan = SharedScan(dictionary, selection, isKeysOnly: isKeysOnly, at: revision)
            while let record = try await scan.next() {
                guard try body(record) else { return scan.revision }
            }
            revision = scan.revision
        }
        return revision
    }

    /// Of the revision at which the first is read.
    private func read(
        keys: [[UInt8]]
    ) async throws -> (matches: [Match], revision: UInt64?) {
        _ = try dictionary.checkedName()
        let order = terms.keyOrder
        var rest = (order == .descending ? keys.reversed() : keys)[...]
        var revision: UInt64?
        var matches: [Match] = []
        while !rest.isEmpty {
            // The first alone, as it says which revision the others are to be of.
            let piece = rest.prefix(revision == nil ? 1 : 64)
            let end = dictionary.workspace.callEnd
            var records: [SharedRecord?]
            if let revision {
                records = try await connection.records(
                    piece.map { dictionary.start + $0 }, at: revision, before: end)
            } else {
                let first = try await connection.record(
                    dictionary.start + piece[piece.startIndex], at: nil, before: end)
                revision = first.revision
                records = [first.record]
            }
            matches += try records.compactMap { record in
                try record.flatMap { connection.live($0) }.flatMap { try match($0) }
            }
            if order != nil, matches.count >= terms.wantedCount { break }
            rest = rest.dropFirst(piece.count)
        }
        return (sorted(matches), revision)
    }

    /// All entries before the first object, as they come in any order.
    private func read(all entries: SharedEntries<Item>) async throws -> [Match] {
        var keys: [[UInt8]] = []
        while let page = try await entries.next() { keys += page.map(\.objectKey) }
        if entries.plan.mayRepeat { keys = Array(Set(keys)) }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        keys = terms.behindCursor(keys)
        if terms.keyOrder == .descending { keys.reverse() }
        var matches: [Match] = []
        var rest = keys[...]
        var pieceCount = min(64, terms.wantedCount)
        while !rest.isEmpty {
            matches += try await objects(Array(rest.prefix(pieceCount)), at: entries.revision)
            if terms.keyOrder != nil, matches.count >= terms.wantedCount { break }
            rest = rest.dropFirst(pieceCount)
            pieceCount = 64
        }
        return sorted(matches)
    }

    /// Group by group: those of one group come in any order, and all are there before the next.
    private func read(inGroups entries: SharedEntries<Item>) async throws -> [Match] {
        var matches: [Match] = []
        var group: [[UInt8]] = []
        var form: [UInt8] = []
        // Whole groups whose objects were not read yet, so that small ones are read together.
        var waiting: [[UInt8]] = []
        func take() async throws {
            matches += sorted(try await objects(waiting, at: entries.revision))
            waiting = []
        }
        while let page = try await entries.next() {
            for entry in page {
                if entry.group != form, !group.isEmpty {
                    waiting += group
                    group = []
                    let missing = terms.wantedCount - matches.count
                    if waiting.count >= min(64, missing) { try await take() }
                    if matches.count >= terms.wantedCount { return matches }
                }
                form = entry.group
                group.append(entry.objectKey)
            }
        }
        waiting += group
        try await take()
        return matches
    }

    /// The objects with these keys that match.
    private func objects(_ keys: [[UInt8]], at revision: UInt64) async throws -> [Match] {
        let records = try await connection.records(
            keys.map { dictionary.start + $0 }, at: revision, before: dictionary.workspace.callEnd)
        return try zip(keys, records).compactMap { key, record in
            guard let record = connection.live(record) else {
                throw RoostError(
                    .corrupt,
                    "an index of \"\(dictionary.name)\" names \"\(String(decoding: key, as: UTF8.self))\", which is not there: write any key of the dictionary and build the indexes anew"
                )
            }
            return try match(record)
        }
    }

    func match(_ record: SharedRecord) throws -> SharedMatch<Item>? {
        let key = Array(record.key.dropFirst(dictionary.start.count))
        let item = try repository.form.value(
            ofStored: record.value, key: String(decoding: key, as: UTF8.self),
            in: try dictionary.checkedName())
        guard try terms.matches(item) else { return nil }
        let sortKey = terms.sortKey(item, key)
        guard terms.isBehindCursor(sortKey) else { return nil }
        return SharedMatch(
            key: key, sortKey: sortKey,
            deadline: connection.clock.deadline(of: record.value), item: item)
    }

    private func sorted(_ matches: [Match]) -> [Match] {
        matches.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }
}

/// The entries of a plan, in its order, a page of one revision at a time.
///
/// - `rest` are the ranges that were not read to their end, the next one last.
final class SharedEntries<Item: Identifiable & Sendable> where Item.ID: Sendable {
    let plan: EntryPlan<Item>
    let revision: UInt64
    private let dictionary: SharedDictionary
    private var rest: [(place: Int, start: Int, range: SharedKeyRange, hasValues: Bool)] = []
    private var pageCount = 64

    init(
        _ repository: SharedRepository<Item>, _ plan: EntryPlan<Item>,
        _ catalog: SharedIndexCatalog, at revision: UInt64?
    ) {
        self.plan = plan
        self.revision = revision ?? 0
        dictionary = repository.dictionary
        guard let indexes = repository.indexes else { return }
        let keys = dictionary.connection.keys
        let numbers = Dictionary(
            uniqueKeysWithValues: catalog.listed(indexes).map { ($0.place, $0.index.number) })
        for part in plan.parts {
            guard let number = numbers[part.place] else { continue }
            let all = keys.entries(of: dictionary.name, number: number)
            for range in part.ranges {
                let upper = range.upper.map { all.lower + $0 } ?? all.upper
                rest.append(
                    (
                        part.place, all.lower.count,
                        SharedKeyRange(lower: all.lower + range.lower, upper: upper),
                        indexes.hasKeysInValues(at: part.place)
                    ))
            }
        }
        if !plan.isReversed { rest.reverse() }
    }

    /// The next page; `nil` after the last.
    nonisolated(nonsending) func next() async throws -> [(
        objectKey: [UInt8], group: [UInt8]
    )]? {
        guard let (place, start, range, hasValues) = rest.last else { return nil }
        var read = SharedRead(range, at: revision, limit: pageCount)
        read.isDescending = plan.isReversed
        read.isKeysOnly = !hasValues
        let page = try await dictionary.connection.read(
            read, before: dictionary.workspace.callEnd)
        if page.hasMore, let last = page.records.last?.key {
            if plan.isReversed {
                rest[rest.count - 1].range.upper = last
            } else {
                rest[rest.count - 1].range.lower = last + [0]
            }
        } else {
            rest.removeLast()
        }
        pageCount = min(pageCount * 2, 1024)
        return try page.records.map {
            try plan.entry(Array($0.key.dropFirst(start)), $0.value, at: place)
        }
    }
}
