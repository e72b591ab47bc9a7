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

    private typealias Match = (sortKey: [UInt8], item: Item)

    private enum Way {
        case nothing
        case scan
        case entries(EntryPlan<Item>, SharedIndexCatalog)
    }

    func fetch() async throws -> [Item] {
        let (way, revision) = try await choose(isCounting: false)
        var matches: [Match] = []
        switch way {
        case .nothing: return []
        case .scan:
            matches = try await scan(at: revision)
        case .entries(let plan, let catalog):
            let entries = SharedEntries(repository, plan, catalog, at: revision)
            matches =
                plan.isOrdered ? try await read(inGroups: entries) : try await read(all: entries)
        }
        return matches.dropFirst(terms.offsetCount).prefix(terms.limitCount ?? .max).map(\.item)
    }

    func count() async throws -> Int {
        if terms.limitCount != nil || terms.offsetCount > 0 { return try await fetch().count }
        let (way, revision) = try await choose(isCounting: true)
        switch way {
        case .nothing: return 0
        case .scan:
            if terms.isUnconditional { return try await dictionary.count }
            return try await scan(at: revision).count
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
        case .scan: return "every object: \(terms.text)"
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
        guard let indexes = repository.indexes else { return (try scanOrRefuse(), nil) }
        let (known, revision) = try await connection.readCatalog(
            of: dictionary.name, before: dictionary.workspace.callEnd)
        let built = known.catalog.listed(indexes).filter(\.index.isBuilt).map(\.place)
        if let plan = indexes.plan(terms, usable: Set(built), isCounting: isCounting) {
            return (.entries(plan, known.catalog), revision)
        }
        return (try scanOrRefuse(), revision)
    }

    private func scanOrRefuse() throws -> Way {
        if query.mayScan { return .scan }
        // Then every object that is read is asked for.
        if terms.isUnconditional, !terms.hasOrder || terms.limitCount == nil { return .scan }
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

    private func scan(at revision: UInt64?) async throws -> [Match] {
        let scan = SharedScan(dictionary, KeySelection(), isKeysOnly: false, at: revision)
        var matches: [Match] = []
        while let record = try await scan.next() {
            if let match = try match(record) { matches.append(match) }
            if !terms.hasOrder, matches.count >= terms.wantedCount { break }
        }
        return sorted(matches)
    }

    /// All entries before the first object, as they come in any order.
    private func read(all entries: SharedEntries<Item>) async throws -> [Match] {
        var keys: [[UInt8]] = []
        while let page = try await entries.next() { keys += page.map(\.objectKey) }
        if entries.plan.mayRepeat { keys = Array(Set(keys)) }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        var matches: [Match] = []
        var rest = keys[...]
        var pieceCount = min(64, terms.wantedCount)
        while !rest.isEmpty {
            matches += try await objects(Array(rest.prefix(pieceCount)), at: entries.revision)
            if !terms.hasOrder, matches.count >= terms.wantedCount { break }
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

    private func match(_ record: SharedRecord) throws -> Match? {
        let key = Array(record.key.dropFirst(dictionary.start.count))
        let item = try repository.form.value(
            ofStored: record.value, key: String(decoding: key, as: UTF8.self),
            in: try dictionary.checkedName())
        guard try terms.matches(item) else { return nil }
        return (terms.sortKey(item, key), item)
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
