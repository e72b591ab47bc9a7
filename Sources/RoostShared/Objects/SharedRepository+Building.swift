import Roost
import RoostIO

// An index counts once it is built: an entry for each object. From when it is listed on, writers keep it, so building
// has to look at what was there before, and may do so in any number of steps.

extension SharedRepository {
    /// Builds the indexes that the type declares and the shared workspace does not have, and drops those that it does
    /// not declare any more. Returns once all are built.
    ///
    /// An index that is there is compared with up to 32 objects first, and built anew where one does not agree: what
    /// computes its entries, or how the type decodes a field, may be another by now. That costs some 40 requests for
    /// each of them.
    ///
    /// To be called when a service begins, by any number of processes at once. Those that declare other indexes take
    /// away what they do not declare with their first change, so while two versions of a service run, build when the
    /// last of the older has ended.
    ///
    /// - Throws: `.notUnique` where two objects have one value that is to be unique; `.decodingFailed` for an object
    ///   that is none; `.notIndexed` for one that expires. The index then goes on being kept, and does not count. `.conflict`
    ///   where another client takes the indexes away again and again, for half a minute.
    public func buildIndexes() async throws {
        guard let indexes else { return }
        var looks: [UInt64: Bool] = [:]
        var backoff = Backoff()
        for round in 0..<Self.buildingRoundCount {
            // Others have taken them away: what they do goes first.
            if round > 0 { try await backoff.wait(before: dictionary.workspace.callEnd) }
            let known = try await listed(indexes, &looks)
            let unbuilt = known.catalog.listed(indexes).filter { !$0.index.isBuilt }
            if unbuilt.isEmpty { return }
            guard try await addEntries(unbuilt, indexes, known.revision) else { continue }
            var built = known.catalog
            for place in built.indexes.indices { built.indexes[place].isBuilt = true }
            if try await commit(built, in: known.revision) { return }
        }
        throw RoostError(
            .conflict,
            "the indexes of \"\(dictionary.name)\" were taken away each time they were built: a client writes it by keys, or declares other indexes. Build when it has ended"
        )
    }

    private static var buildingRoundCount: Int { 30 }

    /// The catalog, once all declared indexes are in it and no others are.
    ///
    /// Where the engine gives up what is being looked at, it is looked at again; where it still does after a minute, that
    /// takes longer than it keeps a revision.
    ///
    /// - Parameter looks: Whether each agrees with its declaration, by the numbers of those that were looked at.
    private func listed(
        _ indexes: DeclaredIndexes<Item>, _ looks: inout [UInt64: Bool]
    ) async throws -> KnownCatalog {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let known = try await readingAgain(until: end) { try await list(indexes, &looks) }
            if let known { return known }
        }
    }

    /// The catalog where it is as it is to be; else makes it so, or finds that another was first, and gives none.
    private func list(
        _ indexes: DeclaredIndexes<Item>, _ looks: inout [UInt64: Bool]
    ) async throws -> KnownCatalog? {
        let (known, revision) = try await dictionary.connection.readCatalog(
            of: dictionary.name, before: dictionary.workspace.callEnd)
        var catalog = known.catalog
        var kept: [(place: Int, index: SharedIndexCatalog.Listed)] = []
        for (place, listed) in catalog.listed(indexes) {
            if try await agrees(listed, at: place, indexes, revision, &looks) {
                kept.append((place, listed))
            }
        }
        catalog.indexes = kept.map(\.index)
        for place in indexes.places where !kept.contains(where: { $0.place == place }) {
            catalog.indexes.append(
                .init(
                    name: indexes.name(at: place), shape: indexes.shape(at: place),
                    number: catalog.nextNumber, isBuilt: false))
            // What this declaration alone makes agrees with it.
            looks[catalog.nextNumber] = true
            catalog.nextNumber += 1
        }
        if catalog == known.catalog { return known }
        let dropped = known.catalog.indexes.filter { !catalog.indexes.contains($0) }
        if try await !commit(catalog, in: known.revision, dropping: dropped) {
            // The numbers may be another process's.
            looks = looks.filter { $0.key < known.catalog.nextNumber }
        }
        return nil
    }

    /// Whether a listed index has what its declaration makes of the objects, as far as a sample tells; each is looked
    /// at once.
    private func agrees(
        _ listed: SharedIndexCatalog.Listed, at place: Int, _ indexes: DeclaredIndexes<Item>,
        _ revision: UInt64, _ looks: inout [UInt64: Bool]
    ) async throws -> Bool {
        if let known = looks[listed.number] { return known }
        let sample = SharedIndexSample(repository: self, indexes, at: place, listed, at: revision)
        let agrees = try await sample.agrees()
        looks[listed.number] = agrees
        return agrees
    }

    /// `false`, with nothing changed, where the catalog is another by now.
    private func commit(
        _ catalog: SharedIndexCatalog, in revision: UInt64,
        dropping dropped: [SharedIndexCatalog.Listed] = []
    ) async throws -> Bool {
        let connection = dictionary.connection
        let key = connection.keys.catalog(of: dictionary.name)
        var commit = SharedCommit(guards: [.key(key, revision: revision)])
        commit.operations = [.put(key: key, value: try catalog.stored(), expiresIn: nil)]
        for index in dropped {
            let range = connection.keys.entries(of: dictionary.name, number: index.number)
            commit.operations.append(.removeRange(range))
        }
        let outcome = try await connection.commit(commit, before: dictionary.workspace.callEnd)
        connection.catalogs.forget([key])
        return outcome != .conflict
    }

    /// Adds the entries that are missing; `false` where the catalog is no longer the one of `revision`.
    ///
    /// Pages are of any revision: an object that was changed since the indexes were listed has its entries.
    private func addEntries(
        _ unbuilt: [(place: Int, index: SharedIndexCatalog.Listed)],
        _ indexes: DeclaredIndexes<Item>, _ revision: UInt64
    ) async throws -> Bool {
        let connection = dictionary.connection
        var range = connection.keys.range(of: dictionary.name)
        // Each object is guarded, and most have an entry in each index.
        let most = Swift.max(1, (connection.engine.limits.operationCount - 4) / (2 * unbuilt.count))
        var pageCount = Swift.min(16, most)
        while true {
            let page = try await connection.read(
                SharedRead(range, limit: pageCount), before: dictionary.workspace.callEnd)
            let sizeBytes = page.records.reduce(0) { $0 + $1.value.count }
            pageCount =
                sizeBytes > 1 << 20
                ? Swift.max(1, pageCount / 4) : Swift.min(pageCount * 2, most, 256)
            guard let last = page.records.last else { return true }
            let building = EntryBuilding(self, indexes, unbuilt, catalogRevision: revision)
            guard try await building.add(page.records) else { return false }
            range.lower = last.key + [0]
            if !page.hasMore { return true }
        }
    }
}

/// Adds the entries of a page of objects, each as it is when they are added.
private struct EntryBuilding<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    let repository: SharedRepository<Item>
    let indexes: DeclaredIndexes<Item>
    let unbuilt: [(place: Int, index: SharedIndexCatalog.Listed)]
    let catalogRevision: UInt64

    init(
        _ repository: SharedRepository<Item>, _ indexes: DeclaredIndexes<Item>,
        _ unbuilt: [(place: Int, index: SharedIndexCatalog.Listed)], catalogRevision: UInt64
    ) {
        self.repository = repository
        self.indexes = indexes
        self.unbuilt = unbuilt
        self.catalogRevision = catalogRevision
    }

    private var dictionary: SharedDictionary { repository.dictionary }

    /// Objects of the page are changed all the time: fewer of them are left alone for as long as adding their entries takes.
    private struct Disturbed: Error {}

    /// How often the entries of several objects are tried to be added at once. The first time nothing is read.
    private static var attemptLimit: Int { 4 }

    /// `false`, with nothing changed, where the catalog is another by now.
    func add(_ records: [SharedRecord]) async throws -> Bool {
        var attemptCount = 0
        do {
            return try await dictionary.workspace.transaction { attempt in
                attemptCount += 1
                if attemptCount > Self.attemptLimit, records.count > 1 { throw Disturbed() }
                _ = try await attempt.catalog(of: dictionary.name)
                guard attempt.catalogRevision(of: dictionary.name) == catalogRevision else {
                    return false
                }
                if !attempt.isFirst { try await attempt.fetch(records.map(\.key)) }
                for record in records {
                    if attempt.isFirst { attempt.note(record, record.key) }
                    let stored =
                        attempt.isFirst
                        ? dictionary.connection.live(record)?.value
                        : try await attempt.stored(record.key)
                    if let stored { try await add(stored, record, attempt) }
                }
                return true
            }
        } catch is Disturbed {
            return try await addHalves(records)
        } catch let error as RoostError where error.code == .tooLarge && records.count > 1 {
            // Objects with many entries each.
            return try await addHalves(records)
        }
    }

    private func addHalves(_ records: [SharedRecord]) async throws -> Bool {
        let half = records.count / 2
        guard try await add(Array(records[..<half])) else { return false }
        return try await add(Array(records[half...]))
    }

    private nonisolated(nonsending) func add(
        _ stored: [UInt8], _ record: SharedRecord, _ attempt: SharedTransaction
    ) async throws {
        let connection = dictionary.connection
        let objectKey = Array(record.key.dropFirst(dictionary.start.count))
        let key = String(decoding: objectKey, as: UTF8.self)
        guard connection.clock.deadline(of: stored) == .never else {
            throw RoostError(
                .notIndexed,
                "\"\(key)\" in \"\(dictionary.name)\" expires, and objects with indexes may not: save it without a time"
            )
        }
        let item = try repository.form.value(
            ofStored: stored, key: key, in: try dictionary.checkedName())
        for (place, listed) in unbuilt {
            let start = connection.keys.entries(of: dictionary.name, number: listed.number).lower
            for entry in try indexes.entries(of: item, objectKey, at: place) {
                if entry.isSole,
                    let other = try await attempt.holder(start + entry.key, objectKey)
                {
                    throw indexes.notUnique(at: place, objectKey, other)
                }
                try attempt.write(entry.value, forKey: start + entry.key)
            }
        }
    }
}
