import Roost
import RoostFormat
import RoostIO

/// A named key space of a ``SharedWorkspace``: the calls of `KeyValueDictionary`, over the engine.
///
/// Keys are compared by their UTF-8 bytes. Any key that the engine's limit has room for is allowed.
public struct SharedDictionary: KeyValueDictionary {
    /// The workspace that it is in.
    public let workspace: SharedWorkspace
    /// What it is called.
    public let name: String
    let start: [UInt8]
    let engineName: DictionaryName?

    init(workspace: SharedWorkspace, name: String) {
        self.workspace = workspace
        self.name = name
        start = workspace.connection.keys.start(of: name)
        engineName = DictionaryName(name)
    }

    var connection: SharedConnectionState { workspace.connection }

    /// - Throws: `.keyTooLarge` where the dictionary's name is too long.
    func checkedName() throws -> DictionaryName {
        guard let engineName else {
            throw RoostError(
                .keyTooLarge,
                "the dictionary's name has more than \(Limits.dictionaryNameSizeBytes) bytes")
        }
        return engineName
    }

    /// Where `key` stands in the engine.
    func engineKey(_ key: String) throws -> [UInt8] {
        _ = try checkedName()
        let engineKey = start + Array(key.utf8)
        try connection.checkKey(engineKey)
        return engineKey
    }

    func stored<Value>(
        _ value: Value, _ form: ValueForm<Value>, expiresIn duration: Duration? = nil
    ) throws -> [UInt8] {
        let deadline = duration.map { connection.clock.deadline(after: $0) } ?? .never
        return try form.stored(value, coder: connection.coder, deadline: deadline)
    }

    func value<Value>(
        of record: SharedRecord?, _ key: String, _ form: ValueForm<Value>
    ) throws -> Value? {
        guard let record = connection.live(record) else { return nil }
        return try form.value(ofStored: record.value, key: key, in: try checkedName())
    }

    // MARK: Reading

    /// Whether `key` has a value. Linearizable; one request.
    ///
    /// - Throws: what reading from the engine throws: `.unavailable`, `.notPermitted`, `.cancelled`, `.closed`;
    ///   `.keyTooLarge`.
    public func contains(_ key: String) async throws -> Bool {
        let (record, _) = try await connection.record(
            try engineKey(key), before: workspace.callEnd)
        return connection.live(record) != nil
    }

    /// How many keys the dictionary has, at one revision. Reads all of its keys.
    ///
    /// - Throws: as `contains(_:)`; `.compacted` where it takes longer than the engine keeps the revision.
    public var count: Int {
        get async throws { try await count(prefix: "") }
    }

    /// How many keys begin with the bytes of `prefix`, at one revision. Reads all of these keys.
    ///
    /// - Throws: as ``count``.
    public func count(prefix: String) async throws -> Int {
        var count = 0
        for try await _ in keys(KeySelection(prefix: prefix)) { count += 1 }
        return count
    }

    /// The value of `key`, or `nil`; as the call that takes a type. Linearizable; one request.
    public func load<Value>(_ key: String, form: ValueForm<Value>) async throws -> Value? {
        let (record, _) = try await connection.record(
            try engineKey(key), before: workspace.callEnd)
        return try value(of: record, key, form)
    }

    /// The value of `key` and its version, which is the engine's revision; of a value that has expired and is
    /// not removed yet, what set that.
    ///
    /// - Throws: as `load(_:form:)`.
    public func loadEntry<Value>(
        _ key: String, form: ValueForm<Value>
    ) async throws -> Entry<Value> {
        let (record, _) = try await connection.record(
            try engineKey(key), before: workspace.callEnd)
        return Entry(
            key: key, value: try value(of: record, key, form), version: record?.revision ?? 0,
            deadline: record.map { connection.clock.deadline(of: $0.value) } ?? .never,
            in: try checkedName())
    }

    /// How long the value of `key` is there yet, by the engine's clock where it tells one; `nil` where it has no value, or
    /// one that stays. Linearizable; one request.
    ///
    /// - Throws: as `contains(_:)`.
    public func remainingTime(forKey key: String) async throws -> Duration? {
        let (record, _) = try await connection.record(
            try engineKey(key), before: workspace.callEnd)
        guard let record, let left = connection.clock.remainingTime(of: record.value), left > .zero
        else { return nil }
        return left
    }

    /// How long the value of `key` is there yet; as `remainingTime(forKey:)`.
    public func remainingTime<Value>(for key: Key<Value>) async throws -> Duration? {
        try await remainingTime(forKey: key.name)
    }

    /// How long the value that was read is there yet: nothing where it has expired since, `nil` where it has no value or
    /// one that stays. Asks nobody.
    public func remainingTime<Value>(of entry: Entry<Value>) -> Duration? {
        entry.remainingTime(at: connection.clock.milliseconds)
    }

    // MARK: Writing

    /// Sets the value of `key`; as the call that takes a type. Acknowledged by the engine's quorum when it
    /// returns; one request.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.tooLarge`, `.unavailable`, `.notPermitted`, `.outOfSpace`, `.cancelled`,
    ///   `.closed`, and `.unsupportedVersion` where the dictionary has a list of indexes that this version does not know:
    ///   then nothing is changed. `.unknownOutcome` where the engine could not be asked until the deadline whether it is.
    public func set<Value>(
        _ value: Value, forKey key: String, expiresIn duration: Duration?, form: ValueForm<Value>
    ) async throws {
        let deadline = workspace.callEnd
        // From then on it is known what the engine says that the time is.
        if duration != nil { try await connection.connect(before: deadline) }
        let stored = try stored(value, form, expiresIn: duration)
        try await write(
            [.put(key: try engineKey(key), value: stored, expiresIn: duration)], before: deadline)
    }

    /// Sets many values in one commit; more than the engine takes at once is `.tooLarge`.
    ///
    /// - Throws: as `set(_:forKey:expiresIn:form:)`, for any of them, and then none is set.
    public func setAll<Value>(_ pairs: [(String, Value)], form: ValueForm<Value>) async throws {
        var places: [[UInt8]: Int] = [:]
        var operations: [SharedOperation] = []
        for (key, value) in pairs {
            let key = try engineKey(key)
            let put = SharedOperation.put(key: key, value: try stored(value, form), expiresIn: nil)
            if let place = places[key] {
                operations[place] = put
            } else {
                places[key] = operations.count
                operations.append(put)
            }
        }
        guard !operations.isEmpty else { return }
        try await write(operations)
    }

    /// Removes a key; one request.
    ///
    /// - Throws: as `set(_:forKey:expiresIn:form:)`, but for `.encodingFailed`.
    public func remove(key: String) async throws {
        try await write([.remove(key: try engineKey(key))])
    }

    /// Removes every key in one commit.
    ///
    /// - Throws: as `remove(key:)`.
    public func removeAllKeys() async throws {
        _ = try checkedName()
        try await write([.removeRange(connection.keys.range(of: name))])
    }

    /// Removes every key that begins with the bytes of `prefix`, at once; one request, however many they are.
    ///
    /// - Throws: as `remove(key:)`.
    public func removeAllKeys(prefix: String) async throws {
        _ = try checkedName()
        try await write([.removeRange(range(KeySelection(prefix: prefix).bounds))])
    }

    private func write(
        _ operations: [SharedOperation], before deadline: ContinuousClock.Instant? = nil
    ) async throws {
        try await connection.write(
            operations, byKeysOf: [name], before: deadline ?? workspace.callEnd)
    }

    // MARK: On a condition

    /// Sets or removes the entry's key if it still has the entry's version; one request. Where `duration` is not
    /// `nil`, the value is gone once that has passed.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first; as
    ///   `set(_:forKey:expiresIn:form:)`.
    public func replace<Value>(
        _ entry: Entry<Value>, with value: Value?, expiresIn duration: Duration?,
        form: ValueForm<Value>
    ) async throws -> Entry<Value> {
        let deadline = workspace.callEnd
        if duration != nil { try await connection.connect(before: deadline) }
        let key = try engineKey(entry.key)
        let bytes = try value.map { try stored($0, form, expiresIn: duration) }
        let operation: SharedOperation =
            if let bytes {
                .put(key: key, value: bytes, expiresIn: duration)
            } else {
                .remove(key: key)
            }
        let commit = SharedCommit(
            guards: [.key(key, revision: entry.version)], operations: [operation])
        guard let revision = try await replaced(by: commit, entry, key, before: deadline) else {
            throw RoostError(
                .conflict,
                "\"\(entry.key)\" in \"\(name)\" was changed by another writer: read it again")
        }
        return Entry(
            key: entry.key, value: value, version: value == nil ? 0 : revision,
            deadline: bytes.map { connection.clock.deadline(of: $0) } ?? .never,
            in: try checkedName())
    }

    /// The revision of the replacement; `nil` where the entry is another by now.
    private func replaced<Value>(
        by commit: SharedCommit, _ entry: Entry<Value>, _ key: [UInt8],
        before deadline: ContinuousClock.Instant
    ) async throws -> UInt64? {
        var commit = commit
        while true {
            let outcome = try await connection.commit(
                commit, byKeysOf: [name], before: deadline)
            if case .committed(let revision) = outcome { return revision }
            // One that had expired when it was read may have been removed since, which changes nothing of it.
            let absent = SharedGuard.key(key, revision: 0)
            guard entry.value == nil, entry.version > 0, commit.guards != [absent] else {
                return nil
            }
            commit.guards = [absent]
        }
    }

    func replace<Value>(
        _ entry: Entry<Value>, with value: Value?, form: ValueForm<Value>
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, expiresIn: nil, form: form)
    }

    /// Changes, sets or removes the value of `key` atomically; as the call that takes a type. Those of this
    /// process that lose to another writer wait for each other, so that all make progress.
    public nonisolated(nonsending) func update<Value, Result: Sendable>(
        _ key: String, form: ValueForm<Value>, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        let deadline = workspace.callEnd
        let engineKey = try engineKey(key)
        var backoff = Backoff.ofConflicts
        var hasTurn = false
        defer { if hasTurn { connection.turns.pass(engineKey) } }
        while true {
            let (record, _) = try await connection.record(engineKey, before: deadline)
            let old = try value(of: record, key, form)
            var new = old
            let result = try body(&new)
            if old == nil && new == nil { return result }
            // What has expired since is not to come back: for everybody else it is gone.
            if old != nil, connection.live(record) == nil {
                try checkTime(deadline)
                continue
            }
            let operation: SharedOperation =
                if let new {
                    .put(key: engineKey, value: try stored(new, form), expiresIn: nil)
                } else {
                    .remove(key: engineKey)
                }
            let commit = SharedCommit(
                guards: [.key(engineKey, revision: record?.revision ?? 0)],
                operations: [operation])
            let outcome = try await connection.commit(
                commit, byKeysOf: [name], before: deadline)
            if outcome != .conflict { return result }
            if hasTurn {
                try await backoff.wait(before: deadline)
            } else {
                try await connection.turns.take(engineKey, before: deadline)
                hasTurn = true
            }
            // Also where the rest of the time was waited for: what is asked then would not be answered in time.
            try checkTime(deadline)
        }
    }

    private func checkTime(_ deadline: ContinuousClock.Instant) throws {
        guard ContinuousClock.now < deadline else {
            throw RoostError(
                .conflict, "other writers were first until the call's deadline; nothing is changed")
        }
    }
}
