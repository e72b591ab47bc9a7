import Foundation

/// The `actor LocalRepository` of many apps: items in memory, all of them encoded as JSON and
/// written atomically at each save.
struct JSONRepositoryEngine: KeyValueEngine {
    static let name = "json-actor"
    static let settings = "JSONEncoder, the whole file written beside and renamed at each save"
    static let abilities = EngineAbilities(
        isWholeFile: true, blocks: false, durabilities: [.process])

    private let repository: LocalRepository<[UInt8]>

    static func open(at path: String, options: EngineOptions) throws -> JSONRepositoryEngine {
        JSONRepositoryEngine(repository: try LocalRepository(path: path + "/values.json"))
    }

    func makeClient() -> Client { Client(repository: repository) }
    func compact() {}
    func close() {}

    struct Client: KeyValueClient {
        fileprivate let repository: LocalRepository<[UInt8]>

        nonisolated(nonsending) func set(_ value: [UInt8], forKey key: String) async throws {
            try await repository.save(value, forKey: key)
        }

        nonisolated(nonsending) func word(forKey key: String) async throws -> UInt64? {
            try await repository.find(key)?.withUnsafeBytes(valueWord)
        }

        nonisolated(nonsending) func setAll(
            _ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>
        ) async throws {
            try await repository.saveAll(Array(zip(keys, values)))
        }

        nonisolated(nonsending) func scan(
            from key: String?, limit: Int, makesEntries: Bool
        ) async throws -> ScanTotals {
            var totals = ScanTotals()
            let items = await repository.items
            for name in items.keys.filter({ $0 >= key ?? "" }).sorted().prefix(limit) {
                try items[name]?.withUnsafeBytes { try totals.add($0) }
            }
            return totals
        }
    }
}

actor LocalRepository<Item: Codable & Sendable> {
    private(set) var items: [String: Item]
    private let url: URL

    init(path: String) throws {
        url = URL(fileURLWithPath: path)
        items =
            FileManager.default.fileExists(atPath: path)
            ? try JSONDecoder().decode([String: Item].self, from: Data(contentsOf: url)) : [:]
    }

    func save(_ item: Item, forKey key: String) throws {
        items[key] = item
        try persist()
    }

    func saveAll(_ pairs: [(String, Item)]) throws {
        for (key, item) in pairs { items[key] = item }
        try persist()
    }

    func find(_ key: String) -> Item? { items[key] }

    private func persist() throws {
        try JSONEncoder().encode(items).write(to: url, options: .atomic)
    }
}
