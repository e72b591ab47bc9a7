import RoostEngine
import RoostFormat

/// A key's value as one read found it, and which version of it that was.
///
/// `replace(_:with:durability:)` and
/// ``WorkspaceDictionary/remove(_:durability:)`` change the key only while it still has this
/// version.
public struct Entry<Value: Sendable>: Sendable {
    /// The key that was read.
    public let key: String
    /// `nil` where the key had no value.
    public let value: Value?
    let dictionary: DictionaryName
    let record: RecordVersion

    /// The sequence number of the batch that set the value; zero where there was none. Grows
    /// with every change of the key, over reopenings too.
    public var version: UInt64 { record.sequence }

    /// What another engine than this library's found, with its own version.
    package init(
        key: String, value: Value?, version: UInt64, deadline: Deadline = .never,
        in dictionary: DictionaryName
    ) {
        self.init(
            key: key, value: value, dictionary: dictionary,
            record: RecordVersion(sequence: version, deadline: deadline))
    }

    /// How long the value is there yet at a time, in milliseconds since 1970.
    package func remainingTime(at milliseconds: UInt64) -> Duration? {
        let deadline = record.deadline
        guard deadline != .never, value != nil else { return nil }
        return .milliseconds(
            Int64(clamping: deadline.milliseconds - min(milliseconds, deadline.milliseconds)))
    }

    init(key: String, value: Value?, dictionary: DictionaryName, record: RecordVersion) {
        self.key = key
        self.value = value
        self.dictionary = dictionary
        self.record = record
    }
}

extension WorkspaceDictionary {
    // MARK: Compare and set

    /// The value of `key` and its version. Does not suspend; always decodes what is stored, so
    /// it costs more than `value(forKey:as:)` of a resident value.
    ///
    /// - Throws: as `value(forKey:as:)`.
    public func entry<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self
    ) throws -> Entry<Value> {
        try readEntry(key, .binary())
    }

    /// The value of `key` and its version; as the other `entry(forKey:as:)`.
    @_disfavoredOverload
    public func entry<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self
    ) throws -> Entry<Value> {
        try readEntry(key, .codable())
    }

    /// Sets the value of the entry's key if it still has the entry's version; returns the new
    /// entry, once `durability` holds. Cheaper than a transaction: one call of the key's shard.
    ///
    /// An entry without a value is replaced only while the key has none: that it was set and removed, or has expired, since it
    /// was read is no conflict, as nothing is left that had a version.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first, a
    ///   `removeAll` included; else as `set`.
    @discardableResult
    public nonisolated(nonsending) func replace<Value: BinaryCodable & Sendable>(
        _ entry: Entry<Value>, with value: Value, durability: Durability? = nil
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, .binary(), .never, durability)
    }

    /// Sets the value of the entry's key if it still has the entry's version; as the other
    /// `replace(_:with:durability:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func replace<Value: Codable & Sendable>(
        _ entry: Entry<Value>, with value: Value, durability: Durability? = nil
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, .codable(), .never, durability)
    }

    /// Removes the entry's key if it still has the entry's version. As durable as any write.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first; else
    ///   as `removeValue`.
    public nonisolated(nonsending) func remove<Value>(
        _ entry: Entry<Value>, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        _ = try await write(nil, entry, durability)
    }
}

extension WorkspaceDictionary {
    func readEntry<Value>(
        _ key: String, _ codec: @autoclosure () -> ValueCodec<Value>
    ) throws -> Entry<Value> {
        let name = try checkedName()
        let versioned = try workspace.engine.findVersioned(key, name: name)
        // What it owns keeps the bytes in place; it must live until they are decoded.
        let value = try withExtendedLifetime(versioned) { versioned in
            let decoded = Result {
                try versioned.storedBytes.map { try decode(stored: $0, key: key, codec()) }
            }
            try versioned.checkRead()
            return try decoded.get()
        }
        return Entry(key: key, value: value, dictionary: name, record: versioned.version)
    }

    nonisolated(nonsending) func replace<Value>(
        _ entry: Entry<Value>, with value: Value,
        _ codec: @autoclosure @Sendable () -> ValueCodec<Value>, _ deadline: Deadline,
        _ durability: Durability?
    ) async throws -> Entry<Value> {
        try checkCancellation()
        let encoded = try encode(value, codec()).with(deadline: deadline)
        let sequence = try await write(encoded, entry, durability)
        return Entry(
            key: entry.key, value: value, dictionary: entry.dictionary,
            record: RecordVersion(sequence: sequence, deadline: deadline))
    }

    private nonisolated(nonsending) func write<Value>(
        _ value: EncodedValue?, _ entry: Entry<Value>, _ durability: Durability?
    ) async throws -> UInt64 {
        let name = try checkedName()
        precondition(entry.dictionary == name, "the entry was read from another dictionary")
        var written = try await workspace.engine.write(
            value, key: entry.key, name: name, if: entry.record, durability: durability)
        if written == nil, entry.version == 0 {
            // A value that was set since, and has expired, counts as none once somebody has looked what the time is.
            let found = try version(of: entry.key, name)
            if found.sequence == 0 {
                written = try await workspace.engine.write(
                    value, key: entry.key, name: name, if: found, durability: durability)
            }
        }
        guard let sequence = written else {
            throw RoostError(
                .conflict,
                "\"\(entry.key)\" in \"\(name.name)\" was changed by another writer: read it again")
        }
        return sequence
    }

    private func version(of key: String, _ name: DictionaryName) throws -> RecordVersion {
        let found = try workspace.engine.findVersioned(key, name: name)
        return found.version
    }
}
