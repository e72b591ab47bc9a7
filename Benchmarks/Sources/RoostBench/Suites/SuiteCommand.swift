import ArgumentParser
import Foundation

/// Runs the suites over the engines and reports.
struct Suite: AsyncParsableCommand {
    enum Name: String, ExpressibleByArgument, CaseIterable {
        case dflat, engines, growth, objects, values
    }

    static let configuration = CommandConfiguration(
        abstract: "Run a suite of workloads over several engines, interleaved, and compare.")

    @Option(
        help: """
            dflat: small typed values; engines: 100-byte values; growth: cost by size; objects: \
            queries and indexes; values: values of 8 bytes to 1 MiB.
            """)
    var suite = Name.growth
    @Option(help: "Engines, separated by commas; all that are built where it is left out.")
    var engines: String?
    @Option(help: "Workloads, separated by commas; all of the suite's where it is left out.")
    var workloads: String?
    @Option(help: "Numbers of keys, separated by commas.")
    var keys: String?
    @Option(help: "Rounds; medians with the least and the most are reported.")
    var rounds = 5
    @Option(help: "Operations of a workload that does not go over all keys.")
    var operations = 1_000_000
    @Option(help: "Where the stores are made.")
    var directory = NSTemporaryDirectory()
    @Option(help: "Write machine and rows as JSON to this file.")
    var json: String?

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds is at least 1") }
        guard operations > 0 else { throw ValidationError("--operations is at least 1") }
    }

    func run() async throws {
        let engines = try chosenEngines()
        printSettings(engines)
        var rows = ReportRows()
        // Written after each round, so that a run that is ended leaves what it has.
        let save = { (soFar: ReportRows) in
            rows = soFar
            if let json { try write(soFar.rows, engines, to: json) }
        }
        switch suite {
        case .dflat:
            try await DflatSuite(
                engines: engines,
                workloads: try chosen(DflatWorkload.self) ?? DflatWorkload.allCases,
                keyCounts: try keyCounts([40_000]), rounds: rounds, directory: directory
            ).run(save)
        case .objects:
            try await ObjectsSuite(
                engines: engines,
                workloads: try chosen(ObjectWorkload.self) ?? ObjectWorkload.allCases,
                objectCounts: try keyCounts([10_000, 100_000]), rounds: rounds,
                operations: operations, directory: directory
            ).run(save)
        case .engines, .growth, .values:
            let usualWorkloads =
                switch suite {
                case .growth: EngineWorkload.growth
                case .values: EngineWorkload.onValues
                default: Set(EngineWorkload.allCases)
                }
            let workloads = try chosen(EngineWorkload.self).map(Set.init) ?? usualWorkloads
            try await EnginesSuite(
                name: suite.rawValue, engines: engines, workloads: workloads,
                workloadSizes: try workloadSizes(), rounds: rounds, operations: operations,
                directory: directory
            ).run(save)
        }
        print(ReportTable(rows: rows.rows).text())
    }

    private func chosenEngines() throws -> [String] {
        let known =
            switch suite {
            case .dflat: DflatSuite.engines.map { $0.name }
            case .objects: ObjectsSuite.engines.map { $0.name }
            case .engines, .growth: EngineRegistry.all.map { $0.name }
            case .values: [RoostEngine.name] + EngineRegistry.peers.map { $0.name }
            }
        guard let engines else {
            return suite == .growth ? [RoostEngine.name] : known
        }
        let names = engines.split(separator: ",").map(String.init)
        for name in names where !known.contains(name) {
            throw ValidationError(
                "no engine \(name) in this suite; there are \(known.joined(separator: ", "))"
                    + (EngineRegistry.peers.isEmpty ? "; more with --traits Peers" : ""))
        }
        return names
    }

    private func chosen<Workload: RawRepresentable<String> & CaseIterable>(
        _: Workload.Type
    ) throws -> [Workload]? {
        try workloads?.split(separator: ",").map { name in
            guard let workload = Workload(rawValue: String(name)) else {
                let known = Workload.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("no workload \(name) in this suite; there are \(known)")
            }
            return workload
        }
    }

    private func keyCounts(_ usual: [Int]) throws -> [Int] {
        try keys?.split(separator: ",").map { text in
            guard let count = Int(text), count >= 100 else {
                throw ValidationError("--keys takes numbers of at least 100")
            }
            return count
        } ?? usual
    }

    /// Of the suites over the engines.
    private func workloadSizes() throws -> [WorkloadSize] {
        guard suite == .values else {
            let usual = suite == .growth ? [10_000, 100_000, 1_000_000] : [100_000, 1_000_000]
            return try keyCounts(usual).map { WorkloadSize(keyCount: $0) }
        }
        guard keys != nil else { return WorkloadSize.values }
        let most = try keyCounts([]).max() ?? 0
        return WorkloadSize.values.map { size in
            WorkloadSize(
                keyCount: min(size.keyCount, most), valueSizeBytes: size.valueSizeBytes)
        }
    }

    private func settings(_ engines: [String]) -> [String: String] {
        switch suite {
        case .dflat: DflatSuite.settings(engines)
        case .objects: ObjectsSuite.settings(engines)
        case .engines, .growth, .values:
            Dictionary(
                uniqueKeysWithValues: EngineRegistry.all.filter { engines.contains($0.name) }
                    .map { ($0.name, $0.settings) })
        }
    }

    private func printSettings(_ engines: [String]) {
        let settings = settings(engines)
        for engine in engines { print("\(engine): \(settings[engine] ?? "")") }
        print("~ marks figures of fewer operations than the row has.")
    }

    private func write(_ rows: [ReportRow], _ engines: [String], to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let report = Report(machine: .current(), engines: settings(engines), rows: rows)
        try (encoder.encode(report) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
    }
}
