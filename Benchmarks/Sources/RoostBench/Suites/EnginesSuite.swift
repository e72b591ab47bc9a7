import Foundation

/// How many keys a workload has, and how long their values are.
struct WorkloadSize {
    var keyCount: Int
    var valueSizeBytes = 100

    /// Values of several sizes: as many keys as make 512 MiB, 100,000 at most.
    static let values = [8, 1 << 10, 64 << 10, 1 << 20].map { size in
        WorkloadSize(keyCount: min(100_000, (512 << 20) / size), valueSizeBytes: size)
    }
}

/// A number of bytes as people write it: `64 KiB`.
struct ByteCount: CustomStringConvertible {
    let description: String

    init(_ count: Int) {
        description =
            count >= 1 << 20 && count % (1 << 20) == 0
            ? "\(count >> 20) MiB"
            : count >= 1 << 10 && count % (1 << 10) == 0 ? "\(count >> 10) KiB" : "\(count) B"
    }
}

/// The engines' table: all workloads over all engines, a round of each engine after another, so
/// that what else the machine does falls on all of them.
struct EnginesSuite {
    var name = "engines"
    var engines: [String]
    var workloads: Set<EngineWorkload>
    var workloadSizes: [WorkloadSize]
    var rounds: Int
    var operations: Int
    var directory: String

    /// - Parameter save: Called with all rows so far, after each engine's round.
    func run(_ save: (ReportRows) throws -> Void) async throws {
        var rows = ReportRows()
        var units: [String: Int] = [:]
        for size in workloadSizes {
            for engine in engines where runs(engine, size) { units[unit(engine, size)] = rounds }
        }
        var progress = Progress(units: units)
        for size in workloadSizes {
            let workload = Workload(
                keyCount: size.keyCount, valueSizeBytes: size.valueSizeBytes)
            let zipfian = Zipfian(count: size.keyCount)
            for round in 0..<rounds {
                // Each round begins with another engine.
                let begin = round % engines.count
                for engine in engines[begin...] + engines[..<begin] where runs(engine, size) {
                    progress.begin(unit(engine, size))
                    let samples = try await EngineRegistry.visit(
                        engine,
                        SessionVisitor(
                            suite: self, workload: workload, round: round, zipfian: zipfian))
                    rows.add(samples, suite: name, engine: engine, keys: size.keyCount)
                    try save(rows)
                    progress.end(unit(engine, size))
                }
            }
        }
    }

    private func unit(_ engine: String, _ size: WorkloadSize) -> String {
        "\(name): \(engine), \(size.keyCount) keys of \(ByteCount(size.valueSizeBytes))"
    }

    /// Whole-file engines take a second for each set of a hundred thousand keys and more.
    private func runs(_ engine: String, _ size: WorkloadSize) -> Bool {
        size.keyCount <= 100_000 || !EngineRegistry.wholeFile.contains { $0.name == engine }
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
