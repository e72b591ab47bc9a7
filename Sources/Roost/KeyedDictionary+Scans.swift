import RoostCoding
import RoostIO

// Entries in the order of their keys, changes, and the calls of batches, transactions and views. All are those of
// `strings`, with keys that were made values.

extension KeyedDictionary {
    // MARK: Scans

    /// At most `limit` entries in the order of the keys or against it, behind `key`, as they are at this moment. Does not
    /// suspend; costs as `page(prefix:after:as:limit:order:)`.
    ///
    /// - Throws: `.typeMismatch` where a key is none of `Key`; as that.
    public func page<Value: BinaryCodable & Sendable>(
        after key: Key? = nil, as type: Value.Type = Value.self, limit: Int,
        order: ScanOrder = .ascending
    ) throws -> [(key: Key, value: Value)] {
        try strings.page(after: key?.key, as: type, limit: limit, order: order)
            .map { (try self.key($0.key), $0.value) }
    }

    /// At most `limit` entries; as the other `page(after:as:limit:order:)`.
    @_disfavoredOverload
    public func page<Value: Codable & Sendable>(
        after key: Key? = nil, as type: Value.Type = Value.self, limit: Int,
        order: ScanOrder = .ascending
    ) throws -> [(key: Key, value: Value)] {
        try strings.page(after: key?.key, as: type, limit: limit, order: order)
            .map { (try self.key($0.key), $0.value) }
    }

    /// The entries in the order of the keys or against it, at most `limit`, of one moment. Nothing is read before the
    /// iteration begins. It throws `.typeMismatch` where a key is none of `Key`; else as ``EntrySequence``.
    public func entries<Value: BinaryCodable & Sendable>(
        as type: Value.Type = Value.self, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> some AsyncSequence<(key: Key, value: Value), any Error> & Sendable {
        strings.entries(as: type, limit: limit, order: order)
            .map { [self] in (key: try key($0.key), value: $0.value) }
    }

    /// The entries in the order of the keys or against it; as the other `entries(as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        as type: Value.Type = Value.self, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> some AsyncSequence<(key: Key, value: Value), any Error> & Sendable {
        strings.entries(as: type, limit: limit, order: order)
            .map { [self] in (key: try key($0.key), value: $0.value) }
    }

    // MARK: Watching

    /// The value of `key`, and then each newer one; as `updates(of:as:)`.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: Key, as type: Value.Type = Value.self
    ) -> ValueUpdates<Value> {
        strings.updates(of: key.key, as: type)
    }

    /// The value of `key`, and then each newer one; as the other `updates(of:as:)`.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: Key, as type: Value.Type = Value.self
    ) -> ValueUpdates<Value> {
        strings.updates(of: key.key, as: type)
    }

    /// Calls `body` with the value of `key` and with each change of it; as `subscribe(_:of:_:)`.
    public func subscribe<Value: BinaryCodable & Sendable>(
        _ key: Key, of type: Value.Type,
        _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        strings.subscribe(key.key, of: type, body)
    }

    /// Calls `body` with the value of `key` and with each change of it; as the other `subscribe(_:of:_:)`.
    @_disfavoredOverload
    public func subscribe<Value: Codable & Sendable>(
        _ key: Key, of type: Value.Type,
        _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        strings.subscribe(key.key, of: type, body)
    }
}

extension WriteBatch {
    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`.
    public mutating func set<Key, Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: Key, in dictionary: KeyedDictionary<Key>
    ) {
        set(value, forKey: key.key, in: dictionary.strings)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`.
    @_disfavoredOverload
    public mutating func set<Key, Value: Codable & Sendable>(
        _ value: Value?, forKey key: Key, in dictionary: KeyedDictionary<Key>
    ) {
        set(value, forKey: key.key, in: dictionary.strings)
    }

    /// Removes `key` from `dictionary`.
    public mutating func removeValue<Key>(forKey key: Key, in dictionary: KeyedDictionary<Key>) {
        removeValue(forKey: key.key, in: dictionary.strings)
    }
}

extension Transaction {
    /// The value of `key` in `dictionary`, or `nil`; as `value(forKey:as:in:)`.
    public mutating func value<Key, Value: BinaryCodable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self, in dictionary: KeyedDictionary<Key>
    ) throws -> Value? {
        try value(forKey: key.key, as: type, in: dictionary.strings)
    }

    /// The value of `key` in `dictionary`, or `nil`; as the other `value(forKey:as:in:)`.
    @_disfavoredOverload
    public mutating func value<Key, Value: Codable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self, in dictionary: KeyedDictionary<Key>
    ) throws -> Value? {
        try value(forKey: key.key, as: type, in: dictionary.strings)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; as `set(_:forKey:in:)`.
    public mutating func set<Key, Value: BinaryCodable & Sendable>(
        _ value: Value?, forKey key: Key, in dictionary: KeyedDictionary<Key>
    ) throws {
        try set(value, forKey: key.key, in: dictionary.strings)
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is `nil`; as the other
    /// `set(_:forKey:in:)`.
    @_disfavoredOverload
    public mutating func set<Key, Value: Codable & Sendable>(
        _ value: Value?, forKey key: Key, in dictionary: KeyedDictionary<Key>
    ) throws {
        try set(value, forKey: key.key, in: dictionary.strings)
    }

    /// Removes `key` from `dictionary`; a key without a value is no error. As `removeValue(forKey:in:)` of its
    /// string.
    public mutating func removeValue<Key>(
        forKey key: Key, in dictionary: KeyedDictionary<Key>
    ) throws {
        try removeValue(forKey: key.key, in: dictionary.strings)
    }
}

extension ReadView {
    /// The value that `key` had in `dictionary`, or `nil`; as `value(forKey:as:in:)`.
    public func value<Key, Value: BinaryCodable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self, in dictionary: KeyedDictionary<Key>
    ) throws -> Value? {
        try value(forKey: key.key, as: type, in: dictionary.strings)
    }

    /// The value that `key` had in `dictionary`, or `nil`; as the other `value(forKey:as:in:)`.
    @_disfavoredOverload
    public func value<Key, Value: Codable & Sendable>(
        forKey key: Key, as type: Value.Type = Value.self, in dictionary: KeyedDictionary<Key>
    ) throws -> Value? {
        try value(forKey: key.key, as: type, in: dictionary.strings)
    }
}
