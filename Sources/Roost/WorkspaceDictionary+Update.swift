import RoostEngine

// Reads a value, lets the caller change it, and sets it if the key is still as it was read; else
// again with the newer value. Where that fails several times it is a transaction, which takes its turn.

extension WorkspaceDictionary {
    /// Changes the value of `key` atomically: no other write of the key falls between the read
    /// and the write. `body` gets the value, or `initial` where there is none, and is called
    /// again with the newer value where another writer was there first; it runs on the caller's
    /// actor and should do nothing else. Returns what `body` returned, once `durability` holds.
    ///
    /// `keepsExpiry` says whether a value that was set with `expiresIn:` or `expiresAt:` goes when it would have gone
    /// without the update, as with Redis' `KEEPTTL`; else it stays from now on, as with `set`.
    ///
    /// - Throws: what `body` throws, and then nothing is changed; as `value(forKey:as:)` and
    ///   `set`; `.cancelled` between two attempts.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: String, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await updateValue(key, .binary(), keepsExpiry, durability) { stored in
            var value = stored ?? initial()
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// Changes the value of `key` atomically; as the other `update(_:default:as:keepsExpiry:durability:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: String, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await updateValue(key, .codable(), keepsExpiry, durability) { stored in
            var value = stored ?? initial()
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// Changes, sets or removes the value of `key` atomically: `body` gets `nil` where there is
    /// none, and removes it by leaving `nil`. Else as `update(_:default:as:keepsExpiry:durability:_:)`.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: String, as type: Value.Type, keepsExpiry: Bool = false,
        durability: Durability? = nil, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await updateValue(key, .binary(), keepsExpiry, durability, body)
    }

    /// Changes, sets or removes the value of `key` atomically; as the other
    /// `update(_:as:keepsExpiry:durability:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: String, as type: Value.Type, keepsExpiry: Bool = false,
        durability: Durability? = nil, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await updateValue(key, .codable(), keepsExpiry, durability, body)
    }

    /// Writes nothing where `isSame` says of what was stored and what `body` left that they are; of references it is
    /// not asked, as `body` has changed the one that was read.
    nonisolated(nonsending) func updateValue<Value: Sendable, Result: Sendable>(
        _ key: String, _ codec: ValueCodec<Value>, _ keepsExpiry: Bool, _ durability: Durability?,
        unless isSame: (Value, Value) -> Bool = { _, _ in false },
        _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        let name = try checkedName()
        let mayBeSame = !isReference(Value.self)
        for _ in 0..<3 {
            try checkCancellation()
            let givenUpCount = workspace.engine.givenUpCount
            let entry = try readEntry(key, codec)
            var value = entry.value
            let result = try body(&value)
            if value == nil, entry.value == nil, try isInLog(key, since: givenUpCount) {
                // That there is none may be news which no durability holds for yet.
                try await workspace.engine.confirm(durability)
                return result
            }
            if mayBeSame, let value, let old = entry.value,
                keepsExpiry || entry.record.deadline == .never, isSame(old, value),
                try isInLog(key, since: givenUpCount)
            {
                try await workspace.engine.confirm(durability)
                return result
            }
            // What has expired gives nothing on.
            let deadline =
                keepsExpiry && entry.value != nil ? entry.record.deadline : .never
            let encoded = try value.map { try encode($0, codec).with(deadline: deadline) }
            let sequence = try await workspace.engine.write(
                encoded, key: key, name: name, if: entry.record, durability: durability)
            if sequence != nil { return result }
        }
        var isWritten = true
        let result = try await workspace.transaction(durability: durability) { transaction in
            let givenUpCount = workspace.engine.givenUpCount
            let (stored, deadline) = try transaction.readWithDeadline(key, self, codec)
            var value = stored
            let result = try body(&value)
            var isUnchanged = value == nil && stored == nil
            if mayBeSame, let value, let stored, keepsExpiry || deadline == .never {
                isUnchanged = isSame(stored, value)
            }
            // What is enqueued may be lost yet: then nothing would hold what this call confirms.
            isWritten = try !isUnchanged || !isInLog(key, since: givenUpCount)
            if isWritten {
                let encoded = try value.map {
                    try encode($0, codec).with(deadline: keepsExpiry ? deadline : .never)
                }
                try transaction.put(encoded, key, self)
            }
            return result
        }
        if !isWritten { try await workspace.engine.confirm(durability) }
        return result
    }
}

extension WorkspaceDictionary {
    /// Changes the value of `key` atomically: no other write of the key falls between the read
    /// and the write. `body` gets the value, or the key's default, and is called again with the
    /// newer value where another writer was there first; it runs on the caller's actor and should
    /// do nothing else. An optional key is removed by leaving `nil`. What is written stays, as
    /// with `set`, unless `keepsExpiry`. Returns what `body` returned, once `durability` holds.
    ///
    /// - Throws: what `body` throws, `.decodingFailed` and `.typeMismatch` where what is stored is
    ///   no such value, and then nothing is changed; as `set`; `.cancelled` between two attempts.
    @discardableResult
    public nonisolated(nonsending) func update<Value, Result: Sendable>(
        _ key: Key<Value>, keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await update(key, key.form, keepsExpiry, durability, unless: { _, _ in false }, body)
    }

    /// Changes the value of `key` atomically; where `body` leaves a value equal to the stored one,
    /// nothing is written. Else as the other `update(_:keepsExpiry:durability:_:)`.
    @discardableResult
    public nonisolated(nonsending) func update<Value: Equatable, Result: Sendable>(
        _ key: Key<Value>, keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await update(key, key.form, keepsExpiry, durability, unless: { $0 == $1 }, body)
    }

    private nonisolated(nonsending) func update<Form: KeyForm, Result: Sendable>(
        _ key: Key<Form.Value>, _ form: Form.Type, _ keepsExpiry: Bool, _ durability: Durability?,
        unless isSame: (Form.Value, Form.Value) -> Bool,
        _ body: (inout Form.Value) throws -> Result
    ) async throws -> Result {
        let areSame = { (old: Form.Stored, new: Form.Stored) in
            guard let old = form.value(of: old), let new = form.value(of: new) else { return false }
            return isSame(old, new)
        }
        return try await updateValue(
            key.name, form.codec, keepsExpiry, durability, unless: areSame
        ) { stored in
            var value = form.value(of: stored) ?? key.defaultValue
            let result = try body(&value)
            stored = form.stored(of: value)
            return result
        }
    }
}
