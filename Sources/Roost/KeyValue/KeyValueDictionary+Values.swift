// What users of any dictionary write: each call stands twice, for the two kinds of coding, as in
// `WorkspaceDictionary+Values`. A dictionary of a `Workspace` has calls of these names that it prefers.

extension KeyValueDictionary {
    /// The value of `key`, or `nil` where it has none.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`; what reading from the engine throws.
    public func load<Value: BinaryCodable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await load(key, form: .binary())
    }

    /// The value of `key`, or `nil`; as the other `load(_:as:)`.
    @_disfavoredOverload
    public func load<Value: Codable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await load(key, form: .codable())
    }

    /// The value of `key` and its version, for `replace(_:with:)`.
    ///
    /// - Throws: as `load(_:as:)`.
    public func loadEntry<Value: BinaryCodable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Entry<Value> {
        try await loadEntry(key, form: .binary())
    }

    /// The value of `key` and its version; as the other `loadEntry(_:as:)`.
    @_disfavoredOverload
    public func loadEntry<Value: Codable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Entry<Value> {
        try await loadEntry(key, form: .codable())
    }

    /// Sets the value of `key`; returns once the write is acknowledged. With `duration`, the value is gone once
    /// that has passed.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`, `.tooLarge`, `.cancelled`, and then nothing is
    ///   changed; what writing throws.
    public func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, expiresIn duration: Duration? = nil
    ) async throws {
        try await set(value, forKey: key, expiresIn: duration, form: .binary())
    }

    /// Sets the value of `key`; as the other `set(_:forKey:expiresIn:)`.
    @_disfavoredOverload
    public func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, expiresIn duration: Duration? = nil
    ) async throws {
        try await set(value, forKey: key, expiresIn: duration, form: .codable())
    }

    /// Sets many values at once: no reader sees part of them. Of several for one key the last counts.
    ///
    /// - Throws: as `set(_:forKey:expiresIn:)`, for any of them, and `.tooLarge` or `.valueTooLarge` where all
    ///   of them are more than is taken at once. Then none is set.
    public func setAll<Value: BinaryCodable & Sendable>(
        _ pairs: some Sequence<(String, Value)>
    ) async throws {
        try await setAll(Array(pairs), form: .binary())
    }

    /// Sets many values at once; as the other `setAll(_:)`.
    @_disfavoredOverload
    public func setAll<Value: Codable & Sendable>(
        _ pairs: some Sequence<(String, Value)>
    ) async throws {
        try await setAll(Array(pairs), form: .codable())
    }

    /// Sets every entry of a Swift dictionary at once. As `setAll(_:)` of pairs.
    public func setAll<Value: BinaryCodable & Sendable>(_ values: [String: Value]) async throws {
        try await setAll(values.map { ($0.key, $0.value) }, form: .binary())
    }

    /// Sets every entry of a Swift dictionary at once. As the other `setAll(_:)`.
    @_disfavoredOverload
    public func setAll<Value: Codable & Sendable>(_ values: [String: Value]) async throws {
        try await setAll(values.map { ($0.key, $0.value) }, form: .codable())
    }

    /// Sets the value of the entry's key if it still has the entry's version; returns the new entry. With
    /// `duration`, the value is gone once that has passed: a lease that its holder renews, whose version is a
    /// fencing token.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first; else as `set`.
    @discardableResult
    public func replace<Value: BinaryCodable & Sendable>(
        _ entry: Entry<Value>, with value: Value, expiresIn duration: Duration? = nil
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, expiresIn: duration, form: .binary())
    }

    /// Sets the value of the entry's key if it still has the entry's version; as the other
    /// `replace(_:with:expiresIn:)`.
    @_disfavoredOverload
    @discardableResult
    public func replace<Value: Codable & Sendable>(
        _ entry: Entry<Value>, with value: Value, expiresIn duration: Duration? = nil
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, expiresIn: duration, form: .codable())
    }

    /// Changes the value of `key` atomically: no other write of the key falls between the read and the write.
    /// `body` gets the value, or `initial` where there is none, and is called again with the newer value where
    /// another writer was there first; it runs on the caller's actor and should do nothing else.
    ///
    /// - Throws: what `body` throws, and then nothing is changed; as `load(_:as:)` and
    ///   `set(_:forKey:expiresIn:)`; `.conflict` where other writers were first for too long.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: String, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await update(key, form: .binary()) { stored in
            var value = stored ?? initial()
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// Changes the value of `key` atomically; as the other `update(_:default:as:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: String, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await update(key, form: .codable()) { stored in
            var value = stored ?? initial()
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// Changes, sets or removes the value of `key` atomically: `body` gets `nil` where there is none, and removes
    /// it by leaving `nil`. Else as `update(_:default:as:_:)`.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: String, as type: Value.Type, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await update(key, form: .binary(), body)
    }

    /// Changes, sets or removes the value of `key` atomically; as the other `update(_:as:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: String, as type: Value.Type, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await update(key, form: .codable(), body)
    }

    /// The entries whose keys begin with `prefix`, all of one moment, in the order of their UTF-8 bytes or against
    /// it, at most `limit`.
    public func entries<Value: BinaryCodable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: String, value: Value)> {
        entries(KeySelection(prefix: prefix, limit: limit, order: order), form: .binary())
    }

    /// The entries whose keys begin with `prefix`; as the other `entries(prefix:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: String, value: Value)> {
        entries(KeySelection(prefix: prefix, limit: limit, order: order), form: .codable())
    }

    /// The entries whose keys are in `range`; as `entries(prefix:as:limit:order:)`.
    public func entries<Value: BinaryCodable & Sendable>(
        in range: some KeyRange, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: String, value: Value)> {
        entries(KeySelection(in: range, limit: limit, order: order), form: .binary())
    }

    /// The entries whose keys are in `range`; as `entries(prefix:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        in range: some KeyRange, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> KeyValueSequence<(key: String, value: Value)> {
        entries(KeySelection(in: range, limit: limit, order: order), form: .codable())
    }

    /// Every change of the keys that begin with `prefix`, once and in the order of their commits; from the next on, or
    /// from those after the version `since` on.
    public func changes<Value: BinaryCodable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, since version: UInt64? = nil
    ) -> KeyValueChanges<Value> {
        changes(KeySelection(prefix: prefix), form: .binary(), since: version)
    }

    /// Every change of the keys with a prefix; as the other `changes(prefix:as:since:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, since version: UInt64? = nil
    ) -> KeyValueChanges<Value> {
        changes(KeySelection(prefix: prefix), form: .codable(), since: version)
    }

    /// Every change of `key`; as `changes(prefix:as:since:)`.
    public func changes<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, since version: UInt64? = nil
    ) -> KeyValueChanges<Value> {
        changes(KeySelection(in: key...key), form: .binary(), since: version)
    }

    /// Every change of `key`; as `changes(prefix:as:since:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, since version: UInt64? = nil
    ) -> KeyValueChanges<Value> {
        changes(KeySelection(in: key...key), form: .codable(), since: version)
    }
}
