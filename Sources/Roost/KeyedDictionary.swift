import Foundation
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

    /// Whether `key` has a value. Decodes nothing. As `contains(_:)` of a `WorkspaceDictionary`.
    public func contains(_ key: Key) throws -> Bool { try strings.contains(key.key) }

    /// How many keys there are; costs as ``WorkspaceDictionary/count``.
    public var count: Int { get throws { try strings.count } }

    /// All keys at one moment, in their order. Holds all of them in memory.
    ///
    /// - Throws: `.typeMismatch` where there is a key that is none of `Key`.
    public var keys: [Key] { get throws { try strings.keys.map { try self.key($0) } } }

    /// As `value(forKey:as:)`; tasks that load the same cold key at once share one load.
    public func load<Value: BinaryCodable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await strings.load(key.key, as: type)
    }

    /// As `value(forKey:as:)`; tasks that load the same cold key at once share one load.
    @_disfavoredOverload
    public func load<Value: Codable & Sendable>(
        _ key: Key, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await strings.load(key.key, as: type)
    }

    /// When the value of `key` expires; `nil` where it does not, or has no value. As `expiration(forKey:)` of a
    /// `WorkspaceDictionary`.
    public func expiration(forKey key: Key) throws -> Date? {
        try strings.expiration(forKey: key.key)
    }

    func key(_ string: String) throws -> Key { try Key.ofStored(string, in: strings.name) }

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

    /// Sets the value of `key`, or removes it where `value` is `nil`. Else as the call whose value is not
    /// optional.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: Key, durability: Durability? = nil
    ) async throws {
        try await strings.set(value, forKey: key.key, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`. Else as the call whose value is not
    /// optional.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: Key, durability: Durability? = nil
    ) async throws {
        try await strings.set(value, forKey: key.key, durability: durability)
    }

    /// Sets the value of `key`, which is gone once `duration` has passed; as
    /// `set(_:forKey:expiresIn:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: Key, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await strings.set(
            value, forKey: key.key, expiresIn: duration, durability: durability)
    }

    /// Sets the value of `key`; as the other `set(_:forKey:expiresIn:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: Key, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await strings.set(
            value, forKey: key.key, expiresIn: duration, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as `set(_:forKey:expiresIn:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: Key, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await strings.set(
            value, forKey: key.key, expiresIn: duration, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as `set(_:forKey:expiresIn:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: Key, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await strings.set(
            value, forKey: key.key, expiresIn: duration, durability: durability)
    }

    /// Sets many values as one batch; as `setAll(_:durability:)`.
    public nonisolated(nonsending) func setAll<Value: BinaryCodable & Sendable>(
        _ pairs: some Sequence<(Key, Value)>, durability: Durability? = nil
    ) async throws {
        try await strings.setAll(
            pairs.lazy.map { ($0.key, $1) }, durability: durability)
    }

    /// Sets many values as one batch; as the other `setAll(_:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func setAll<Value: Codable & Sendable>(
        _ pairs: some Sequence<(Key, Value)>, durability: Durability? = nil
    ) async throws {
        try await strings.setAll(
            pairs.lazy.map { ($0.key, $1) }, durability: durability)
    }

    /// Changes the value of `key` atomically; as `update(_:default:as:keepsExpiry:durability:_:)`.
    @discardableResult
    public nonisolated(nonsending) func update<Value: BinaryCodable & Sendable, Result: Sendable>(
        _ key: Key, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await strings.update(
            key.key, default: initial(), as: type, keepsExpiry: keepsExpiry, durability: durability,
            body)
    }

    /// Changes the value of `key` atomically; as the other `update(_:default:as:keepsExpiry:durability:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable & Sendable, Result: Sendable>(
        _ key: Key, default initial: @autoclosure () -> Value, as type: Value.Type = Value.self,
        keepsExpiry: Bool = false, durability: Durability? = nil,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await strings.update(
            key.key, default: initial(), as: type, keepsExpiry: keepsExpiry, durability: durability,
            body)
    }

    /// Sets the value of `key` without waiting; as `enqueue(_:forKey:)`.
    @discardableResult
    public func enqueue<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: Key
    ) -> Result<Void, RoostError> {
        strings.enqueue(value, forKey: key.key)
    }

    /// Sets the value of `key` without waiting; as the other `enqueue(_:forKey:)`.
    @_disfavoredOverload
    @discardableResult
    public func enqueue<Value: Codable & Sendable>(
        _ value: Value, forKey key: Key
    ) -> Result<Void, RoostError> {
        strings.enqueue(value, forKey: key.key)
    }

    /// Sets the value of `key` without waiting, or removes it where `value` is `nil`.
    @discardableResult
    public func enqueue<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: Key
    ) -> Result<Void, RoostError> {
        strings.enqueue(value, forKey: key.key)
    }

    /// Sets the value of `key` without waiting, or removes it where `value` is `nil`.
    @_disfavoredOverload
    @discardableResult
    public func enqueue<Value: Codable & Sendable>(
        _ value: Value?, forKey key: Key
    ) -> Result<Void, RoostError> {
        strings.enqueue(value, forKey: key.key)
    }

    /// Removes `key` without waiting; as `enqueue(_:forKey:)`.
    @discardableResult
    public func enqueueRemoval(forKey key: Key) -> Result<Void, RoostError> {
        strings.enqueueRemoval(forKey: key.key)
    }

    /// Removes a key; a key without a value is no error. As `removeValue(forKey:durability:)` of a `WorkspaceDictionary`.
    public nonisolated(nonsending) func removeValue(
        forKey key: Key, durability: Durability? = nil
    ) async throws {
        try await strings.removeValue(forKey: key.key, durability: durability)
    }

    /// Removes every key at once; as ``WorkspaceDictionary/removeAll(durability:)``.
    public nonisolated(nonsending) func removeAll(durability: Durability? = nil) async throws {
        try await strings.removeAll(durability: durability)
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
