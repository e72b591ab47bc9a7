import Foundation
import RoostCoding
import RoostEngine
import RoostFormat
import RoostIO

// Each call stands twice, for the two kinds of coding. A type that is both `Codable` and
// `BinaryCodable` takes the binary one, since the other is disfavoured.

extension WorkspaceDictionary {
    // MARK: Reading

    /// The value of `key`, or `nil` where it has none.
    ///
    /// - Throws: `.typeMismatch` naming both types, `.decodingFailed` (the bytes stay as they
    ///   are), `.unsupportedVersion` where no migration leads from the value's version to `type`,
    ///   `.corrupt` and `.io` with file and offset, `.closed`. As from every call of a dictionary,
    ///   `.keyTooLarge` where the dictionary's name has more than 255 bytes.
    #if compiler(>=6.3)
        // The types that are read most: what is generic counts one reference more for each value.
        @specialized(where Value == Int)
        @specialized(where Value == String)
        @specialized(where Value == [UInt8])
        @specialized(where Value == Data)
        @specialized(where Value == Double)
        @specialized(where Value == Bool)
    #endif
    public func value<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self
    ) throws -> Value? {
        try read(key, .binary())
    }

    /// The value of `key`, or `nil` where it has none; as the other `value(forKey:as:)`.
    @_disfavoredOverload
    public func value<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self
    ) throws -> Value? {
        try read(key, .codable())
    }

    /// The value of `key`, or `nil`; as `value(forKey:as:)`.
    public subscript<Value: BinaryCodable & Sendable>(key: String, as type: Value.Type) -> Value? {
        get throws { try read(key, .binary()) }
    }

    /// The value of `key`, or `nil`; as `value(forKey:as:)`.
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(key: String, as type: Value.Type) -> Value? {
        get throws { try read(key, .codable()) }
    }

    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`.
    public subscript<Value: BinaryCodable & Sendable>(
        key: String, default value: @autoclosure () -> Value
    ) -> Value {
        get throws { try read(key, .binary()) ?? value() }
    }

    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`. Stated for `Double`
    /// so that a literal beside an operator (`values["x", default: 0.5] == 1.5`) is one.
    public subscript(key: String, default value: @autoclosure () -> Double) -> Double {
        get throws { try read(key, .binary()) ?? value() }
    }

    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`.
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(
        key: String, default value: @autoclosure () -> Value
    ) -> Value {
        get throws { try read(key, .codable()) ?? value() }
    }

    /// As `value(forKey:as:)`; tasks that load the same cold key at once share one load.
    ///
    /// - Throws: `.cancelled`; as `value(forKey:as:)`.
    public func load<Value: BinaryCodable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await loadShared(key, .binary())
    }

    /// As the other `load(_:as:)`.
    @_disfavoredOverload
    public func load<Value: Codable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await loadShared(key, .codable())
    }

    // MARK: Writing

    /// Sets the value of `key`; returns once `durability`, or the workspace's where it is `nil`,
    /// holds. Until then readers see the older value.
    ///
    /// Runs on the caller's actor. At `.process` and `.interval` it suspends only where the write
    /// has something to wait for: others that change the key or read it in their turn, or room; and,
    /// once in some thousand writes, to let other tasks have the thread.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`, `.readOnly`, `.closed`,
    ///   `.outOfSpace`, `.io`, `.cancelled`, and then nothing is changed; `.poisoned` where a sync or a write
    ///   to the log failed, and then the outcome is unknown until the workspace is reopened. Where
    ///   compaction fails and the log has become too long, what compaction failed with, with nothing
    ///   changed.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, .binary())
        try await write(encoded, key, durability)
    }

    /// Sets the value of `key`; as the other `set(_:forKey:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, .codable())
        try await write(encoded, key, durability)
    }

    /// Sets the value of `key`, written with `coder` whatever the dictionary's is; else as
    /// `set(_:forKey:durability:)`. A type that is `BinaryCodable`, or has a form of its own,
    /// takes that.
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, coder: ValueCoder, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, .codable(), coder: coder)
        try await write(encoded, key, durability)
    }
}

extension WorkspaceDictionary {
    /// The value of `key`, or `nil` where it has none.
    ///
    /// The types that are read most are named one by one, so that reading one knows its type:
    /// without, the runtime looks up the type of the optional at each call.
    func read<Value>(
        _ key: String, _ codec: @autoclosure () -> ValueCodec<Value>
    ) throws -> Value? {
        var plain = PlainRead.other
        if workspace.migrations.isEmpty {
            switch FixedForm.kind(of: Value.self) {
            case .int:
                if let value = try readPlain(key, as: Int.self, &plain) {
                    return FixedForm.same(value, Value.self)
                }
            case .string:
                if let value = try readPlain(key, as: String.self, &plain) {
                    return FixedForm.same(value, Value.self)
                }
            case .bytes:
                if let value = try readPlain(key, as: [UInt8].self, &plain) {
                    return FixedForm.same(value, Value.self)
                }
            case .data:
                if let value = try readPlain(key, as: Data.self, &plain) {
                    return FixedForm.same(value, Value.self)
                }
            case .double:
                if let value = try readPlain(key, as: Double.self, &plain) {
                    return FixedForm.same(value, Value.self)
                }
            case .bool:
                if let value = try readPlain(key, as: Bool.self, &plain) {
                    return FixedForm.same(value, Value.self)
                }
            default: break
            }
        }
        return plain == .absent ? nil : try readAny(key, codec)
    }

    private enum PlainRead { case absent, other }

    /// A value that stands in the fixed form of `type`; else says in `plain` what it is.
    private func readPlain<Value: Sendable>(
        _ key: String, as type: Value.Type, _ plain: inout PlainRead
    ) throws -> Value? {
        guard let found = try find(key) else {
            plain = .absent
            return nil
        }
        if let resident = found.resident { return ResidentValue<Value>.value(of: resident) }
        guard let value = found.fixedValue(as: type) else { return nil }
        // The next look meets the same page, and says which it is. To throw here costs each read.
        if MappedRegion.faultCount != 0, isLost(found) { return nil }
        if found.isWorthKeeping { keep(value, found, key) }
        return value
    }

    /// Counts no reference to the name, which the dictionary holds.
    @inline(__always)
    private func find(_ key: String) throws -> FoundValue? {
        defer { withExtendedLifetime(self) {} }
        return try workspace.engine.find(key, prefix: checkedPrefix())
    }

    /// By itself, as below.
    @inline(never)
    private func isLost(_ found: borrowing FoundValue) -> Bool {
        do {
            try found.checkRead()
            return false
        } catch { return true }
    }

    /// By itself: where it stood in a look-up, that would count a reference to the name for it.
    @inline(never)
    private func keep<Value: Sendable>(
        _ value: Value, _ found: borrowing FoundValue, _ key: String
    ) {
        guard let engineName else { return }
        workspace.engine.keep(value, found, key: key, name: engineName)
    }

    /// As `read`, for values of any type. The codec is made only for values that have no fixed
    /// form: making one costs as much as the rest of a read.
    @inline(never)
    private func readAny<Value>(_ key: String, _ codec: () -> ValueCodec<Value>) throws -> Value? {
        let name = try checkedName()
        guard let found = try workspace.engine.find(key, name: name) else { return nil }
        if workspace.migrations.isEmpty,
            found.resident != nil || FixedForm.kind(of: Value.self) != nil
        {
            return try readFixed(found, key, name, codec)
        }
        return try decode(found, key, name, codec)
    }

    /// As `readAny`, for what may be there decoded or in a fixed form. By itself, as `ValueCodec` says.
    @inline(never)
    private func readFixed<Value>(
        _ found: borrowing FoundValue, _ key: String, _ name: DictionaryName,
        _ codec: () -> ValueCodec<Value>
    ) throws -> Value? {
        guard let value = found.fixedValue(as: Value.self) else {
            return try decode(found, key, name, codec)
        }
        if MappedRegion.faultCount != 0 { try found.checkRead() }
        if found.isWorthKeeping { workspace.engine.keep(value, found, key: key, name: name) }
        return value
    }

    private func decode<Value>(
        _ found: borrowing FoundValue, _ key: String, _ name: DictionaryName,
        _ codec: () -> ValueCodec<Value>
    ) throws -> Value? {
        try codec().decode(
            found, key: key, name: name, engine: workspace.engine, migrations: workspace.migrations)
    }

    func loadShared<Value>(
        _ key: String, _ codec: @autoclosure @Sendable () -> ValueCodec<Value>
    ) async throws -> Value? {
        try checkCancellation()
        let name = try checkedName()
        guard !isReference(Value.self), let state = workspace.engine.coldState(key, name: name)
        else {
            return try read(key, codec())
        }
        return try await workspace.engine.observe(.load) { operation in
            operation.cause = .cold
            return try await workspace.loads.load(key, in: name, state: state, as: Value.self) {
                try read(key, codec())
            }
        }
    }

    /// The stored form of `value`; with the dictionary's coder where `coder` is `nil`.
    @_specialize(where Value == [UInt8])
    @_specialize(where Value == Data)
    @_specialize(where Value == String)
    @_specialize(where Value == Int)
    @_specialize(where Value == Double)
    @_specialize(where Value == Bool)
    func encode<Value>(
        _ value: Value, _ codec: @autoclosure () -> ValueCodec<Value>, coder: ValueCoder? = nil
    ) throws -> EncodedValue {
        let encoded =
            try FixedForm.encode(value) ?? codec().encode(value, coder: coder ?? self.coder)
        return workspace.migrations.isEmpty ? encoded : withVersion(encoded, Value.self)
    }

    /// Puts, or with no value removes, one key.
    @inline(__always)
    nonisolated(nonsending) func write(
        _ encoded: EncodedValue?, _ key: String, _ durability: Durability?
    ) async throws {
        defer { withExtendedLifetime(self) {} }
        let sequence = try workspace.engine.writeAtOnce(
            encoded, key: key, prefix: checkedPrefix(), durability: durability)
        guard let sequence, !Engine.isTurnOfOthers(behind: sequence) else {
            return try await finish(sequence, encoded, key, durability)
        }
    }

    /// Writes what was not written at once, or lets others have the thread. By itself, as `keep` is.
    @inline(never)
    private nonisolated(nonsending) func finish(
        _ sequence: UInt64?, _ encoded: EncodedValue?, _ key: String, _ durability: Durability?
    ) async throws {
        if sequence != nil { return await Task.yield() }
        _ = try await workspace.engine.write(
            encoded, key: key, name: try checkedName(), durability: durability)
    }
}
