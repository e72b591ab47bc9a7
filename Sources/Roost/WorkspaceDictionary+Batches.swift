import Foundation
import RoostCoding
import RoostEngine
import RoostFormat

// Setting many values at once. The functions are inlined into their callers, so that walking the
// caller's sequence is specialised for it; unspecialised it cost as much as the rest.

extension WorkspaceDictionary {
    /// Sets many values as one batch: they survive together, and no reader sees part of them.
    /// Of several values for one key the last counts. `pairs` is walked on the caller's actor.
    ///
    /// - Throws: as `set(_:forKey:durability:)`, for any of them, and `.valueTooLarge` where all of them have
    ///   more than 1 GiB. None of them is set then, except where the outcome is unknown.
    @inlinable
    public nonisolated(nonsending) func setAll<Value: BinaryCodable & Sendable>(
        _ pairs: some Sequence<(String, Value)>, durability: Durability? = nil
    ) async throws {
        var batch = try PairBatch(self)
        for (key, value) in pairs { try batch.addBinary(value, forKey: key) }
        try await batch.commit(durability)
    }

    /// Sets many values as one batch; as the other `setAll(_:durability:)`.
    @_disfavoredOverload @inlinable
    public nonisolated(nonsending) func setAll<Value: Codable & Sendable>(
        _ pairs: some Sequence<(String, Value)>, durability: Durability? = nil
    ) async throws {
        var batch = try PairBatch(self)
        for (key, value) in pairs { try batch.addCodable(value, forKey: key) }
        try await batch.commit(durability)
    }

    /// Sets every entry of a Swift dictionary as one batch. As `setAll(_:durability:)` of pairs.
    @inlinable
    public nonisolated(nonsending) func setAll<Value: BinaryCodable & Sendable>(
        _ values: [String: Value], durability: Durability? = nil
    ) async throws {
        try await setAll(values.lazy.map { ($0.key, $0.value) }, durability: durability)
    }

    /// Sets every entry of a Swift dictionary as one batch. As the other `setAll(_:durability:)`.
    @_disfavoredOverload @inlinable
    public nonisolated(nonsending) func setAll<Value: Codable & Sendable>(
        _ values: [String: Value], durability: Durability? = nil
    ) async throws {
        try await setAll(values.lazy.map { ($0.key, $0.value) }, durability: durability)
    }
}

/// The values of one `setAll`, while they are collected.
@usableFromInline
struct PairBatch {
    private let dictionary: WorkspaceDictionary
    private let name: DictionaryName
    private var batch: EncodedBatch

    @usableFromInline
    init(_ dictionary: WorkspaceDictionary) throws {
        self.dictionary = dictionary
        name = try dictionary.checkedName()
        batch = EncodedBatch(hashSeed: dictionary.workspace.engine.hashSeed)
    }

    @usableFromInline
    @_specialize(where Value == [UInt8])
    @_specialize(where Value == Data)
    @_specialize(where Value == String)
    @_specialize(where Value == Int)
    mutating func addBinary<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String
    ) throws {
        batch.put(try dictionary.encode(value, .binary()), forKey: key, in: name)
    }

    @usableFromInline
    mutating func addCodable<Value: Codable & Sendable>(_ value: Value, forKey key: String) throws {
        batch.put(try dictionary.encode(value, .codable()), forKey: key, in: name)
    }

    @usableFromInline
    nonisolated(nonsending) func commit(_ durability: Durability?) async throws {
        try checkCancellation()
        _ = try await dictionary.workspace.engine.commit(batch, durability: durability)
    }
}
