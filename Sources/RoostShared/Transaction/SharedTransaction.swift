import Roost
import RoostFormat
import RoostIO

/// One attempt of a transaction of a ``SharedWorkspace``.
///
/// - All reads are of `revision`, which the first one sets: that of a linearizable read.
/// - `reads` has for each key that was looked at what had set it then, zero for none; `ranges` what was scanned.
///   Together they are the guards of the commit.
/// - `changes` stay here until then.
/// - `catalogs` has the lists of indexes that the changes rest on, each guarded too.
public final class SharedTransaction: KeyValueTransaction {
    let workspace: SharedWorkspace
    let deadline: ContinuousClock.Instant
    /// Whether no attempt of the transaction has lost yet, so that what was read before may be taken to be so still.
    let isFirst: Bool
    private(set) var revision: UInt64?
    var catalogs: [[UInt8]: AttemptCatalog] = [:]
    /// While a call changes many objects.
    var awaitedEntries: AwaitedEntries<AwaitedSharedEntry>?
    /// What was read: it is asked for once.
    private var fetched: [[UInt8]: SharedRecord?] = [:]
    private var reads: [[UInt8]: UInt64] = [:]
    private var ranges: [SharedKeyRange] = []
    private var changes = AttemptChanges()
    /// The first deadline of what was read: from then on it is no longer so.
    private var earliestDeadline = Deadline.never
    private var isLost = false

    init(
        _ workspace: SharedWorkspace, isFirst: Bool, before deadline: ContinuousClock.Instant
    ) {
        self.workspace = workspace
        self.isFirst = isFirst
        self.deadline = deadline
    }

    var connection: SharedConnectionState { workspace.connection }

    /// What the body has set, as long as it has not expired.
    private func liveValue(_ write: AttemptChanges.Write) -> [UInt8]? {
        write.value.flatMap { connection.clock.isLive($0) ? $0 : nil }
    }

    // MARK: Reading

    /// The value of `key`; as the call that takes a type. One request, but for a key that the body has set.
    public nonisolated(nonsending) func load<Value>(
        _ key: String, in dictionary: SharedDictionary, form: ValueForm<Value>
    ) async throws -> Value? {
        let stored = try await stored(try engineKey(key, dictionary))
        return try stored.map {
            try form.value(ofStored: $0, key: key, in: try dictionary.checkedName())
        }
    }

    /// Whether `key` has a value in `dictionary`.
    ///
    /// - Throws: what reading from the engine throws, as `contains(_:)` of a dictionary does.
    public nonisolated(nonsending) func contains(
        _ key: String, in dictionary: SharedDictionary
    ) async throws -> Bool {
        try await stored(try engineKey(key, dictionary)) != nil
    }

    /// How many keys `dictionary` has. Reads and guards all of them: more than the engine takes at once is
    /// `.tooLarge` at the commit.
    ///
    /// - Throws: as `contains(_:in:)`.
    public nonisolated(nonsending) func count(
        of dictionary: SharedDictionary
    ) async throws -> Int {
        try await keys(of: dictionary, KeySelection()).count
    }

    /// How many keys of `dictionary` begin with the bytes of `prefix`; else as `count(of:)`.
    ///
    /// - Throws: as `contains(_:in:)`.
    public nonisolated(nonsending) func count(
        of dictionary: SharedDictionary, prefix: String
    ) async throws -> Int {
        try await keys(of: dictionary, KeySelection(prefix: prefix)).count
    }

    /// The selected keys. A key that comes or goes in what was looked at is a conflict; each that is found
    /// counts against what the engine takes at once.
    ///
    /// - Throws: as `contains(_:in:)`.
    public nonisolated(nonsending) func keys(
        of dictionary: SharedDictionary, _ selection: KeySelection
    ) async throws -> [String] {
        check(dictionary)
        let limit = Swift.max(0, selection.limit ?? .max)
        guard limit > 0 else { return [] }
        let range = dictionary.range(selection.bounds)
        var own = changes.writtenKeys(in: range)
        own.sort { $0.lexicographicallyPrecedes($1) }
        if selection.order == .descending { own.reverse() }
        var ownIndex = 0
        var found: [[UInt8]] = []

        func addOwn(before key: [UInt8]?) {
            while ownIndex < own.count, found.count < limit {
                if let key, !isBefore(own[ownIndex], key, selection.order) { return }
                if changedValue(own[ownIndex]) != nil { found.append(own[ownIndex]) }
                ownIndex += 1
            }
        }

        var unlimited = selection
        unlimited.limit = nil
        try await forEachRecord(of: dictionary, unlimited, isKeysOnly: true) { record in
            addOwn(before: record.key)
            guard found.count < limit else { return false }
            if changes.writes[record.key] == nil { found.append(record.key) }
            return found.count < limit
        }
        addOwn(before: nil)
        return found.map { String(decoding: $0.dropFirst(dictionary.start.count), as: UTF8.self) }
    }

    /// The records of a dictionary at the attempt's revision, without what the body has set, until `body` has enough. Each,
    /// and the range up to the last, is guarded. What the body has removed with all that begins alike is left out.
    nonisolated(nonsending) func forEachRecord(
        of dictionary: SharedDictionary, _ selection: KeySelection, isKeysOnly: Bool,
        _ body: (SharedRecord) throws -> Bool
    ) async throws {
        if isCleared(dictionary) { return }
        let scan = SharedScan(
            dictionary, selection, isKeysOnly: isKeysOnly, at: revision, before: deadline)
        var looked = dictionary.range(selection.bounds)
        while let record = try await pinned({ try await scan.next() }) {
            // Of a body that goes on after an error too, all reads are of one revision.
            if revision == nil { revision = scan.revision }
            if isKeysOnly && !record.expires {
                noteRevision(of: record)
            } else {
                note(record, record.key)
            }
            if !isKeysOnly { fetched[record.key] = record }
            if changes.isCleared(record.key) { continue }
            if try !body(record) {
                looked = looked.part(
                    upTo: record.key, isDescending: selection.order == .descending)
                break
            }
        }
        if revision == nil { revision = scan.revision }
        guardRange(looked)
    }

    /// Whether the body has removed all keys of a dictionary.
    func isCleared(_ dictionary: SharedDictionary) -> Bool {
        changes.cleared.contains(connection.keys.range(of: dictionary.name))
    }

    /// Whether the body has removed all keys of a dictionary that begin alike, of any beginning.
    func isPartlyCleared(_ dictionary: SharedDictionary) -> Bool {
        let whole = connection.keys.range(of: dictionary.name)
        return changes.cleared.contains { whole.contains($0) }
    }

    /// Whether the body has removed a record with others at once; what it has set since does not count.
    func isCleared(_ key: [UInt8]) -> Bool { changes.isCleared(key) }

    /// The keys of a dictionary that the body has changed since it removed all, if it did, in no order.
    func changedKeys(of dictionary: SharedDictionary) -> [[UInt8]] {
        changes.writtenKeys(in: connection.keys.range(of: dictionary.name))
    }

    /// Whether the body has changed any key of a dictionary.
    func hasChanged(_ dictionary: SharedDictionary) -> Bool {
        isPartlyCleared(dictionary) || !changedKeys(of: dictionary).isEmpty
    }

    /// What the body has set a key to; `nil` where it has not, has removed it, or that has expired.
    func changedValue(_ key: [UInt8]) -> [UInt8]? { changes.writes[key].flatMap(liveValue) }

    /// That nothing was added in a range, as it was looked at.
    func guardRange(_ range: SharedKeyRange) {
        guard !range.isEmpty, !ranges.contains(where: { $0.contains(range) }) else { return }
        ranges.removeAll { range.contains($0) }
        ranges.append(range)
    }

    private func isBefore(_ one: [UInt8], _ other: [UInt8], _ order: ScanOrder) -> Bool {
        order == .ascending
            ? one.lexicographicallyPrecedes(other) : other.lexicographicallyPrecedes(one)
    }

    nonisolated(nonsending) func stored(_ key: [UInt8]) async throws -> [UInt8]? {
        if let written = changes.writes[key] { return liveValue(written) }
        if changes.isCleared(key) { return nil }
        if let record = fetched[key] { return connection.live(record)?.value }
        let (record, newest) = try await pinned {
            try await connection.record(key, at: revision, before: deadline)
        }
        if revision == nil { revision = newest }
        note(record, key)
        fetched[key] = record
        return connection.live(record)?.value
    }

    /// Records at the attempt's revision, several at once, without what the body has changed; in the order of `keys`.
    @discardableResult
    nonisolated(nonsending) func fetch(_ keys: [[UInt8]]) async throws -> [SharedRecord?] {
        var missing = keys.filter { fetched[$0] == nil }
        if revision == nil, let first = missing.popLast() {
            let (record, newest) = try await connection.record(first, at: nil, before: deadline)
            revision = newest
            note(record, first)
            fetched[first] = record
        }
        let records = try await pinned {
            try await connection.records(missing, at: revision, before: deadline)
        }
        for (key, record) in zip(missing, records) {
            note(record, key)
            fetched[key] = record
        }
        return keys.map { fetched[$0] ?? nil }
    }

    /// A page of records at the attempt's revision; what of it is rested on is the caller's to guard.
    nonisolated(nonsending) func page(_ read: SharedRead) async throws -> SharedPage {
        var read = read
        read.revision = revision
        let page = try await pinned { try await connection.read(read, before: deadline) }
        if revision == nil { revision = page.revision }
        return page
    }

    /// What had set a key that was read; zero where it had no value.
    func version(ofRead key: [UInt8]) -> UInt64 { reads[key] ?? 0 }

    /// Takes a key to have no value, which the commit's guard finds out. Says whether that is what to rest on.
    func assumeAbsent(_ key: [UInt8]) -> Bool {
        guard isFirst, changes.writes[key] == nil, reads[key] == nil else { return false }
        reads[key] = 0
        return true
    }

    /// Reads a catalog, at the attempt's revision.
    nonisolated(nonsending) func readCatalog(of name: String) async throws -> KnownCatalog {
        let (known, newest) = try await pinned {
            try await connection.readCatalog(of: name, at: revision, before: deadline)
        }
        if revision == nil { revision = newest }
        return known
    }

    func note(_ record: SharedRecord?, _ key: [UInt8]) {
        reads[key] = record?.revision ?? 0
        if let live = connection.live(record) {
            earliestDeadline = Swift.min(
                earliestDeadline, connection.clock.deadline(of: live.value))
        }
    }

    /// Of a record that expires never, whose value was not asked for.
    func noteRevision(of record: SharedRecord) { reads[record.key] = record.revision }

    /// A revision that the engine has given up meanwhile ends the attempt, not the transaction.
    private nonisolated(nonsending) func pinned<Result>(
        _ read: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        do { return try await read() } catch let error as RoostError
            where error.code == .compacted
        {
            lose()
            throw AttemptLost()
        }
    }

    /// Ends the attempt, also where the body catches the error that it is told: what could not be read is not guarded.
    func lose() { isLost = true }

    // MARK: Changing

    /// Sets the value of `key`; as the call that takes a type. Does not suspend.
    public func set<Value>(
        _ value: Value, forKey key: String, in dictionary: SharedDictionary,
        expiresIn duration: Duration?, form: ValueForm<Value>
    ) throws {
        let stored = try dictionary.stored(value, form, expiresIn: duration)
        changes.set(
            .init(value: stored, duration: duration), forKey: try engineKey(key, dictionary))
        noteChange(byKeysOf: dictionary)
    }

    /// Removes `key` from `dictionary`; a key without a value is no error.
    ///
    /// - Throws: `.keyTooLarge`.
    public func removeValue(forKey key: String, in dictionary: SharedDictionary) throws {
        changes.set(.init(), forKey: try engineKey(key, dictionary))
        noteChange(byKeysOf: dictionary)
    }

    /// Removes every key of `dictionary`, those that the body has set included.
    ///
    /// - Throws: `.keyTooLarge` where the dictionary's name is too long.
    public func removeAll(in dictionary: SharedDictionary) throws {
        check(dictionary)
        _ = try dictionary.checkedName()
        clear(connection.keys.range(of: dictionary.name))
        noteChange(byKeysOf: dictionary)
    }

    /// Removes every key of `dictionary` that begins with the bytes of `prefix`, those that the body has set included. Reads
    /// nothing; one change of what the engine takes at once, however many keys they are.
    ///
    /// - Throws: `.keyTooLarge` where the dictionary's name is too long.
    public func removeAll(prefix: String, in dictionary: SharedDictionary) throws {
        check(dictionary)
        _ = try dictionary.checkedName()
        clear(dictionary.range(KeySelection(prefix: prefix).bounds))
        noteChange(byKeysOf: dictionary)
    }

    private func noteChange(byKeysOf dictionary: SharedDictionary) {
        changes.noteChange(
            byKeysOf: dictionary.name, catalog: connection.keys.catalog(of: dictionary.name))
    }

    /// Whether the body has changed a dictionary by its keys, so that the commit takes its indexes away.
    func losesIndexes(of dictionary: SharedDictionary) -> Bool {
        !changes.changedByKeys.isEmpty
            && changes.changedByKeys[connection.keys.catalog(of: dictionary.name)] != nil
    }

    /// Puts, or with no value removes, a record; what is derived of it is the caller's to keep.
    func write(_ value: [UInt8]?, forKey key: [UInt8]) throws {
        try connection.checkKey(key)
        changes.set(.init(value: value), forKey: key)
    }

    /// Removes the records of a range, those that were written before included.
    func clear(_ range: SharedKeyRange) { changes.clear(range) }

    func setCatalog(_ catalog: SharedIndexCatalog, of dictionary: String) {
        let key = connection.keys.catalog(of: dictionary)
        guard let known = catalogs[key] else { return }
        changes.noteChange(ofCatalog: key, before: known)
        catalogs[key]?.catalog = catalog
        catalogs[key]?.isChanged = true
    }

    /// Makes several changes of which none is left where one of them fails. What was read for them stays guarded.
    nonisolated(nonsending) func asOne(
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        guard changes.beginAsOne() else { return try await body() }
        defer { changes.endAsOne() }
        do { try await body() } catch {
            for (key, before) in changes.takeBack() {
                catalogs[key]?.catalog = before.catalog
                catalogs[key]?.isChanged = before.isChanged
            }
            throw error
        }
    }

    func engineKey(_ key: String, _ dictionary: SharedDictionary) throws -> [UInt8] {
        check(dictionary)
        return try dictionary.engineKey(key)
    }

    func check(_ dictionary: SharedDictionary) {
        precondition(
            dictionary.connection === connection, "the dictionary belongs to another workspace")
    }

    // MARK: Ending

    /// What the attempt would commit; `nil` where it changes nothing.
    nonisolated(nonsending) func commit() async throws -> SharedCommit? {
        if isLost { throw AttemptLost() }
        guard !changes.isEmpty else { return nil }
        for name in changes.changedByKeys.values { try await dropIndexes(ofDictionary: name) }
        try finishCatalogs()
        if earliestDeadline != .never,
            earliestDeadline.milliseconds <= connection.clock.milliseconds
        {
            throw AttemptLost()
        }
        let guards =
            reads.map { SharedGuard.key($0.key, revision: $0.value) }
            + catalogs.map { SharedGuard.key($0.key, revision: $0.value.revision) }
            + ranges.map { SharedGuard.nothingNewer($0, than: revision ?? 0) }
        return SharedCommit(guards: guards, operations: changes.operations)
    }
}

/// The attempt rests on what is no longer so; the body runs again.
struct AttemptLost: Error {}
