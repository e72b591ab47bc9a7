import RoostEngine

// Typed keys in read views and transactions: each call does what the one on the key's name does.

extension ReadView {
    /// The value that `key` had in `dictionary`, or its default.
    ///
    /// - Throws: as ``WorkspaceDictionary/subscript(_:)``; `.closed` where the view or the
    ///   workspace is.
    public func value<Value>(
        for key: Key<Value>, in dictionary: WorkspaceDictionary
    ) throws -> Value {
        try read(key, dictionary, key.form)
    }

    private func read<Form: KeyForm>(
        _ key: Key<Form.Value>, _ dictionary: WorkspaceDictionary, _ form: Form.Type
    ) throws -> Form.Value {
        form.value(of: try read(key.name, dictionary, form.codec)) ?? key.defaultValue
    }
}

extension Transaction {
    /// The value of `key` in `dictionary`, or its default.
    ///
    /// - Throws: as ``WorkspaceDictionary/subscript(_:)``.
    public mutating func value<Value>(
        for key: Key<Value>, in dictionary: WorkspaceDictionary
    ) throws -> Value {
        try read(key, dictionary, key.form)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is the `nil` of an
    /// optional key.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`.
    public mutating func set<Value>(
        _ value: Value, for key: Key<Value>, in dictionary: WorkspaceDictionary
    ) throws {
        try put(try dictionary.encode(value, key.form), key.name, dictionary)
    }

    /// Removes the value of `key` from `dictionary`, so that it has its default.
    ///
    /// - Throws: as `removeValue(forKey:in:)`.
    public mutating func removeValue<Value>(
        for key: Key<Value>, in dictionary: WorkspaceDictionary
    ) throws {
        try removeValue(forKey: key.name, in: dictionary)
    }

    private mutating func read<Form: KeyForm>(
        _ key: Key<Form.Value>, _ dictionary: WorkspaceDictionary, _ form: Form.Type
    ) throws -> Form.Value {
        form.value(of: try read(key.name, dictionary, form.codec)) ?? key.defaultValue
    }
}

extension Transaction {
    /// Sets the value of `key` in `dictionary`, which is gone once `duration` has passed from
    /// now; as `set(_:forKey:expiresIn:durability:)`.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) throws {
        let deadline = dictionary.workspace.engine.clock.deadline(after: duration)
        try put(try dictionary.encode(value, .binary()).with(deadline: deadline), key, dictionary)
    }

    /// Sets the value of `key` in `dictionary`; as the other `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) throws {
        let deadline = dictionary.workspace.engine.clock.deadline(after: duration)
        try put(try dictionary.encode(value, .codable()).with(deadline: deadline), key, dictionary)
    }
}
