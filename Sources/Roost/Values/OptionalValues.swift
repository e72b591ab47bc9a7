import Foundation
import RoostCoding
import RoostEngine

// A value that may be `nil` is stored as the value that it is, which every reader of its type reads; `nil` is no value, and so
// removes the key. docs/decisions/0246.

extension WorkspaceDictionary {
    /// Sets the value of `key`, or removes it where `value` is `nil`; else as `set(_:forKey:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as `set(_:forKey:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:expiresIn:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, expiresIn: duration, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:expiresIn:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, expiresIn: duration, durability: durability)
    }

    /// Sets the value of `key` without waiting, or removes it where `value` is `nil`; else as
    /// `enqueue(_:forKey:)`.
    @discardableResult
    public func enqueue<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String
    ) -> Result<Void, RoostError> {
        guard let value else { return enqueueRemoval(forKey: key) }
        return enqueue(value, forKey: key)
    }

    /// Sets the value of `key` without waiting, or removes it where `value` is `nil`; else as
    /// `enqueue(_:forKey:)`.
    @_disfavoredOverload
    @discardableResult
    public func enqueue<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String
    ) -> Result<Void, RoostError> {
        guard let value else { return enqueueRemoval(forKey: key) }
        return enqueue(value, forKey: key)
    }
}

extension WriteBatch {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary
    ) {
        guard let value else { return removeValue(forKey: key, in: dictionary) }
        set(value, forKey: key, in: dictionary)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary
    ) {
        guard let value else { return removeValue(forKey: key, in: dictionary) }
        set(value, forKey: key, in: dictionary)
    }
}

extension Transaction {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:in:)`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary
    ) throws {
        guard let value else { return try removeValue(forKey: key, in: dictionary) }
        try set(value, forKey: key, in: dictionary)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:in:)`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary
    ) throws {
        guard let value else { return try removeValue(forKey: key, in: dictionary) }
        try set(value, forKey: key, in: dictionary)
    }
}

extension KeyValueDictionary {
    /// Sets the value of `key`, or removes it where `value` is `nil`; else as `set(_:forKey:expiresIn:)`.
    public func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, expiresIn duration: Duration? = nil
    ) async throws {
        guard let value else { return try await remove(key: key) }
        try await set(value, forKey: key, expiresIn: duration)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as `set(_:forKey:expiresIn:)`.
    @_disfavoredOverload
    public func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, expiresIn duration: Duration? = nil
    ) async throws {
        guard let value else { return try await remove(key: key) }
        try await set(value, forKey: key, expiresIn: duration)
    }
}

extension KeyValueTransaction {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:in:expiresIn:)`.
    public func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) throws {
        guard let value else { return try removeValue(forKey: key, in: dictionary) }
        try set(value, forKey: key, in: dictionary, expiresIn: duration)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) throws {
        guard let value else { return try removeValue(forKey: key, in: dictionary) }
        try set(value, forKey: key, in: dictionary, expiresIn: duration)
    }
}

extension WorkspaceDictionary {
    /// Sets the value of `key`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:expiresAt:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, expiresAt date: Date, durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, expiresAt: date, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:expiresAt:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, expiresAt date: Date, durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, expiresAt: date, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`, where that changes something; else as
    /// `set(_:forKey:onlyIfChanged:durability:)`.
    @discardableResult
    public nonisolated(nonsending) func set<Value: BinaryCodable & Equatable & Sendable>(
        _ value: Value?, forKey key: String, onlyIfChanged: Bool, durability: Durability? = nil
    ) async throws -> Bool {
        guard let value else {
            let givenUpCount = workspace.engine.givenUpCount
            if onlyIfChanged, try !contains(key), try isInLog(key, since: givenUpCount) {
                try await workspace.engine.confirm(durability)
                return false
            }
            try await removeValue(forKey: key, durability: durability)
            return true
        }
        return try await set(
            value, forKey: key, onlyIfChanged: onlyIfChanged, durability: durability)
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`, where that changes something; else as
    /// `set(_:forKey:onlyIfChanged:durability:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func set<Value: Codable & Equatable & Sendable>(
        _ value: Value?, forKey key: String, onlyIfChanged: Bool, durability: Durability? = nil
    ) async throws -> Bool {
        guard let value else {
            let givenUpCount = workspace.engine.givenUpCount
            if onlyIfChanged, try !contains(key), try isInLog(key, since: givenUpCount) {
                try await workspace.engine.confirm(durability)
                return false
            }
            try await removeValue(forKey: key, durability: durability)
            return true
        }
        return try await set(
            value, forKey: key, onlyIfChanged: onlyIfChanged, durability: durability)
    }

    /// Sets the value of `key`, written with `coder`, or removes it where `value` is `nil`; else as
    /// `set(_:forKey:coder:durability:)`.
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, coder: ValueCoder, durability: Durability? = nil
    ) async throws {
        guard let value else { return try await removeValue(forKey: key, durability: durability) }
        try await set(value, forKey: key, coder: coder, durability: durability)
    }
}

extension WriteBatch {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as `set(_:forKey:in:expiresIn:)`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) {
        guard let value else { return removeValue(forKey: key, in: dictionary) }
        set(value, forKey: key, in: dictionary, expiresIn: duration)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) {
        guard let value else { return removeValue(forKey: key, in: dictionary) }
        set(value, forKey: key, in: dictionary, expiresIn: duration)
    }
}

extension Transaction {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as `set(_:forKey:in:expiresIn:)`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) throws {
        guard let value else { return try removeValue(forKey: key, in: dictionary) }
        try set(value, forKey: key, in: dictionary, expiresIn: duration)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; else as `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) throws {
        guard let value else { return try removeValue(forKey: key, in: dictionary) }
        try set(value, forKey: key, in: dictionary, expiresIn: duration)
    }
}
