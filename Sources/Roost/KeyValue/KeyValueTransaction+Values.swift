// Each call stands twice, for the two kinds of coding, as in `WorkspaceDictionary+Values`.

extension KeyValueTransaction {
    /// The value of `key` in `dictionary`, or `nil` where it has none, which is remembered as well as a
    /// value is.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`; what reading from the engine throws.
    public nonisolated(nonsending) func load<Value: BinaryCodable & Sendable>(
        _ key: String, as type: Value.Type = Value.self, in dictionary: NamedDictionary
    ) async throws -> Value? {
        try await load(key, in: dictionary, form: .binary())
    }

    /// The value of `key` in `dictionary`, or `nil`; as the other `load(_:as:in:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func load<Value: Codable & Sendable>(
        _ key: String, as type: Value.Type = Value.self, in dictionary: NamedDictionary
    ) async throws -> Value? {
        try await load(key, in: dictionary, form: .codable())
    }

    /// The value of `key` in `dictionary`, or its default where it has none.
    ///
    /// - Throws: as `load(_:as:in:)`.
    public nonisolated(nonsending) func load<Value>(
        _ key: Key<Value>, in dictionary: NamedDictionary
    ) async throws -> Value {
        try await load(key, key.form, dictionary)
    }

    /// The keys of `dictionary` that begin with `prefix`, in the order of their UTF-8 bytes or against
    /// it, at most `limit`.
    ///
    /// - Throws: what reading from the engine throws.
    public nonisolated(nonsending) func keys(
        of dictionary: NamedDictionary, prefix: String = "", limit: Int? = nil,
        order: ScanOrder = .ascending
    ) async throws -> [String] {
        try await keys(of: dictionary, KeySelection(prefix: prefix, limit: limit, order: order))
    }

    /// Sets the value of `key` in `dictionary`. With `duration`, the value is gone once that has passed, counted
    /// from this call.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`. Where all changes are more than an engine takes at
    ///   once, the transaction throws `.tooLarge` when it ends.
    public func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) throws {
        try set(value, forKey: key, in: dictionary, expiresIn: duration, form: .binary())
    }

    /// Sets the value of `key` in `dictionary`; as the other `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) throws {
        try set(value, forKey: key, in: dictionary, expiresIn: duration, form: .codable())
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is the `nil` of an optional
    /// key. Else as `set(_:forKey:in:expiresIn:)`.
    public func set<Value>(
        _ value: Value, for key: Key<Value>, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) throws {
        try set(value, key, key.form, dictionary, duration)
    }

    private nonisolated(nonsending) func load<Form: KeyForm>(
        _ key: Key<Form.Value>, _ form: Form.Type, _ dictionary: NamedDictionary
    ) async throws -> Form.Value {
        let stored = try await load(key.name, in: dictionary, form: ValueForm(codec: form.codec))
        return form.value(of: stored) ?? key.defaultValue
    }

    private func set<Form: KeyForm>(
        _ value: Form.Value, _ key: Key<Form.Value>, _ form: Form.Type,
        _ dictionary: NamedDictionary, _ duration: Duration?
    ) throws {
        guard let stored = form.stored(of: value) else {
            return try removeValue(forKey: key.name, in: dictionary)
        }
        try set(
            stored, forKey: key.name, in: dictionary, expiresIn: duration,
            form: ValueForm(codec: form.codec))
    }
}
