import Foundation
import Synchronization

/// A whole-file property list of integers.
final class TypedPropertyList: TypedEngine {
    static let name = PropertyListEngine.name
    static let settings = PropertyListEngine.settings
    static let kinds: Set<ValueKind> = [.int]
    static let isWholeFile = true
    static let durabilities: Set<RowDurability> = [.process]

    private let url: URL
    private let values: Mutex<[String: Int]>

    private init(url: URL, values: [String: Int]) {
        self.url = url
        self.values = Mutex(values)
    }

    static func open(at path: String, durability: RowDurability) throws -> TypedPropertyList {
        let url = URL(fileURLWithPath: path + "/values.plist")
        guard FileManager.default.fileExists(atPath: url.path) else {
            return TypedPropertyList(url: url, values: [:])
        }
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: url), format: nil)
        guard let values = list as? [String: Int] else { throw BenchError("no such list") }
        return TypedPropertyList(url: url, values: values)
    }

    func set<Value: TypedValue>(_ value: Value, forKey key: String) throws {
        try setAll([(key, value)])
    }

    func value<Value: TypedValue>(forKey key: String, as type: Value.Type) throws -> Value? {
        values.withLock { $0[key] } as? Value
    }

    func setAll<Value: TypedValue>(_ pairs: [(String, Value)]) throws {
        try values.withLock { values in
            for (key, value) in pairs { values[key] = value as? Int }
            try PropertyListSerialization.data(
                fromPropertyList: values, format: .binary, options: 0
            ).write(to: url, options: .atomic)
        }
    }

    func close() {}
}

/// `UserDefaults` with integers.
///
/// `@unchecked Sendable`: as `UserDefaultsEngine`.
final class TypedUserDefaults: TypedEngine, @unchecked Sendable {
    static let name = UserDefaultsEngine.name
    static let settings = UserDefaultsEngine.settings
    static let kinds: Set<ValueKind> = [.int]
    static let isWholeFile = true
    static let durabilities: Set<RowDurability> = [.process]

    private let defaults: UserDefaults
    private let domain: String

    private init(_ defaults: UserDefaults, _ domain: String) {
        self.defaults = defaults
        self.domain = domain
    }

    static func open(at path: String, durability: RowDurability) throws -> TypedUserDefaults {
        let domain = UserDefaultsEngine.domain(path)
        guard let defaults = UserDefaults(suiteName: domain) else { throw BenchError("no suite") }
        return TypedUserDefaults(defaults, domain)
    }

    func set<Value: TypedValue>(_ value: Value, forKey key: String) throws {
        defaults.set(value, forKey: key)
        try defaults.synchronizeOrThrow()
    }

    func value<Value: TypedValue>(forKey key: String, as type: Value.Type) throws -> Value? {
        guard defaults.object(forKey: key) != nil else { return nil }
        return defaults.integer(forKey: key) as? Value
    }

    func setAll<Value: TypedValue>(_ pairs: [(String, Value)]) throws {
        try defaults.setAll(pairs.lazy.map { ($0, $1) }, domain: domain)
    }

    func close() throws { try defaults.synchronizeOrThrow() }
}

/// The JSON actor with a repository for each type, as apps have one for each.
struct TypedRepository: TypedEngine {
    static let name = JSONRepositoryEngine.name
    static let settings = JSONRepositoryEngine.settings
    static let kinds: Set<ValueKind> = [.int, .codable]
    static let isWholeFile = true
    static let durabilities: Set<RowDurability> = [.process]

    private let integers: LocalRepository<Int>
    private let records: LocalRepository<CodableRecord>

    static func open(at path: String, durability: RowDurability) throws -> TypedRepository {
        TypedRepository(
            integers: try LocalRepository(path: path + "/integers.json"),
            records: try LocalRepository(path: path + "/records.json"))
    }

    nonisolated(nonsending) func set<Value: TypedValue>(
        _ value: Value, forKey key: String
    ) async throws {
        if let value = value as? Int { return try await integers.save(value, forKey: key) }
        guard let value = value as? CodableRecord else { throw BenchError("no such repository") }
        try await records.save(value, forKey: key)
    }

    nonisolated(nonsending) func value<Value: TypedValue>(
        forKey key: String, as type: Value.Type
    ) async throws -> Value? {
        if type == Int.self { return await integers.find(key) as? Value }
        return await records.find(key) as? Value
    }

    nonisolated(nonsending) func setAll<Value: TypedValue>(
        _ pairs: [(String, Value)]
    ) async throws {
        if let pairs = pairs as? [(String, Int)] { return try await integers.saveAll(pairs) }
        guard let pairs = pairs as? [(String, CodableRecord)] else {
            throw BenchError("no such repository")
        }
        try await records.saveAll(pairs)
    }

    func close() {}
}
