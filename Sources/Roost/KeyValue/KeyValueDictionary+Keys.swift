import RoostFormat

// The calls without a type, and those on typed keys.

extension KeyValueDictionary {
    /// The keys that begin with `prefix`, all of one moment, in the order of their UTF-8 bytes or against
    /// it, at most `limit`. Decodes no value.
    public func keys(
        prefix: String = "", limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeyValueSequence<String> {
        keys(KeySelection(prefix: prefix, limit: limit, order: order))
    }

    /// The keys in `range`; as `keys(prefix:limit:order:)`.
    public func keys(
        in range: some KeyRange, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeyValueSequence<String> {
        keys(KeySelection(in: range, limit: limit, order: order))
    }

    /// Removes a key; a key without a value is no error. Returns once the removal is acknowledged.
    ///
    /// - Throws: `.keyTooLarge` and `.cancelled`, and then nothing is changed; what writing throws.
    public func removeValue(forKey key: String) async throws { try await remove(key: key) }

    /// Removes every key at once: every other write falls wholly before or after it.
    ///
    /// - Throws: as `removeValue(forKey:)`.
    public func removeAll() async throws { try await removeAllKeys() }

    /// Removes every key that begins with the bytes of `prefix`, at once: all that belongs to one of many customers, for
    /// example. Every other write falls wholly before or after it. In files it reads the keys; an engine takes it as one change.
    ///
    /// - Throws: as `removeValue(forKey:)`.
    public func removeAll(prefix: String) async throws { try await removeAllKeys(prefix: prefix) }

    // MARK: Typed keys

    /// The value of `key`, or its default where it has none.
    ///
    /// - Throws: as `load(_:as:)`.
    public func load<Value>(_ key: Key<Value>) async throws -> Value {
        try await load(key, key.form)
    }

    /// Sets the value of `key`, or removes it where `value` is the `nil` of an optional key. Else as
    /// `set(_:forKey:expiresIn:)`.
    public func set<Value>(
        _ value: Value, for key: Key<Value>, expiresIn duration: Duration? = nil
    ) async throws {
        try await set(value, key, key.form, duration)
    }

    /// Removes the value of `key`, so that it has its default.
    ///
    /// - Throws: as `removeValue(forKey:)`.
    public func removeValue<Value>(for key: Key<Value>) async throws {
        try await remove(key: key.name)
    }

    /// Changes the value of `key` atomically: `body` gets the value, or the key's default. Else as
    /// `update(_:default:as:_:)`.
    @discardableResult
    public nonisolated(nonsending) func update<Value, Result: Sendable>(
        _ key: Key<Value>, _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await update(key, key.form, body)
    }

    private func load<Form: KeyForm>(
        _ key: Key<Form.Value>, _ form: Form.Type
    ) async throws -> Form.Value {
        let stored = try await load(key.name, form: ValueForm(codec: form.codec))
        return form.value(of: stored) ?? key.defaultValue
    }

    private func set<Form: KeyForm>(
        _ value: Form.Value, _ key: Key<Form.Value>, _ form: Form.Type, _ duration: Duration?
    ) async throws {
        guard let stored = form.stored(of: value) else { return try await remove(key: key.name) }
        try await set(
            stored, forKey: key.name, expiresIn: duration, form: ValueForm(codec: form.codec))
    }

    private nonisolated(nonsending) func update<Form: KeyForm, Result: Sendable>(
        _ key: Key<Form.Value>, _ form: Form.Type, _ body: (inout Form.Value) throws -> Result
    ) async throws -> Result {
        try await update(key.name, form: ValueForm(codec: form.codec)) { stored in
            var value = form.value(of: stored) ?? key.defaultValue
            let result = try body(&value)
            stored = form.stored(of: value)
            return result
        }
    }
}

extension Key {
    /// The value that stored bytes are, or the default where there are none.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`.
    package func value(
        ofStored stored: [UInt8]?, in dictionary: DictionaryName
    ) throws -> Value {
        try Self.value(ofStored: stored, self, form, dictionary)
    }

    private static func value<Form: KeyForm>(
        ofStored stored: [UInt8]?, _ key: Key<Form.Value>, _ form: Form.Type,
        _ dictionary: DictionaryName
    ) throws -> Form.Value {
        let decoded = try stored.map {
            try ValueForm(codec: form.codec).value(ofStored: $0, key: key.name, in: dictionary)
        }
        return form.value(of: decoded) ?? key.defaultValue
    }
}
