import RoostCoding
import RoostIO

/// A dictionary of any ``KeyValueWorkspace`` whose keys are values of one type:
/// `workspace.dictionary("users", keys: UUID.self)`.
///
/// Each call does what the one of ``KeyValueDictionary`` on the key's string does, which the type says (see
/// ``KeyRepresentable``). `strings` has the calls that are not here. Entries and keys come in the order of these strings, which is
/// that of integers, negative ones included, and of the bytes of UUIDs.
///
/// A ``Workspace`` has a ``KeyedDictionary`` by the same call, with its own synchronous reads; this is what code gets that is written
/// for `some KeyValueWorkspace`. What one has written the other reads.
public struct KeyedKeyValueDictionary<Strings: KeyValueDictionary, Key: KeyRepresentable>: Sendable
{
    /// The same dictionary, with the keys as they are stored.
    public let strings: Strings

    init(strings: Strings) { self.strings = strings }

    /// What it is called.
    public var name: String { strings.name }

    // MARK: Reading

    /// The value of `key`, or `nil` where it has none.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`; what reading from the engine throws.
    public func load<Value: BinaryCodable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await strings.load(key.key, form: .binary())
    }

    /// The value of `key`, or `nil`; as the other `load(_:as:)`.
    @_disfavoredOverload
    public func load<Value: Codable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await strings.load(key.key, form: .codable())
    }

    /// The value of `key` and its version, for `replace(_:with:expiresIn:)`.
    ///
    /// - Throws: as `load(_:as:)`.
    public func loadEntry<Value: BinaryCodable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self
    ) async throws -> Entry<Value> {
        try await strings.loadEntry(key.key, form: .binary())
    }

    /// The value of `key` and its version; as the other `loadEntry(_:as:)`.
    @_disfavoredOverload
    public func loadEntry<Value: Codable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self
    ) async throws -> Entry<Value> {
        try await strings.loadEntry(key.key, form: .codable())
    }

    /// Whether `key` has a value. Decodes nothing.
    ///
    /// - Throws: what reading from the engine throws.
    public func contains(_ key: Key) async throws -> Bool { try await strings.contains(key.key) }

    /// How many keys there are at one moment.
    ///
    /// - Throws: what reading from the engine throws.
    public var count: Int { get async throws { try await strings.count } }

    /// How long the value of `key` is there yet; `nil` where it has no value, or one that stays.
    ///
    /// - Throws: what reading from the engine throws.
    public func remainingTime(forKey key: Key) async throws -> Duration? {
        try await strings.remainingTime(forKey: key.key)
    }

    // MARK: Writing

    /// Sets the value of `key`; returns once the write is acknowledged. With `duration`, the value is gone once that has passed.
    ///
    /// - Throws: as `set(_:forKey:expiresIn:)` of a ``KeyValueDictionary``.
    public func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: Key, expiresIn duration: Duration? = nil
    ) async throws {
        try await strings.set(value, forKey: key.key, expiresIn: duration, form: .binary())
    }

    /// Sets the value of `key`; as the other `set(_:forKey:expiresIn:)`.
    @_disfavoredOverload
    public func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: Key, expiresIn duration: Duration? = nil
    ) async throws {
        try await strings.set(value, forKey: key.key, expiresIn: duration, form: .codable())
    }

    /// Sets many values at once: no reader sees part of them. Of several for one key the last counts.
    ///
    /// - Throws: as `setAll(_:)` of a ``KeyValueDictionary``, and then none is set.
    public func setAll<Value: BinaryCodable & Sendable>(
        _ pairs: some Sequence<(Key, Value)>
    ) async throws {
        try await strings.setAll(pairs.map { ($0.key, $1) }, form: .binary())
    }

    /// Sets many values at once; as the other `setAll(_:)`.
    @_disfavoredOverload
    public func setAll<Value: Codable & Sendable>(
        _ pairs: some Sequence<(Key, Value)>
    ) async throws {
        try await strings.setAll(pairs.map { ($0.key, $1) }, form: .codable())
    }

    /// Sets every entry of a Swift dictionary at once. As `setAll(_:)` of pairs.
    public func setAll<Value: BinaryCodable & Sendable>(_ values: [Key: Value]) async throws {
        try await strings.setAll(values.map { ($0.key.key, $0.value) }, form: .binary())
    }

    /// Sets every entry of a Swift dictionary at once. As the other `setAll(_:)`.
    @_disfavoredOverload
    public func setAll<Value: Codable & Sendable>(_ values: [Key: Value]) async throws {
        try await strings.setAll(values.map { ($0.key.key, $0.value) }, form: .codable())
    }

    /// Sets the value of the entry's key if it still has the entry's version; returns the new entry. With `duration`, the value
    /// is gone once that has passed.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first; else as `set`.
    @discardableResult
    public func replace<Value: BinaryCodable & Sendable>(
        _ entry: Entry<Value>, with value: Value, expiresIn duration: Duration? = nil
    ) async throws -> Entry<Value> {
        try await strings.replace(entry, with: value, expiresIn: duration, form: .binary())
    }

    /// Sets the value of the entry's key if it still has the entry's version; as the other `replace(_:with:expiresIn:)`.
    @_disfavoredOverload
    @discardableResult
    public func replace<Value: Codable & Sendable>(
        _ entry: Entry<Value>, with value: Value, expiresIn duration: Duration? = nil
    ) async throws -> Entry<Value> {
        try await strings.replace(entry, with: value, expiresIn: duration, form: .codable())
    }

    /// Changes the value of `key` atomically: `body` gets the value, or `initial` where there is none. Else as
    /// `update(_:default:as:_:)` of a ``KeyValueDictionary``.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: Key, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await strings.update(key.key, default: initial(), as: type, body)
    }

    /// Changes the value of `key` atomically; as the other `update(_:default:as:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: Key, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await strings.update(key.key, default: initial(), as: type, body)
    }

    /// Changes, sets or removes the value of `key` atomically: `body` gets `nil` where there is none, and removes it by leaving
    /// `nil`. Else as `update(_:as:_:)` of a ``KeyValueDictionary``.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: Key, as type: Value.Type, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await strings.update(key.key, form: .binary(), body)
    }

    /// Changes, sets or removes the value of `key` atomically; as the other `update(_:as:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: Key, as type: Value.Type, _ body: (inout Value?) throws -> Result
    ) async throws -> Result {
        try await strings.update(key.key, form: .codable(), body)
    }

    /// Removes a key; a key without a value is no error. Returns once the removal is acknowledged.
    ///
    /// - Throws: as `removeValue(forKey:)` of a ``KeyValueDictionary``.
    public func removeValue(forKey key: Key) async throws { try await strings.remove(key: key.key) }

    /// Removes every key at once: every other write falls wholly before or after it.
    ///
    /// - Throws: as `removeValue(forKey:)`.
    public func removeAll() async throws { try await strings.removeAllKeys() }
}

extension KeyValueWorkspace {
    /// The dictionary called `name`, its keys as values of one type. Costs nothing and touches nothing. A ``Workspace`` has a call of
    /// this name that it prefers.
    @_disfavoredOverload
    public func dictionary<Key: KeyRepresentable>(
        _ name: String, keys: Key.Type
    ) -> KeyedKeyValueDictionary<NamedDictionary, Key> {
        KeyedKeyValueDictionary(strings: dictionary(name))
    }
}

extension KeyRepresentable {
    /// The value that a dictionary's key is of.
    ///
    /// - Throws: `.typeMismatch` where it is none's.
    static func ofStored(_ key: String, in dictionary: String) throws -> Self {
        guard let value = Self(key: key) else { throw notStored(key, in: dictionary) }
        return value
    }

    /// That a dictionary's key is of no value.
    static func notStored(_ key: String, in dictionary: String) -> RoostError {
        RoostError(
            .typeMismatch,
            "\"\(key)\" in \"\(dictionary)\" is no key of type \(Self.self): was it set as a string, or with keys of another type?"
        )
    }
}
