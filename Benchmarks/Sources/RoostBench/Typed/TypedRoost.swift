import Roost

struct TypedRoost: TypedEngine {
    static let name = RoostEngine.name
    static let settings = "16 shards, 64 MiB for decoded values, LZ4, the default coder"
    static let kinds: Set<ValueKind> = [.int, .codable, .binary]
    static let isWholeFile = false
    static let durabilities: Set<RowDurability> = [.process, .synced]

    let workspace: Workspace
    let values: WorkspaceDictionary

    static func open(at path: String, durability: RowDurability) async throws -> TypedRoost {
        let workspace = try await Workspace.open(
            at: path + "/workspace",
            configuration: .init(durability: durability == .process ? .process : .synced))
        return TypedRoost(workspace: workspace, values: workspace.dictionary("values"))
    }

    nonisolated(nonsending) func set<Value: TypedValue>(
        _ value: Value, forKey key: String
    ) async throws {
        try await value.set(forKey: key, in: values)
    }

    nonisolated(nonsending) func value<Value: TypedValue>(
        forKey key: String, as type: Value.Type
    ) async throws -> Value? {
        try Value.value(forKey: key, in: values)
    }

    nonisolated(nonsending) func setAll<Value: TypedValue>(
        _ pairs: [(String, Value)]
    ) async throws {
        for (key, value) in pairs { try await value.set(forKey: key, in: values) }
    }

    func close() async throws { try await workspace.close() }
}
