import Foundation

/// Objects with indexes and queries beside GRDB: docs/BENCHMARKS.md, "Objects".
struct ObjectsSuite {
    static let name = "objects"
    #if Peers
        static let engines: [any LiveObjectEngine.Type] = [
            RoostObjects<CodablePost>.self, RoostObjects<BinaryPost>.self, GRDBObjects.self,
        ]
    #else
        static let engines: [any LiveObjectEngine.Type] = [
            RoostObjects<CodablePost>.self, RoostObjects<BinaryPost>.self,
        ]
    #endif

    var engines: [String]
    var workloads: [ObjectWorkload]
    var objectCounts: [Int]
    var rounds: Int
    var operations: Int
    var directory: String

    static func settings(_ names: [String]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: engines.filter { names.contains($0.name) }
                .map { ($0.name, $0.settings) })
    }

    /// - Parameter save: Called with all rows so far, after each engine's round.
    func run(_ save: (ReportRows) throws -> Void) async throws {
        var rows = ReportRows()
        let units = engines.flatMap { engine in objectCounts.map { unit(engine, $0) } }
        var progress = Progress(units: Dictionary(uniqueKeysWithValues: units.map { ($0, rounds) }))
        for count in objectCounts {
            for round in 0..<rounds {
                // Each round begins with another engine.
                let begin = round % engines.count
                for engine in engines[begin...] + engines[..<begin] {
                    progress.begin(unit(engine, count))
                    rows.add(
                        try await samples(engine, count), suite: Self.name, engine: engine,
                        keys: count)
                    if workloads.contains(.insertInt), count == objectCounts[0] {
                        rows.add(
                            try await yardstick(engine), suite: Self.name, engine: engine,
                            keys: ObjectWorkload.yardstickCount)
                    }
                    try save(rows)
                    progress.end(unit(engine, count))
                }
            }
        }
    }

    private func samples(_ engine: String, _ count: Int) async throws -> [Sample] {
        // Named, so that the sessions are compiled for them.
        switch engine {
        case RoostObjects<CodablePost>.name:
            try await session(RoostObjects<CodablePost>.self, count)
        case RoostObjects<BinaryPost>.name:
            try await session(RoostObjects<BinaryPost>.self, count)
        #if Peers
            case GRDBObjects.name: try await session(GRDBObjects.self, count)
        #endif
        default: throw BenchError("no engine \(engine) in this suite")
        }
    }

    private func session<Engine: LiveObjectEngine>(
        _: Engine.Type, _ count: Int
    ) async throws -> [Sample] {
        var session = ObjectSession<Engine>(
            count: count, wanted: Set(workloads), operations: operations, directory: directory)
        try await session.run()
        guard count == LiveSession<Engine>.objectCount else { return session.samples }
        var live = LiveSession<Engine>(wanted: Set(workloads), directory: directory)
        try await live.run()
        return session.samples + live.samples
    }

    /// The row of Dflat's table by which its figures are scaled, measured as there.
    private func yardstick(_ engine: String) async throws -> [Sample] {
        guard DflatSuite.engines.contains(where: { $0.name == engine }) else { return [] }
        let suite = DflatSuite(
            engines: [engine], workloads: [.insertInt],
            keyCounts: [ObjectWorkload.yardstickCount], rounds: 1, directory: directory)
        return try await suite.samples(engine, ObjectWorkload.yardstickCount)
            .filter { $0.place.caller == "task" && $0.place.durability == .process }
    }

    private func unit(_ engine: String, _ count: Int) -> String {
        "\(Self.name): \(engine), \(count) objects"
    }
}
