import RoostEngine
import RoostFormat

// What `KeyValueDictionary` asks for, by the calls that the dictionary has. Code that is written for a
// `Workspace` comes by none of these.

extension WorkspaceDictionary: KeyValueDictionary {
    /// For code that is generic over workspaces; as `load(_:as:)`.
    public func load<Value>(_ key: String, form: ValueForm<Value>) async throws -> Value? {
        try await loadShared(key, form.codec)
    }

    /// For code that is generic over workspaces; as `entry(forKey:as:)`.
    public func loadEntry<Value>(
        _ key: String, form: ValueForm<Value>
    ) async throws -> Entry<Value> {
        try readEntry(key, form.codec)
    }

    /// For code that is generic over workspaces; as `set(_:forKey:expiresIn:durability:)`.
    public func set<Value>(
        _ value: Value, forKey key: String, expiresIn duration: Duration?, form: ValueForm<Value>
    ) async throws {
        try checkCancellation()
        let deadline = duration.map { workspace.engine.clock.deadline(after: $0) }
        let encoded = try encode(value, form.codec).with(deadline: deadline ?? .never)
        try await write(encoded, key, nil)
    }

    /// For code that is generic over workspaces; as `setAll(_:durability:)`.
    public func setAll<Value>(_ pairs: [(String, Value)], form: ValueForm<Value>) async throws {
        try checkCancellation()
        let name = try checkedName()
        var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
        for (key, value) in pairs {
            batch.put(try encode(value, form.codec), forKey: key, in: name)
        }
        _ = try await workspace.engine.commit(batch, durability: nil)
    }

    /// For code that is generic over workspaces; as `removeValue(forKey:durability:)`.
    public func remove(key: String) async throws {
        try await removeValue(forKey: key, durability: nil)
    }

    /// For code that is generic over workspaces; as `removeAll(durability:)`.
    public func removeAllKeys() async throws { try await removeAll(durability: nil) }

    /// For code that is generic over workspaces; as `removeAll(prefix:durability:)`.
    public func removeAllKeys(prefix: String) async throws {
        try await removeAll(prefix: prefix, durability: nil)
    }

    /// For code that is generic over workspaces; as `replace(_:with:expiresIn:durability:)` and
    /// `remove(_:durability:)`.
    public func replace<Value>(
        _ entry: Entry<Value>, with value: Value?, expiresIn duration: Duration?,
        form: ValueForm<Value>
    ) async throws -> Entry<Value> {
        guard let value else {
            try await remove(entry, durability: nil)
            return Entry(
                key: entry.key, value: nil, dictionary: entry.dictionary,
                record: RecordVersion(sequence: 0))
        }
        let deadline = duration.map { workspace.engine.clock.deadline(after: $0) }
        return try await replace(entry, with: value, form.codec, deadline ?? .never, nil)
    }

    /// For code that is generic over workspaces; as `update(_:as:keepsExpiry:durability:_:)`.
    public nonisolated(nonsending) func update<Value, Result: Sendable>(
        _ key: String, form: ValueForm<Value>, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await updateValue(key, form.codec, false, nil, body)
    }

    /// For code that is generic over workspaces; as `entries(prefix:as:limit:order:)`.
    public func entries<Value>(
        _ selection: KeySelection, form: ValueForm<Value>
    ) -> KeyValueSequence<(key: String, value: Value)> {
        KeyValueSequence(
            entries(
                Result { try range(selection.bounds) }, selection.limit, selection.order, form.codec
            ))
    }

    /// For code that is generic over workspaces; as `keys(prefix:limit:order:)`.
    public func keys(_ selection: KeySelection) -> KeyValueSequence<String> {
        let range = Result { try self.range(selection.bounds) }
        return KeyValueSequence(
            KeySequence(scan: scan(range, selection.limit, selection.order, nil)))
    }

    /// For code that is generic over workspaces; as `changes(forKey:as:since:bufferCapacity:)` for one key and as
    /// `changes(prefix:as:since:bufferCapacity:)` for a prefix. Of any other range the whole dictionary is
    /// watched. Watching begins with the call.
    public func changes<Value>(
        _ selection: KeySelection, form: ValueForm<Value>, since version: UInt64?
    ) -> KeyValueChanges<Value> {
        let (bounds, capacity) = (selection.bounds, Self.defaultBufferCapacity)
        // Of what else is changed nothing takes room in the buffer.
        if let key = bounds.onlyKey {
            return KeyValueChanges(changes(of: key, decoding(form.codec), version, capacity))
        }
        if let prefix = bounds.prefix {
            return KeyValueChanges(changes(prefix: prefix, form.codec, version, capacity))
        }
        let all = changes(prefix: "", form.codec, version, capacity)
        return KeyValueChanges(all.filter { $0.concerns(bounds) })
    }

    private func range(_ bounds: KeyBounds) throws -> RecordRange {
        RecordRange(try checkedName(), lower: bounds.lower, upper: bounds.upper)
    }
}

extension DictionaryChange {
    /// Whether the change is one of a key in `bounds`, or may be.
    fileprivate func concerns(_ bounds: KeyBounds) -> Bool {
        switch self {
        case .set(let key, _, _), .removed(let key, _), .unreadable(let key, _, _):
            bounds.contains(key)
        case .removedAll, .missed: true
        }
    }
}
