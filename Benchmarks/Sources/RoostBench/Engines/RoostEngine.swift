import Roost

/// Roost with the defaults of its public API, but for the durability, which each row names, and as
/// large a cache as the others have.
struct RoostEngine: KeyValueEngine {
    static let name = "roost"
    static let settings = "16 shards, 512 MiB for decoded values, LZ4; reads hand out arrays"
    static let abilities = EngineAbilities(blocks: false)

    let workspace: Workspace

    static func open(at path: String, options: EngineOptions) async throws -> RoostEngine {
        let durability: Durability = options.durability == .process ? .process : .synced
        return RoostEngine(
            workspace: try await Workspace.open(
                at: path + "/workspace",
                configuration: .init(durability: durability, memoryBudgetBytes: 512 << 20)))
    }

    func makeClient() -> Client { Client(bytes: workspace.dictionary("bytes")) }
    func compact() async throws { try await workspace.compact() }
    func close() async throws { try await workspace.close() }

    struct Client: KeyValueClient {
        let bytes: WorkspaceDictionary

        nonisolated(nonsending) func set(_ value: [UInt8], forKey key: String) async throws {
            try await bytes.set(value, forKey: key)
        }

        nonisolated(nonsending) func word(forKey key: String) async throws -> UInt64? {
            guard let value = try bytes.value(forKey: key, as: [UInt8].self) else { return nil }
            return try value.withUnsafeBytes(valueWord)
        }

        nonisolated(nonsending) func setAll(
            _ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>
        ) async throws {
            try await bytes.setAll(zip(keys, values).lazy.map { ($0, $1) })
        }

        nonisolated(nonsending) func scan(
            from key: String?, limit: Int, makesEntries: Bool
        ) async throws -> ScanTotals {
            var totals = ScanTotals()
            if makesEntries {
                let entries = bytes.entries(in: (key ?? "")..., as: [UInt8].self, limit: limit)
                for try await entry in entries { try totals.add(entry) }
            } else {
                try bytes.workspace.read { view in
                    try view.forEachBytes(of: bytes, in: (key ?? "")..., limit: limit) { _, value in
                        try value.withUnsafeBytes { try totals.add($0) }
                    }
                }
            }
            return totals
        }
    }
}
