import Foundation
import Roost

/// The kinds of values of Dflat's table.
enum ValueKind: Sendable {
    case int, codable, binary
}

/// A value of Dflat's table: made from a number, so that each read can be checked.
protocol TypedValue: Codable, Equatable, Sendable {
    static var kind: ValueKind { get }
    init(number: Int)
    /// Roost tells the two kinds of coding apart by the type that is written.
    nonisolated(nonsending) func set(forKey key: String, in dictionary: WorkspaceDictionary)
        async throws
    func enqueue(forKey key: String, in dictionary: WorkspaceDictionary) throws
    static func value(forKey key: String, in dictionary: WorkspaceDictionary) throws -> Self?
}

extension TypedValue where Self: BinaryCodable {
    nonisolated(nonsending) func set(
        forKey key: String, in dictionary: WorkspaceDictionary
    ) async throws {
        try await dictionary.set(self, forKey: key)
    }

    func enqueue(forKey key: String, in dictionary: WorkspaceDictionary) throws {
        try dictionary.enqueue(self, forKey: key).get()
    }

    static func value(forKey key: String, in dictionary: WorkspaceDictionary) throws -> Self? {
        try dictionary.value(forKey: key, as: Self.self)
    }
}

extension Int: TypedValue {
    static let kind = ValueKind.int
    init(number: Int) { self = number }
}

struct CodableRecord: TypedValue {
    static let kind = ValueKind.codable

    var id: Int
    var name: String
    var email: String
    var isActive: Bool
    var score: Double
    var tags: [String]

    nonisolated(nonsending) func set(
        forKey key: String, in dictionary: WorkspaceDictionary
    ) async throws {
        try await dictionary.set(self, forKey: key)
    }

    func enqueue(forKey key: String, in dictionary: WorkspaceDictionary) throws {
        try dictionary.enqueue(self, forKey: key).get()
    }

    static func value(forKey key: String, in dictionary: WorkspaceDictionary) throws -> Self? {
        try dictionary.value(forKey: key, as: Self.self)
    }
}

extension CodableRecord {
    init(number: Int) {
        self.init(
            id: number, name: "name \(number)", email: "person\(number)@example.org",
            isActive: number % 2 == 0, score: Double(number) / 8, tags: ["one", "two"])
    }
}

/// The same struct, with its fields written by hand.
struct BinaryRecord: TypedValue, BinaryCodable {
    static let kind = ValueKind.binary

    var fields: CodableRecord

    init(number: Int) { fields = CodableRecord(number: number) }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, fields.id)
        writer.field(2, fields.name)
        writer.field(3, fields.email)
        writer.field(4, fields.isActive)
        writer.field(5, fields.score)
        writer.field(6, fields.tags)
    }

    init(from reader: inout BinaryReader) throws {
        fields = CodableRecord(
            id: try reader.field(1), name: try reader.field(2), email: try reader.field(3),
            isActive: try reader.field(4), score: try reader.field(5), tags: try reader.field(6))
    }
}

/// A store of small typed values, as Dflat's table asks for. Calls run where their caller runs.
protocol TypedEngine: Sendable {
    static var name: String { get }
    static var settings: String { get }
    static var kinds: Set<ValueKind> { get }
    static var isWholeFile: Bool { get }
    static var durabilities: Set<RowDurability> { get }

    static func open(at path: String, durability: RowDurability) async throws -> Self
    nonisolated(nonsending) func set<Value: TypedValue>(_ value: Value, forKey key: String)
        async throws
    nonisolated(nonsending) func value<Value: TypedValue>(forKey key: String, as type: Value.Type)
        async throws -> Value?
    /// Sets many at once, for filling outside the clock.
    nonisolated(nonsending) func setAll<Value: TypedValue>(_ values: [(String, Value)]) async throws
    /// Returns once all that was set is to be found again after a crash of the process, where
    /// `set` does not say so by returning.
    func finishWrites() async throws
    func close() async throws
}

extension TypedEngine {
    func finishWrites() async throws {}
}
