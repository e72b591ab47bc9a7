import Foundation
import Roost
import RoostTestSupport
import Testing

/// What a workspace should hold, and the random steps that change both alike.
struct Model: Sendable {
    /// A value of one of the kinds that can be stored.
    enum Value: Equatable, Sendable {
        case int(Int)
        case text(String)
        case bytes([UInt8])
        case list([String])
    }

    struct Place: Hashable, Sendable {
        var dictionary: String
        var key: [UInt8]
    }

    static let dictionaries = ["", "a", "ab", "users"]
    static let keys: [String] =
        ["", "\0", "\0\0", "a", "a\0", "ab", "abc", "abd", "caf\u{e9}", "cafe\u{301}", "zz"]
        + (0..<30).map { "key-\($0)" } + [String(repeating: "k", count: 65_536)]

    var random: SeededGenerator
    var values: [Place: Value] = [:]

    mutating func anyKey() -> String { Self.keys[random.below(Self.keys.count)] }
    mutating func anyDictionary() -> String { Self.dictionaries[random.below(4)] }

    mutating func anyValue() -> Value {
        switch random.below(12) {
        case 0: .bytes(random.bytes(random.below(20_000)))
        case 1: .bytes([UInt8](repeating: 3, count: 200_000 + random.below(400_000)))
        case 2: .list((0..<random.below(20)).map { "item \($0)" })
        case 3, 4, 5: .int(random.below(1_000) - 500)
        default: .text("some text that is alike in many, number \(random.below(50))")
        }
    }

    mutating func anyDurability() -> Durability? {
        [nil, nil, nil, .process, .interval(.milliseconds(2)), .synced][random.below(6)]
    }

    mutating func set(_ value: Value?, _ dictionary: String, _ key: String) {
        values[Place(dictionary: dictionary, key: Array(key.utf8))] = value
    }

    mutating func clear(_ dictionary: String) {
        values = values.filter { $0.key.dictionary != dictionary }
    }

    func value(_ dictionary: String, _ key: String) -> Value? {
        values[Place(dictionary: dictionary, key: Array(key.utf8))]
    }

    func keys(of dictionary: String) -> [[UInt8]] {
        values.keys.filter { $0.dictionary == dictionary }.map(\.key)
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension WorkspaceDictionary {
    func set(_ value: Model.Value, _ key: String, _ durability: Durability?) async throws {
        switch value {
        case .int(let value): try await set(value, forKey: key, durability: durability)
        case .text(let value): try await set(value, forKey: key, durability: durability)
        case .bytes(let value): try await set(value, forKey: key, durability: durability)
        case .list(let value): try await set(value, forKey: key, durability: durability)
        }
    }

    func enqueue(_ value: Model.Value, _ key: String) {
        switch value {
        case .int(let value): enqueue(value, forKey: key)
        case .text(let value): enqueue(value, forKey: key)
        case .bytes(let value): enqueue(value, forKey: key)
        case .list(let value): enqueue(value, forKey: key)
        }
    }

    /// Whether `key` reads as `expected`, as its type and not as another.
    func holds(_ expected: Model.Value?, _ key: String) async throws -> Bool {
        switch expected {
        case nil: try value(forKey: key, as: Int.self) == nil && !contains(key)
        case .int(let value): try await load(key, as: Int.self) == value
        case .text(let value): try self[key, as: String.self] == value
        case .bytes(let value): try self[key, as: [UInt8].self] == value
        case .list(let value): try await load(key, as: [String].self) == value
        }
    }
}

extension WriteBatch {
    mutating func set(_ value: Model.Value, _ key: String, _ dictionary: WorkspaceDictionary) {
        switch value {
        case .int(let value): set(value, forKey: key, in: dictionary)
        case .text(let value): set(value, forKey: key, in: dictionary)
        case .bytes(let value): set(value, forKey: key, in: dictionary)
        case .list(let value): set(value, forKey: key, in: dictionary)
        }
    }
}
