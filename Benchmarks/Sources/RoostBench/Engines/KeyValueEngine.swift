import Foundation

/// What has survived when a write of an engine returns.
enum RowDurability: String, Codable, Sendable, CaseIterable {
    /// What a killed process leaves; a power cut may take it.
    case process
    /// What a power cut leaves: the call returned after fdatasync, or what the engine calls so.
    case synced
}

struct EngineOptions: Sendable {
    var durability = RowDurability.process
    /// For engines that want to know beforehand, as hash tables on disk do.
    var expectedKeys: Int
}

/// What an engine can do, and how it must be driven to be measured fairly.
struct EngineAbilities: Sendable {
    /// Scans go in the order of the keys, and may begin at any of them.
    var isOrdered = true
    var hasAtomicBatches = true
    /// A write costs the whole file, so that few are measured, and the row says how many.
    var isWholeFile = false
    /// Calls block their thread until they are durable: each client gets a thread of its own.
    var blocks = true
    var durabilities: Set<RowDurability> = [.process, .synced]
}

/// One store under measurement: 16-byte string keys, values of 100 bytes or as many as asked for.
///
/// Each engine is used as its own users would: values are looked at where the engine leaves them,
/// and what an engine keeps per reader (a transaction, prepared statements) belongs to a client.
protocol KeyValueEngine: Sendable {
    associatedtype Client: KeyValueClient

    static var name: String { get }
    /// What was tuned, for people.
    static var settings: String { get }
    static var abilities: EngineAbilities { get }

    /// Opens the store in the directory at `path`, which is there; creates it where there is none.
    static func open(at path: String, options: EngineOptions) async throws -> Self
    /// One for each task that uses the engine at the same time.
    func makeClient() throws -> Client
    /// Brings the store into the form that it would have after a long rest.
    func compact() async throws
    func close() async throws
}

/// A user of an engine; used by one task at a time. Calls run where their caller runs.
protocol KeyValueClient {
    nonisolated(nonsending) func set(_ value: [UInt8], forKey key: String) async throws
    /// The first eight bytes of a value, little-endian; `nil` where the key has none.
    nonisolated(nonsending) func word(forKey key: String) async throws -> UInt64?
    /// Sets all pairs: atomically, where the engine can.
    nonisolated(nonsending) func setAll(
        _ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>
    ) async throws
    /// Reads up to `limit` entries in order, from `key` on; from the first where it is `nil`.
    /// Their bytes are looked at where they stand, or a string and an array are made of each.
    nonisolated(nonsending) func scan(
        from key: String?, limit: Int, makesEntries: Bool
    ) async throws -> ScanTotals
}

/// What a scan came across, so that none is measured that read nothing.
struct ScanTotals: Equatable {
    var entries = 0
    var valueSizeBytes = 0
    /// Of the entries that were made.
    var keySizeBytes = 0
    /// The first words of all values, added up.
    var wordSum: UInt64 = 0

    mutating func add(_ value: UnsafeRawBufferPointer) throws {
        entries += 1
        valueSizeBytes += value.count
        wordSum &+= try valueWord(value)
    }

    /// Looks at the value's bytes, or makes of it and its key what a Swift program would keep; only
    /// then is the key asked for.
    @inline(__always)
    mutating func add(
        _ value: UnsafeRawBufferPointer, makesEntry: Bool,
        key: @autoclosure () -> UnsafeRawBufferPointer
    ) throws {
        guard makesEntry else { return try add(value) }
        try add((String(decoding: key(), as: UTF8.self), [UInt8](value)))
    }

    /// Never inlined: else what nobody looks at would not be made.
    @inline(never)
    mutating func add(_ entry: (key: String, value: [UInt8])) throws {
        keySizeBytes += entry.key.utf8.count
        try entry.value.withUnsafeBytes { try add($0) }
    }
}

struct BenchError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// The first eight bytes of a value of the workloads, which have as many at least.
@inline(__always)
func valueWord(_ value: UnsafeRawBufferPointer) throws -> UInt64 {
    guard value.count >= 8 else { throw BenchError("a value of \(value.count) bytes") }
    return UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
}

extension String {
    /// The key's bytes for a C call. The workloads' keys are native strings, so nothing is copied.
    @inline(__always)
    func withKeyBytes<Result>(
        _ body: (UnsafePointer<CChar>, Int) throws -> Result
    ) throws -> Result {
        let result = try utf8.withContiguousStorageIfAvailable { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { try body($0.baseAddress!, $0.count) }
        }
        guard let result else { throw BenchError("a key that is no native string") }
        return result
    }
}

extension [UInt8] {
    /// The value's bytes for a C call.
    @inline(__always)
    func withValueBytes<Result>(
        _ body: (UnsafePointer<CChar>, Int) throws -> Result
    ) rethrows -> Result {
        try withUnsafeBytes { bytes in
            try body(bytes.bindMemory(to: CChar.self).baseAddress!, bytes.count)
        }
    }
}
