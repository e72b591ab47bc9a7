/// Something done with an engine's type, compiled for each of them, so that no call on the way to
/// an operation is looked up at run time.
protocol EngineVisitor {
    associatedtype Result

    func visit<Engine: KeyValueEngine>(_ engine: Engine.Type) async throws -> Result
}

enum EngineRegistry {
    #if Peers
        static let peers: [any KeyValueEngine.Type] = [
            SQLiteEngine.self, LMDBEngine.self, LMDBWriteMapEngine.self, RocksDBEngine.self,
            LevelDBEngine.self, TkrzwEngine.self,
        ]
    #else
        static let peers: [any KeyValueEngine.Type] = []
    #endif

    static let wholeFile: [any KeyValueEngine.Type] = [
        PropertyListEngine.self, UserDefaultsEngine.self, JSONRepositoryEngine.self,
    ]

    static let all: [any KeyValueEngine.Type] = [RoostEngine.self] + peers + wholeFile

    static func type(named name: String) throws -> any KeyValueEngine.Type {
        guard let type = all.first(where: { $0.name == name }) else {
            let known = all.map { $0.name }.joined(separator: ", ")
            throw BenchError("no engine \(name); there are \(known)")
        }
        return type
    }

    static func visit<Visitor: EngineVisitor>(
        _ name: String, _ visitor: Visitor
    ) async throws -> Visitor.Result {
        switch name {
        case RoostEngine.name: return try await visitor.visit(RoostEngine.self)
        case PropertyListEngine.name: return try await visitor.visit(PropertyListEngine.self)
        case UserDefaultsEngine.name: return try await visitor.visit(UserDefaultsEngine.self)
        case JSONRepositoryEngine.name: return try await visitor.visit(JSONRepositoryEngine.self)
        default: break
        }
        #if Peers
            switch name {
            case SQLiteEngine.name: return try await visitor.visit(SQLiteEngine.self)
            case LMDBEngine.name: return try await visitor.visit(LMDBEngine.self)
            case LMDBWriteMapEngine.name: return try await visitor.visit(LMDBWriteMapEngine.self)
            case RocksDBEngine.name: return try await visitor.visit(RocksDBEngine.self)
            case LevelDBEngine.name: return try await visitor.visit(LevelDBEngine.self)
            case TkrzwEngine.name: return try await visitor.visit(TkrzwEngine.self)
            default: break
            }
        #endif
        return try await visitor.visit(type(named: name))
    }
}
