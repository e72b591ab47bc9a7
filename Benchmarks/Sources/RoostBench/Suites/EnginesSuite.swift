import Foundation

/// The engines' table: all workloads over all engines, a round of each engine after another, so
/// that what else the machine does falls on all of them.
struct EnginesSuite {
    var name = "engines"
    var engines: [String]
    var workloads: Set<EngineWorkload>
    var keyCounts: [Int]
    var rounds: Int
    var operations: Int
    var directory: String

    /// - Parameter save: Called with all rows so far, after each engine's round.
    func run(_ save: (ReportRows) throws -> Void) async throws {
        var rows = ReportRows()
        var units: [String: Int] = [:]
        for keys in keyCounts {
            for engine in engines where runs(engine, keys) { units[unit(engine, keys)] = rounds }
        }
        var progress = Progress(units: units)
        for keys in keyCounts {
            let workload = Workload(keyCount: keys)
            let zipfian = Zipfian(count: keys)
            for round in 0..<rounds {
                // Each round begins with another engine.
                let begin = round % engines.count
                for engine in engines[begin...] + engines[..<begin] where runs(engine, keys) {
                    progress.begin(unit(engine, keys))
                    let samples = try await EngineRegistry.visit(
                        engine,
                        SessionVisitor(
                            suite: self, workload: workload, round: round, zipfian: zipfian))
                    rows.add(samples, suite: name, engine: engine, keys: keys)
                    try save(rows)
                    progress.end(unit(engine, keys))
                }
            }
        }
    }

    private func unit(_ engine: String, _ keys: Int) -> String {
        "\(name): \(engine), \(keys) keys"
    }

    /// Whole-file engines take a second for each set of a hundred thousand keys and more.
    private func runs(_ engine: String, _ keys: Int) -> Bool {
        keys <= 100_000 || !EngineRegistry.wholeFile.contains { $0.name == engine }
    }
}

private struct SessionVisitor: EngineVisitor {
    let suite: EnginesSuite
    let workload: Workload
    let round: Int
    let zipfian: Zipfian

    func visit<Engine: KeyValueEngine>(_: Engine.Type) async throws -> [Sample] {
        var session = EngineSession<Engine>(
            workload: workload, wanted: suite.workloads, operations: suite.operations,
            directory: suite.directory, round: round, zipfian: zipfian)
        return try await session.run()
    }
}
