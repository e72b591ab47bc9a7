import RoostCoding
import RoostIO

/// A dictionary whose keys are values of one type: `workspace.dictionary("users", keys: UUID.self)`.
///
/// Each call does what the one of ``WorkspaceDictionary`` on the key's string does, which the
/// type says (see ``KeyRepresentable``). `strings` has the calls that are not here.
public struct KeyedDictionary<Key: KeyRepresentable>: Sendable {
    /// The same dictionary, with the keys as they are stored.
    public let strings: WorkspaceDictionary

    // MARK: Reading

    /// The value of `key`, or `nil`; as `value(forKey:as:)`.
    public func value<Value: BinaryCodable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self
    ) throws -> Value? {
        try strings.read(key.key, .binary())
    }

    /// The value of `key`, or `nil`; as the other `value(forKey:as:)`.
    @_disfavoredOverload
    public func value<Value: Codable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self
    ) throws -> Value? {
        try strings.read(key.key, .codable())
    }

    /// The value of `key`, or `nil`; as `value(forKey:as:)`.
    public subscript<Value: BinaryCodable & Sendable>(key: Key, as type: Value.Type) -> Value? {
        get throws { try value(forKey: key) }
    }

    /// The value of `key`, or `nil`; as `value(forKey:as:)`.
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(key: Key, as type: Value.Type) -> Value? {
        get throws { try value(forKey: key) }
    }

    /// Whether `key` has a value. Decodes nothing.
    public func contains(_ key: Key) throws -> Bool { try strings.contains(key.key) }

    /// How many keys there are; costs as ``WorkspaceDictionary/count``.
    public var count: Int { get throws { try strings.count } }

    /// All keys at one moment, in their order. Holds all of them in memory.
    ///
    /// - Throws: `.typeMismatch` where there is a key that is none of `Key`.
    public var keys: [Key] {
        get throws {
            try strings.keys.map { string in
                guard let key = Key(key: string) else {
                    throw RoostError(
                        .typeMismatch,
                        "\"\(string)\" in \"\(strings.name)\" is not the key of a \(Key.self)")
                }
                return key
            }
        }
    }

    // MARK: Writing

    /// Sets the value of `key`; as `set(_:forKey:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: Key, durability: Durability? = nil
    ) async throws {
        try await strings.set(value, forKey: key.key, durability: durability)
    }

    /// Sets the value of `key`; as the other `set(_:forKey:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: Key, durability: Durability? = nil
    ) async throws {
        try await strings.set(value, forKey: key.key, durability: durability)
    }

    /// Removes a key; a key without a value is no error.
    public nonisolated(nonsending) func removeValue(
        forKey key: Key, durability: Durability? = nil
    ) async throws {
        try await strings.removeValue(forKey: key.key, durability: durability)
    }
}

extension Workspace {
    /// The dictionary called `name`, its keys as values of one type.
    public func dictionary<Key: KeyRepresentable>(
        _ name: String, keys: Key.Type
    ) -> KeyedDictionary<Key> {
        KeyedDictionary(strings: dictionary(name))
    }
}
