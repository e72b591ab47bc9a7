import RoostCoding

// Ranges of keys, in their order, which is that of integers, negative ones included, and of the bytes of UUIDs.

extension KeyedDictionary {
    /// The entries whose keys are in `range`, as the strings go: `entries(in: (-5)...5)`. Else as `entries(as:limit:order:)`.
    public func entries<Value: BinaryCodable & Sendable>(
        in range: some TypedKeyRange<Key>, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> some AsyncSequence<(key: Key, value: Value), any Error> & Sendable {
        strings.entries(in: range.keyBoundsOfStrings, as: type, limit: limit, order: order)
            .map { [self] in (key: try key($0.key), value: $0.value) }
    }

    /// The entries whose keys are in `range`; as the other `entries(in:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        in range: some TypedKeyRange<Key>, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> some AsyncSequence<(key: Key, value: Value), any Error> & Sendable {
        strings.entries(in: range.keyBoundsOfStrings, as: type, limit: limit, order: order)
            .map { [self] in (key: try key($0.key), value: $0.value) }
    }

    /// The keys in their order or against it, at most `limit`, of one moment. Decodes no value. Iterating throws
    /// `.typeMismatch` where a key is none of `Key`; else as ``KeySequence``.
    public func keys(
        limit: Int? = nil, order: ScanOrder = .ascending
    ) -> some AsyncSequence<Key, any Error> & Sendable {
        strings.keys(prefix: "", limit: limit, order: order).map { [self] in try key($0) }
    }

    /// The keys in `range`, as the strings go. Else as `keys(limit:order:)`.
    public func keys(
        in range: some TypedKeyRange<Key>, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> some AsyncSequence<Key, any Error> & Sendable {
        strings.keys(in: range.keyBoundsOfStrings, limit: limit, order: order)
            .map { [self] in try key($0) }
    }
}

extension Transaction {
    /// Whether `key` has a value in `dictionary`; as `contains(_:in:)` of its string.
    public mutating func contains<Key>(
        _ key: Key, in dictionary: KeyedDictionary<Key>
    ) throws -> Bool {
        try contains(key.key, in: dictionary.strings)
    }

    /// The keys of `dictionary` in their order or against it, at most `limit`. A key that comes or goes in what was looked
    /// at is a conflict.
    ///
    /// - Throws: `.typeMismatch` where a key is none of `Key`; as `keys(of:prefix:limit:order:)`.
    public mutating func keys<Key>(
        of dictionary: KeyedDictionary<Key>, limit: Int? = nil, order: ScanOrder = .ascending
    ) throws -> [Key] {
        try keys(of: dictionary.strings, limit: limit, order: order).map { try dictionary.key($0) }
    }

    /// The keys of `dictionary` in `range`, as the strings go; as `keys(of:limit:order:)`.
    public mutating func keys<Key>(
        of dictionary: KeyedDictionary<Key>, in range: some TypedKeyRange<Key>, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) throws -> [Key] {
        try keys(of: dictionary.strings, in: range.keyBoundsOfStrings, limit: limit, order: order)
            .map { try dictionary.key($0) }
    }
}

extension ReadView {
    /// Whether `key` had a value in `dictionary`; as `contains(_:in:)` of its string.
    public func contains<Key>(_ key: Key, in dictionary: KeyedDictionary<Key>) throws -> Bool {
        try contains(key.key, in: dictionary.strings)
    }

    /// The keys of `dictionary` in their order or against it, at most `limit`. Holds all of them in memory.
    ///
    /// - Throws: `.typeMismatch` where a key is none of `Key`; as `keys(of:prefix:limit:order:)`.
    public func keys<Key>(
        of dictionary: KeyedDictionary<Key>, limit: Int? = nil, order: ScanOrder = .ascending
    ) throws -> [Key] {
        try keys(of: dictionary.strings, limit: limit, order: order).map { try dictionary.key($0) }
    }

    /// The keys of `dictionary` in `range`, as the strings go; as `keys(of:limit:order:)`.
    public func keys<Key>(
        of dictionary: KeyedDictionary<Key>, in range: some TypedKeyRange<Key>, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) throws -> [Key] {
        try keys(of: dictionary.strings, in: range.keyBoundsOfStrings, limit: limit, order: order)
            .map { try dictionary.key($0) }
    }
}
