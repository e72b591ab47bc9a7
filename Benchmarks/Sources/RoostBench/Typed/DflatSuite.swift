import Foundation

/// The rows of Dflat's own table, by the names that `--workloads` takes.
enum DflatWorkload: String, CaseIterable, Sendable {
    case insertInt = "insert-int"
    case insertMoreInt = "insert-int-more"
    case readIntHot = "read-int-hot"
    case readIntCold = "read-int-cold"
    /// In a process that begins with it; the opening included.
    case readIntColdProcess = "read-int-cold-process"
    /// 400 keys, 100 times, the first time cold.
    case readFewCold = "read-400-int-cold"
    case updateOne = "update-one-int"
    case insertCodable = "insert-codable"
    case readCodableCold = "read-codable-cold"
    case insertBinary = "insert-binary"
    case readBinaryCold = "read-binary-cold"
}

/// Dflat's table: small typed values, from a task and from the main actor; and its writes once
/// more with each on disk before its call returns.
struct DflatSuite {
    #if Peers
        static let engines: [any TypedEngine.Type] = [
            TypedRoost.self, TypedRoostEnqueue.self, TypedSQLite.self, TypedUserDefaults.self,
            TypedPropertyList.self, TypedRepository.self,
        ]
    #else
        static let engines: [any TypedEngine.Type] = [
            TypedRoost.self, TypedRoostEnqueue.self, TypedUserDefaults.self,
            TypedPropertyList.self, TypedRepository.self,
        ]
    #endif

    var engines: [String]
    var workloads: [DflatWorkload]
    var keyCounts: [Int]
    var rounds: Int
    var directory: String

    static func settings(_ names: [String]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: engines.filter { names.contains($0.name) }
                .map { ($0.name, $0.settings) })
    }

    static func type(named name: String) throws -> any TypedEngine.Type {
        guard let type = engines.first(where: { $0.name == name }) else {
            throw BenchError("no engine \(name) in this suite")
        }
        return type
    }

    /// - Parameter save: Called with all rows so far, after each engine's round.
    func run(_ save: (ReportRows) throws -> Void) async throws {
        var rows = ReportRows()
        let units = engines.flatMap { engine in keyCounts.map { unit(engine, $0) } }
        var progress = Progress(units: Dictionary(uniqueKeysWithValues: units.map { ($0, rounds) }))
        for keys in keyCounts {
            for round in 0..<rounds {
                let begin = round % engines.count
                for engine in engines[begin...] + engines[..<begin] {
                    progress.begin(unit(engine, keys))
                    let samples = try await samples(engine, keys)
                    rows.add(samples, suite: "dflat", engine: engine, keys: keys)
                    try save(rows)
                    progress.end(unit(engine, keys))
                }
            }
        }
    }

    func samples(_ engine: String, _ keys: Int) async throws -> [Sample] {
        try await samples(Self.type(named: engine), keys)
    }

    private func samples<Engine: TypedEngine>(
        _: Engine.Type, _ keys: Int
    ) async throws -> [Sample] {
        #if Peers
            if Engine.self == TypedSQLite.self { return try await session(TypedSQLite.self, keys) }
        #endif
        // Named, so that the sessions are compiled for them.
        if Engine.self == TypedRoost.self { return try await session(TypedRoost.self, keys) }
        if Engine.self == TypedRoostEnqueue.self {
            return try await session(TypedRoostEnqueue.self, keys)
        }
        return try await session(Engine.self, keys)
    }

    private func session<Engine: TypedEngine>(
        _: Engine.Type, _ keys: Int
    ) async throws -> [Sample] {
        var session = DflatSession<Engine>(
            keyCount: keys, wanted: Set(workloads), directory: directory)
        try await session.run(caller: "task")
        try await runOnMainActor(&session)
        return session.samples
    }

    @MainActor
    private func runOnMainActor<Engine: TypedEngine>(
        _ session: inout sending DflatSession<Engine>
    ) async throws {
        try await session.run(caller: "main actor")
    }

    private func unit(_ engine: String, _ keys: Int) -> String { "dflat: \(engine), \(keys) keys" }
}
