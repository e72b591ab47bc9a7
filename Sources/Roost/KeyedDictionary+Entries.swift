import RoostCoding
import RoostIO

// Values with a default, values with their versions, and Swift's dictionaries as a whole: each call does what the one of
// `strings` does.

extension KeyedDictionary {
    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`.
    public subscript<Value: BinaryCodable & Sendable>(
        key: Key, default value: @autoclosure () -> Value
    ) -> Value {
        get throws { try strings[key.key, default: value()] }
    }

    /// The value of `key`, or `value` where it has none. Stated for `Double` as that of a `WorkspaceDictionary` is.
    public subscript(key: Key, default value: @autoclosure () -> Double) -> Double {
        get throws { try strings[key.key, default: value()] }
    }

    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`.
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(
        key: Key, default value: @autoclosure () -> Value
    ) -> Value {
        get throws { try strings[key.key, default: value()] }
    }

    // MARK: Compare and set

    /// The value of `key` and its version, for `replace(_:with:durability:)`; as `entry(forKey:as:)` of a
    /// `WorkspaceDictionary`. The entry has the key's string.
    public func entry<Value: BinaryCodable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self
    ) throws -> Entry<Value> {
        try strings.entry(forKey: key.key, as: type)
    }

    /// The value of `key` and its version; as the other `entry(forKey:as:)`.
    @_disfavoredOverload
    public func entry<Value: Codable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self
    ) throws -> Entry<Value> {
        try strings.entry(forKey: key.key, as: type)
    }

    /// Sets the value of the entry's key if it still has the entry's version; as `replace(_:with:durability:)` of a
    /// `WorkspaceDictionary`.
    @discardableResult
    public nonisolated(nonsending) func replace<Value: BinaryCodable & Sendable>(
        _ entry: Entry<Value>, with value: Value, durability: Durability? = nil
    ) async throws -> Entry<Value> {
        try await strings.replace(entry, with: value, durability: durability)
    }

    /// Sets the value of the entry's key if it still has the entry's version; as the other
    /// `replace(_:with:durability:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func replace<Value: Codable & Sendable>(
        _ entry: Entry<Value>, with value: Value, durability: Durability? = nil
    ) async throws -> Entry<Value> {
        try await strings.replace(entry, with: value, durability: durability)
    }

    /// Removes the entry's key if it still has the entry's version; as ``WorkspaceDictionary/remove(_:durability:)``.
    public nonisolated(nonsending) func remove<Value>(
        _ entry: Entry<Value>, durability: Durability? = nil
    ) async throws {
        try await strings.remove(entry, durability: durability)
    }

    // MARK: Many at once

    /// Sets every entry of a Swift dictionary as one batch. As `setAll(_:durability:)` of pairs.
    public nonisolated(nonsending) func setAll<Value: BinaryCodable & Sendable>(
        _ values: [Key: Value], durability: Durability? = nil
    ) async throws {
        try await setAll(values.lazy.map { ($0.key, $0.value) }, durability: durability)
    }

    /// Sets every entry of a Swift dictionary as one batch. As the other `setAll(_:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func setAll<Value: Codable & Sendable>(
        _ values: [Key: Value], durability: Durability? = nil
    ) async throws {
        try await setAll(values.lazy.map { ($0.key, $0.value) }, durability: durability)
    }
}

extension WriteBatch {
    /// Removes what `dictionary` held before the batch; what the batch itself sets stays.
    public mutating func removeAll<Key>(in dictionary: KeyedDictionary<Key>) {
        removeAll(in: dictionary.strings)
    }
}

extension Transaction {
    /// How many keys `dictionary` has. Any later change of which keys it has is a conflict.
    ///
    /// - Throws: as `contains(_:in:)`.
    public mutating func count<Key>(of dictionary: KeyedDictionary<Key>) throws -> Int {
        try count(of: dictionary.strings)
    }

    /// Removes every key of `dictionary`, those that the body has set included.
    ///
    /// - Throws: as `removeValue(forKey:in:)`.
    public mutating func removeAll<Key>(in dictionary: KeyedDictionary<Key>) throws {
        try removeAll(in: dictionary.strings)
    }
}

extension ReadView {
    /// How many keys `dictionary` had; costs as ``WorkspaceDictionary/count``.
    ///
    /// - Throws: as `contains(_:in:)`.
    public func count<Key>(of dictionary: KeyedDictionary<Key>) throws -> Int {
        try count(of: dictionary.strings)
    }
}
