import Roost
import RoostIO

/// Where one run of a query reads: the newest when it begins; in an attempt of a transaction at its revision, and what was
/// looked at is guarded.
///
/// In an attempt the records are those that the engine has, without what the body has changed.
struct SharedQuerySource {
    let dictionary: SharedDictionary
    let attempt: SharedTransaction?
    /// The catalog that was read, for several runs at its revision.
    private var known: (SharedIndexCatalog, UInt64?)?

    init(_ dictionary: SharedDictionary, _ attempt: SharedTransaction?) {
        self.dictionary = dictionary
        self.attempt = attempt
    }

    private var connection: SharedConnectionState { dictionary.connection }
    private var end: ContinuousClock.Instant { dictionary.workspace.callEnd }

    /// The indexes of the dictionary, and of which revision they are.
    nonisolated(nonsending) func catalog() async throws -> (SharedIndexCatalog, UInt64?) {
        if let known { return known }
        if let attempt {
            return (try await attempt.catalogToRead(of: dictionary.name), attempt.revision)
        }
        let (known, revision) = try await connection.readCatalog(of: dictionary.name, before: end)
        return (known.catalog, revision)
    }

    /// The same, whose runs are all of one revision and read the catalog once.
    nonisolated(nonsending) func withCatalog() async throws -> SharedQuerySource {
        var source = self
        source.known = try await catalog()
        return source
    }

    /// Whether the body of the transaction has changed any object.
    var hasChanges: Bool { attempt?.hasChanged(dictionary) ?? false }

    /// The records of objects, `nil` for those that are not there or have expired, and their revision. With none given they
    /// are of the newest, and only one may be asked for.
    nonisolated(nonsending) func records(
        _ keys: [[UInt8]], at revision: UInt64?
    ) async throws -> (records: [SharedRecord?], revision: UInt64) {
        let engineKeys = keys.map { dictionary.start + $0 }
        if let attempt {
            let records = try await attempt.fetch(engineKeys)
            return (records.map { connection.live($0) }, attempt.revision ?? 0)
        }
        if let revision {
            let records = try await connection.records(engineKeys, at: revision, before: end)
            return (records.map { connection.live($0) }, revision)
        }
        precondition(engineKeys.count == 1, "the first read says of which revision the others are")
        let (record, newest) = try await connection.record(engineKeys[0], at: nil, before: end)
        return ([connection.live(record)], newest)
    }

    /// The records of objects that are selected, in order, until `body` has enough. Gives their revision.
    nonisolated(nonsending) func forEachRecord(
        _ selection: KeySelection, isKeysOnly: Bool, at revision: UInt64?,
        _ body: (SharedRecord) throws -> Bool
    ) async throws -> UInt64? {
        if let attempt {
            try await attempt.forEachRecord(
                of: dictionary, selection, isKeysOnly: isKeysOnly, body)
            return attempt.revision
        }
        let scan = SharedScan(dictionary, selection, isKeysOnly: isKeysOnly, at: revision)
        while let record = try await scan.next() {
            guard try body(record) else { break }
        }
        return scan.revision
    }

    /// A page of entries.
    nonisolated(nonsending) func page(_ read: SharedRead) async throws -> SharedPage {
        if let attempt { return try await attempt.page(read) }
        return try await connection.read(read, before: end)
    }
}
