import RoostEngine
import RoostFormat

// Writing only what differs. The comparison takes part in no lock: that the value was equal at
// the moment of the read is all that writing nothing needs, and a write is an ordinary one.

extension WorkspaceDictionary {
    /// Sets the value of `key`; with `onlyIfChanged` writes nothing where an equal value is
    /// stored, and costs a read then. A stored value of another type is a change, and so is one that
    /// expires, as a `set` makes its value stay.
    ///
    /// When the call returns `durability` holds in either case.
    ///
    /// - Returns: whether it wrote.
    /// - Throws: as `set(_:forKey:durability:)`; and with `onlyIfChanged`, `.corrupt` and `.io`
    ///   where what is stored cannot be read, and `.unsupportedVersion` where a newer version
    ///   wrote it. Then nothing is changed.
    @discardableResult
    public nonisolated(nonsending) func set<Value: BinaryCodable & Equatable & Sendable>(
        _ value: Value, forKey key: String, onlyIfChanged: Bool, durability: Durability? = nil
    ) async throws -> Bool {
        try await set(value, key, .binary(), onlyIfChanged: onlyIfChanged, durability)
    }

    /// Sets the value of `key`; as the other `set(_:forKey:onlyIfChanged:durability:)`.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Equatable & Sendable>(
        _ value: Value, forKey key: String, onlyIfChanged: Bool, durability: Durability? = nil
    ) async throws -> Bool {
        try await set(value, key, .codable(), onlyIfChanged: onlyIfChanged, durability)
    }

    /// Sets the value of `key`; with `onlyIfChanged` writes nothing where an equal value is
    /// stored, as `set(_:forKey:onlyIfChanged:durability:)`. A key that has only its default has
    /// nothing stored, so setting that is a change.
    ///
    /// - Returns: whether it wrote.
    @discardableResult
    public nonisolated(nonsending) func set<Value: Equatable>(
        _ value: Value, for key: Key<Value>, onlyIfChanged: Bool, durability: Durability? = nil
    ) async throws -> Bool {
        try await set(value, key, key.form, onlyIfChanged: onlyIfChanged, durability)
    }
}

extension WorkspaceDictionary {
    /// Sets the value of `key`; writes nothing where an equal value is stored that does not expire.
    /// When the call returns `durability` holds in either case. Else as the other
    /// `set(_:for:durability:)`.
    public nonisolated(nonsending) func set<Value: Equatable>(
        _ value: Value, for key: Key<Value>, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, key.form)
        let givenUpCount = workspace.engine.givenUpCount
        if isReadable(value, encoded, key), try isInLog(key.name, since: givenUpCount) {
            try await workspace.engine.confirm(durability)
        } else {
            try await write(encoded, key.name, durability)
        }
    }

    /// Sets the value of `key` without waiting; writes nothing where an equal value is stored that
    /// does not expire. Else as the other `enqueue(_:for:)`.
    @discardableResult
    public func enqueue<Value: Equatable>(
        _ value: Value, for key: Key<Value>
    ) -> Result<Void, RoostError> {
        enqueue(value, key, key.form) { isReadable(value, $0, key) }
    }

    /// Whether a value equal to `value` is there to be read. Setting needs nothing of what was there
    /// before, so what fails to be read is another value.
    private func isReadable<Value: Equatable>(
        _ value: Value, _ encoded: EncodedValue?, _ key: Key<Value>
    ) -> Bool {
        do { return try isStored(value, encoded, key, key.form) } catch { return false }
    }
}

extension WorkspaceDictionary {
    private nonisolated(nonsending) func set<Value: Equatable>(
        _ value: Value, _ key: String, _ codec: @autoclosure () -> ValueCodec<Value>,
        onlyIfChanged: Bool, _ durability: Durability?
    ) async throws -> Bool {
        try checkCancellation()
        let encoded = try encode(value, codec())
        let givenUpCount = workspace.engine.givenUpCount
        if onlyIfChanged, try isStored(encoded, key, codec(), isEqual: { $0 == value }),
            try isInLog(key, since: givenUpCount)
        {
            try await workspace.engine.confirm(durability)
            return false
        }
        try await write(encoded, key, durability)
        return true
    }

    private nonisolated(nonsending) func set<Form: KeyForm>(
        _ value: Form.Value, _ key: Key<Form.Value>, _ form: Form.Type, onlyIfChanged: Bool,
        _ durability: Durability?
    ) async throws -> Bool where Form.Value: Equatable {
        try checkCancellation()
        let encoded = try encode(value, form)
        let givenUpCount = workspace.engine.givenUpCount
        if onlyIfChanged, try isStored(value, encoded, key, form),
            try isInLog(key.name, since: givenUpCount)
        {
            try await workspace.engine.confirm(durability)
            return false
        }
        try await write(encoded, key.name, durability)
        return true
    }

    /// Whether what a read before this showed of `key` is committed: of an enqueued value nobody can
    /// say yet that it will be. `givenUpCount` is that of the engine before the read, as an enqueued value that the
    /// read showed may be given up by now.
    func isInLog(_ key: String, since givenUpCount: Int) throws -> Bool {
        try !workspace.engine.mayBeEnqueued(key, in: checkedName(), since: givenUpCount)
    }

    private func isStored<Form: KeyForm>(
        _ value: Form.Value, _ encoded: EncodedValue?, _ key: Key<Form.Value>, _ form: Form.Type
    ) throws -> Bool where Form.Value: Equatable {
        guard let encoded else { return try !contains(key.name) }
        return try isStored(
            encoded, key.name, form.codec, isEqual: { form.value(of: $0) == value })
    }

    /// Whether what is stored under `key` is equal to what `encoded` would store. Equal bytes are
    /// equal values; others are decoded and asked.
    private func isStored<Stored>(
        _ encoded: EncodedValue, _ key: String, _ codec: @autoclosure () -> ValueCodec<Stored>,
        isEqual: (Stored) -> Bool
    ) throws -> Bool {
        let name = try checkedName()
        // An equal value that expires is another: writing it makes it stay.
        guard let found = try workspace.engine.find(key, name: name), found.deadline == .never
        else {
            return false
        }
        if found.resident == nil,
            withExtendedLifetime(found.owner, { encoded.isSame(as: found.bytes) })
        {
            try found.checkRead()
            return true
        }
        do {
            let value = try codec().decode(
                found, key: key, name: name, engine: workspace.engine,
                migrations: workspace.migrations)
            return value.map(isEqual) ?? false
        } catch let error as RoostError
            where error.code == .decodingFailed || error.code == .typeMismatch
        {
            return false
        }
    }
}
