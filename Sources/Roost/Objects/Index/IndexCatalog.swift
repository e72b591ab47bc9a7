import Foundation
import RoostEngine
import RoostFormat
import RoostIO

/// Where the indexes of a workspace stand, in dictionaries that no user can name.
///
/// - `root` lists all indexes, each with a number that is never used again.
/// - Each has a *mark*, a record that says how far it is. Without its mark it does not count: whoever
///   changes an object and does not change the index takes the mark away in the same batch.
/// - The entries of each stand in a dictionary of their own, named by the number.
enum IndexCatalog {
    static let name = DictionaryName(hidden: Array("indexes".utf8), shownAs: "(indexes)")
    static let root = name.prefix + [0]

    static func mark(_ number: UInt64) -> [UInt8] { name.prefix + [1] + bytes(number) }

    static func entries(_ number: UInt64) -> DictionaryName {
        DictionaryName(
            hidden: Array("entries".utf8) + bytes(number), shownAs: "(index \(number))")
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    struct Root: Codable, Sendable {
        var nextNumber: UInt64 = 1
        var indexes: [Listed] = []

        /// Those of the indexes of a name that the catalog has.
        func numbers(of name: String, _ dictionary: String) -> [UInt64] {
            indexes.filter { $0.isOf(dictionary) && $0.name == name }.map(\.number)
        }
    }

    struct Listed: Codable, Sendable {
        /// The dictionary that the objects are in.
        var dictionary: String
        var name: String
        var shape: String
        var number: UInt64

        func isOf(_ other: String) -> Bool { dictionary.utf8.elementsEqual(other.utf8) }
    }

    /// What a mark says.
    enum Progress: Sendable, Equatable {
        /// The objects up to and with this key have entries; `nil` before the first.
        case building(after: [UInt8]?)
        case built
        /// Why it cannot be built.
        case failed(String)

        init?(stored: UnsafeRawBufferPointer) {
            guard stored.count > 1, stored[0] == ValueKind.bytes.rawValue else { return nil }
            let rest = Array(stored[2...])
            switch stored[1] {
            case 1: self = .building(after: nil)
            case 2: self = .building(after: rest)
            case 3: self = .built
            case 4: self = .failed(String(decoding: rest, as: UTF8.self))
            default: return nil
            }
        }

        var stored: EncodedValue {
            let bytes: [UInt8] =
                switch self {
                case .building(nil): [1]
                case .building(let key?): [2] + key
                case .built: [3]
                case .failed(let reason): [4] + Array(reason.utf8)
                }
            return EncodedValue(kind: ValueKind.bytes.rawValue, payload: .bytes(bytes))
        }
    }

    // MARK: Reading

    static func readRoot(_ view: EngineView) throws -> Root {
        guard let found = try view.find(recordKey: root, in: name) else { return Root() }
        return try found.withBytes { bytes in
            do {
                return try JSONDecoder().decode(Root.self, from: Data(bytes.dropFirst()))
            } catch {
                throw RoostError(
                    .decodingFailed, "the list of indexes does not decode", cause: error)
            }
        }
    }

    static func encode(_ root: Root) throws -> EncodedValue {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return EncodedValue(
            kind: ValueKind.bytes.rawValue, payload: .bytes(Array(try encoder.encode(root))))
    }

    /// What the mark of an index says; `nil` where it was taken away.
    static func progress(_ mark: [UInt8], _ view: EngineView) throws -> Progress? {
        guard let found = try view.find(recordKey: mark, in: name) else { return nil }
        return try found.withBytes { Progress(stored: $0) }
    }

    /// Has every write of a dictionary with indexes take their marks away, from the opening on.
    static func guardAtOpening(_ engine: Engine) throws {
        let view = try engine.view()
        defer { view.close() }
        guard try view.find(recordKey: root, in: name) != nil else { return }
        // By their prefixes, as strings take canonically equal names for one.
        var marks: [DictionaryName: Set<[UInt8]>] = [:]
        for index in try readRoot(view).indexes {
            let mark = mark(index.number)
            // One that was taken away does not come back: a new index has another number.
            guard let name = DictionaryName(index.dictionary), try progress(mark, view) != nil
            else { continue }
            marks[name, default: []].insert(mark)
        }
        for (name, marks) in marks { engine.guardWritesAtOpening(of: name, marks: marks) }
    }
}
