import Roost

/// Roost as code uses it that cannot suspend, such as a button's action: `enqueue`, whose writes
/// readers see at once, and `synchronize` at the end, after which they are on disk.
struct TypedRoostEnqueue: TypedEngine {
    static let name = "roost-enqueue"
    static let settings = "as roost; enqueue, and synchronize at the end of each row"
    static let kinds = TypedRoost.kinds
    static let isWholeFile = false
    static let durabilities: Set<RowDurability> = [.process]

    let engine: TypedRoost

    static func open(at path: String, durability: RowDurability) async throws -> TypedRoostEnqueue {
        TypedRoostEnqueue(engine: try await TypedRoost.open(at: path, durability: durability))
    }

    nonisolated(nonsending) func set<Value: TypedValue>(
        _ value: Value, forKey key: String
    ) async throws {
        try value.enqueue(forKey: key, in: engine.values)
    }

    nonisolated(nonsending) func value<Value: TypedValue>(
        forKey key: String, as type: Value.Type
    ) async throws -> Value? {
        try Value.value(forKey: key, in: engine.values)
    }

    nonisolated(nonsending) func setAll<Value: TypedValue>(
        _ pairs: [(String, Value)]
    ) async throws {
        try await engine.setAll(pairs)
    }

    func finishWrites() async throws { try await engine.workspace.synchronize() }
    func close() async throws { try await engine.close() }
}
