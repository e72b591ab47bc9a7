import RoostCoding
import RoostEngine
import RoostFormat

/// A named key space of a workspace: string keys, values of any supported type.
///
/// Keys are compared by their UTF-8 bytes, not by Swift's canonical equivalence: "é" as one
/// character and as two are two keys. Any key up to 64 KiB is allowed, the empty one and ones
/// with NUL included.
///
/// Values are Bool, the fixed-width integers, Float, Double, String, Data, `[UInt8]`, and any
/// type that is `BinaryCodable` or `Codable`; a type that is both is stored as `BinaryCodable`.
/// A value is read as the type that it was written as; another is a `.typeMismatch`.
///
/// Reads are synchronous, from any thread: a resident value costs a look-up; a cold one is read,
/// verified, decoded, and kept under the memory budget. Writes return once their durability holds,
/// and suspend only where they have something to wait for.
public struct WorkspaceDictionary: Sendable {
    /// The workspace that it is in.
    public let workspace: Workspace
    /// What it is called.
    public let name: String
    /// How `Codable` values are written where the call does not say it.
    public let coder: ValueCoder
    let engineName: DictionaryName?

    init(workspace: Workspace, name: String, coder: ValueCoder) {
        self.workspace = workspace
        self.name = name
        self.coder = coder
        engineName = DictionaryName(name)
    }

    /// - Throws: `.keyTooLarge` where the dictionary's name is too long.
    @inline(__always)
    func checkedName() throws -> DictionaryName {
        guard let engineName else { throw Self.nameTooLong }
        return engineName
    }

    /// The bytes of `checkedName`, without a reference to it: valid as long as the dictionary is held.
    @inline(__always)
    func checkedPrefix() throws -> UnsafeRawBufferPointer {
        guard let prefix = engineName?.prefixBytes else { throw Self.nameTooLong }
        return prefix
    }

    static var nameTooLong: RoostError {
        RoostError(
            .keyTooLarge,
            "the dictionary's name has more than \(Limits.dictionaryNameSizeBytes) bytes")
    }

    // MARK: Keys

    /// Whether `key` has a value. Decodes nothing, and does not suspend.
    ///
    /// - Throws: as `value(forKey:as:)`, but for `.typeMismatch`, `.decodingFailed` and `.unsupportedVersion`.
    public func contains(_ key: String) throws -> Bool {
        defer { withExtendedLifetime(self) {} }
        return try workspace.engine.contains(key, prefix: checkedPrefix())
    }

    /// How many keys the dictionary has at this moment. Reads no records of a dictionary that was
    /// compacted: costs a look at each key in the log, and once after each flush, until the next
    /// merge, a look-up of what was flushed. Does not suspend.
    ///
    /// - Throws: as `contains(_:)`.
    public var count: Int {
        get throws {
            let view = try workspace.engine.view()
            defer { view.close() }
            return try view.count(of: try checkedName())
        }
    }

    /// All keys at one moment, in the order of their UTF-8 bytes. Holds all of them in memory. Does not suspend.
    ///
    /// - Throws: as `contains(_:)`.
    public var keys: [String] {
        get throws {
            let name = try checkedName()
            let scan = try workspace.engine.view().scan(name)
            var keys: [String] = []
            while let key = scan.recordKey {
                keys.append(String(decoding: key[name.prefix.count...], as: UTF8.self))
                try scan.moveToNext()
            }
            return keys
        }
    }

    // MARK: Removing

    /// Removes a key; a key without a value is no error. As durable as any write.
    ///
    /// - Throws: as `set(_:forKey:durability:)`, but for `.encodingFailed` and `.valueTooLarge`.
    public nonisolated(nonsending) func removeValue(
        forKey key: String, durability: Durability? = nil
    ) async throws {
        try checkCancellation()
        try await write(nil, key, durability)
    }

    /// Removes every key as one batch: no reader sees part of it, and every other write falls
    /// wholly before or after it. Costs one operation in the log, however many keys there are;
    /// their space comes back in the background, soon after writers rest. As durable as any write.
    ///
    /// - Throws: as `removeValue(forKey:durability:)`.
    public nonisolated(nonsending) func removeAll(durability: Durability? = nil) async throws {
        try checkCancellation()
        var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
        batch.clear(try checkedName())
        _ = try await workspace.engine.commit(batch, durability: durability)
    }
}
