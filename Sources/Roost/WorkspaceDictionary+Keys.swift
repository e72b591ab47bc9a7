import RoostEngine

// The calls on typed keys: each does what the call on the key's name does.

extension WorkspaceDictionary {
    // MARK: Reading

    /// The value of `key`, or its default where it has none. Does not suspend.
    ///
    /// - Throws: `.decodingFailed`, naming the key, where what is stored is no such value, and
    ///   `.typeMismatch` where it is of another kind, and then the bytes stay as they are;
    ///   `.corrupt` with file and offset, `.closed`.
    public subscript<Value>(key: Key<Value>) -> Value {
        get throws { try read(key, key.form) }
    }

    /// As `self[key]`; tasks that load the same cold key at once share one load.
    public func load<Value>(_ key: Key<Value>) async throws -> Value {
        try await loadShared(key, key.form)
    }

    /// Whether `key` has a value of its own, rather than its default. Decodes nothing.
    ///
    /// - Throws: as `contains(_:)` of its name.
    public func contains<Value>(_ key: Key<Value>) throws -> Bool { try contains(key.name) }

    // MARK: Writing

    /// Sets the value of `key`, or removes it where `value` is the `nil` of an optional key; as
    /// durable, and with the errors, of `set(_:forKey:durability:)`.
    public nonisolated(nonsending) func set<Value>(
        _ value: Value, for key: Key<Value>, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, key.form)
        try await write(encoded, key.name, durability)
    }

    /// Removes the value of `key`, so that it has its default; as `removeValue(forKey:)`.
    public nonisolated(nonsending) func removeValue<Value>(
        for key: Key<Value>, durability: Durability? = nil
    ) async throws {
        try await removeValue(forKey: key.name, durability: durability)
    }
}

extension WriteBatch {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is the `nil` of an
    /// optional key.
    public mutating func set<Value>(
        _ value: Value, for key: Key<Value>, in dictionary: WorkspaceDictionary
    ) {
        check(dictionary)
        attempt { encoded in
            let name = try dictionary.checkedName()
            if let value = try dictionary.encode(value, key.form) {
                encoded.put(value, forKey: key.name, in: name)
            } else {
                encoded.remove(key.name, in: name)
            }
        }
    }

    /// Removes the value of `key` from `dictionary`.
    public mutating func removeValue<Value>(
        for key: Key<Value>, in dictionary: WorkspaceDictionary
    ) {
        removeValue(forKey: key.name, in: dictionary)
    }
}

extension WorkspaceDictionary {
    private func read<Form: KeyForm>(_ key: Key<Form.Value>, _ form: Form.Type) throws -> Form.Value
    {
        form.value(of: try read(key.name, form.codec)) ?? key.defaultValue
    }

    private func loadShared<Form: KeyForm>(
        _ key: Key<Form.Value>, _ form: Form.Type
    ) async throws -> Form.Value {
        form.value(of: try await loadShared(key.name, form.codec)) ?? key.defaultValue
    }

    /// `nil` where the key is to have no value.
    func encode<Form: KeyForm>(_ value: Form.Value, _ form: Form.Type) throws -> EncodedValue? {
        try form.stored(of: value).map { try encode($0, form.codec) }
    }
}
