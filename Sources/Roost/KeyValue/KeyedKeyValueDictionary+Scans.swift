import RoostCoding

// Entries and keys in the order of the keys' strings, and the calls of batches and transactions. All are those of `strings`, with
// keys that were made values.

extension KeyedKeyValueDictionary {
    // MARK: Scans

    /// All keys at one moment, in their order. Holds all of them in memory.
    ///
    /// - Throws: `.typeMismatch` where there is a key that is none of `Key`; what reading from the engine throws.
    public var keys: [Key] {
        get async throws { try await keys().all() }
    }

    /// The keys in their order or against it, at most `limit`, all of one moment. Decodes no value. Iterating throws `.typeMismatch`
    /// where a key is none of `Key`.
    public func keys(
        limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeyValueSequence<Key> {
        keys(KeySelection(limit: limit, order: order))
    }

    /// The keys in `range`, as the strings go: `keys(in: (-5)...5)`. Else as `keys(limit:order:)`.
    public func keys(
        in range: some TypedKeyRange<Key>, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeyValueSequence<Key> {
        keys(KeySelection(bounds: range.keyBoundsOfStrings, limit: limit, order: order))
    }

    /// The entries in the order of the keys or against it, at most `limit`, all of one moment. Nothing is read before the iteration
    /// begins. It throws `.typeMismatch` where a key is none of `Key`.
    public func entries<Value: BinaryCodable & Sendable>(
        as type: Value.Type = Value.self, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: Key, value: Value)> {
        entries(KeySelection(limit: limit, order: order), .binary())
    }

    /// The entries in the order of the keys or against it; as the other `entries(as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        as type: Value.Type = Value.self, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: Key, value: Value)> {
        entries(KeySelection(limit: limit, order: order), .codable())
    }

    /// The entries whose keys are in `range`, as the strings go. Else as `entries(as:limit:order:)`.
    public func entries<Value: BinaryCodable & Sendable>(
        in range: some TypedKeyRange<Key>, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: Key, value: Value)> {
        entries(
            KeySelection(bounds: range.keyBoundsOfStrings, limit: limit, order: order), .binary())
    }

    /// The entries whose keys are in `range`; as the other `entries(in:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        in range: some TypedKeyRange<Key>, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: Key, value: Value)> {
        entries(
            KeySelection(bounds: range.keyBoundsOfStrings, limit: limit, order: order), .codable())
    }

    // MARK: Pages

    /// At most `limit` entries in the order of the keys or against it, behind `key`, as they are at one moment. All of them are in
    /// memory. The next page begins `after` the last key of this one.
    ///
    /// - Throws: `.typeMismatch` where a key is none of `Key`; as iterating over `entries(as:limit:order:)`.
    public func page<Value: BinaryCodable & Sendable>(
        after key: Key? = nil, as type: Value.Type = Value.self, limit: Int,
        order: ScanOrder = .ascending
    ) async throws -> [(key: Key, value: Value)] {
        try await page(after: key, limit, order, .binary())
    }

    /// At most `limit` entries; as the other `page(after:as:limit:order:)`.
    @_disfavoredOverload
    public func page<Value: Codable & Sendable>(
        after key: Key? = nil, as type: Value.Type = Value.self, limit: Int,
        order: ScanOrder = .ascending
    ) async throws -> [(key: Key, value: Value)] {
        try await page(after: key, limit, order, .codable())
    }

    private func page<Value>(
        after key: Key?, _ limit: Int, _ order: ScanOrder, _ form: ValueForm<Value>
    ) async throws -> [(key: Key, value: Value)] {
        let selection = KeySelection(after: key?.key, limit: limit, order: order)
        return try await entries(selection, form).all()
    }

    private func keys(_ selection: KeySelection) -> KeyValueSequence<Key> {
        let name = name
        return KeyValueSequence(
            strings.keys(selection).map { try Key.ofStored($0, in: name) })
    }

    private func entries<Value>(
        _ selection: KeySelection, _ form: ValueForm<Value>
    ) -> KeyValueSequence<(key: Key, value: Value)> {
        let name = name
        return KeyValueSequence(
            strings.entries(selection, form: form).map {
                (key: try Key.ofStored($0.key, in: name), value: $0.value)
            })
    }
}

extension KeyValueBatch {
    /// Sets the value of `key` in `dictionary`. Where `duration` is not `nil`, the value is gone once that has passed, counted from
    /// when the batch is written.
    public mutating func set<Key, Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: Key,
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>,
        expiresIn duration: Duration? = nil
    ) {
        set(value, forKey: key.key, in: dictionary.strings, expiresIn: duration)
    }

    /// Sets the value of `key` in `dictionary`; as the other `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public mutating func set<Key, Value: Codable & Sendable>(
        _ value: Value, forKey key: Key,
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>,
        expiresIn duration: Duration? = nil
    ) {
        set(value, forKey: key.key, in: dictionary.strings, expiresIn: duration)
    }

    /// Removes `key` from `dictionary`; a key without a value is no error.
    public mutating func removeValue<Key>(
        forKey key: Key, in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) {
        removeValue(forKey: key.key, in: dictionary.strings)
    }

    /// Removes what `dictionary` held before the batch; what the batch itself sets stays.
    public mutating func removeAll<Key>(
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) {
        removeAll(in: dictionary.strings)
    }
}

extension KeyValueTransaction {
    /// The value of `key` in `dictionary`, or `nil` where it has none; as `load(_:as:in:)` of its string.
    public nonisolated(nonsending) func load<Key, Value: BinaryCodable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self,
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) async throws -> Value? {
        try await load(key.key, in: dictionary.strings, form: .binary())
    }

    /// The value of `key` in `dictionary`, or `nil`; as the other `load(_:as:in:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func load<Key, Value: Codable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self,
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) async throws -> Value? {
        try await load(key.key, in: dictionary.strings, form: .codable())
    }

    /// Whether `key` has a value in `dictionary`.
    ///
    /// - Throws: what reading from the engine throws.
    public nonisolated(nonsending) func contains<Key>(
        _ key: Key, in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) async throws -> Bool {
        try await contains(key.key, in: dictionary.strings)
    }

    /// How many keys `dictionary` has. Any later change of which keys it has is a conflict.
    ///
    /// - Throws: what reading from the engine throws.
    public nonisolated(nonsending) func count<Key>(
        of dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) async throws -> Int {
        try await count(of: dictionary.strings)
    }

    /// The keys of `dictionary` in their order or against it, at most `limit`. A key that comes or goes in what was looked at is a
    /// conflict.
    ///
    /// - Throws: `.typeMismatch` where a key is none of `Key`; what reading from the engine throws.
    public nonisolated(nonsending) func keys<Key>(
        of dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) async throws -> [Key] {
        try await keys(of: dictionary.strings, KeySelection(limit: limit, order: order))
            .map { try Key.ofStored($0, in: dictionary.name) }
    }

    /// The keys of `dictionary` in `range`, as the strings go; as `keys(of:limit:order:)`.
    public nonisolated(nonsending) func keys<Key>(
        of dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>,
        in range: some TypedKeyRange<Key>, limit: Int? = nil, order: ScanOrder = .ascending
    ) async throws -> [Key] {
        let selection = KeySelection(
            bounds: range.keyBoundsOfStrings, limit: limit, order: order)
        return try await keys(of: dictionary.strings, selection)
            .map { try Key.ofStored($0, in: dictionary.name) }
    }

    /// Sets the value of `key` in `dictionary`. With `duration`, the value is gone once that has passed, counted from this call.
    /// Does not suspend.
    ///
    /// - Throws: as `set(_:forKey:in:expiresIn:)` of its string.
    public func set<Key, Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: Key,
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>,
        expiresIn duration: Duration? = nil
    ) throws {
        try set(
            value, forKey: key.key, in: dictionary.strings, expiresIn: duration, form: .binary())
    }

    /// Sets the value of `key` in `dictionary`; as the other `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public func set<Key, Value: Codable & Sendable>(
        _ value: Value, forKey key: Key,
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>,
        expiresIn duration: Duration? = nil
    ) throws {
        try set(
            value, forKey: key.key, in: dictionary.strings, expiresIn: duration, form: .codable())
    }

    /// Removes `key` from `dictionary`; a key without a value is no error. Does not suspend.
    ///
    /// - Throws: `.keyTooLarge`.
    public func removeValue<Key>(
        forKey key: Key, in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) throws {
        try removeValue(forKey: key.key, in: dictionary.strings)
    }

    /// Removes every key of `dictionary`, those that the body has set included. Does not suspend.
    ///
    /// - Throws: `.keyTooLarge` where the dictionary's name is too long.
    public func removeAll<Key>(
        in dictionary: KeyedKeyValueDictionary<NamedDictionary, Key>
    ) throws {
        try removeAll(in: dictionary.strings)
    }
}
