import ArgumentParser
import Foundation
import Roost

@main
struct RoostBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost-bench",
        abstract: "Measures Roost beside what else keeps keys and values.",
        subcommands: [
            Suite.self,
            Probe.self,
            Growth.self,
            Single.self,
            OpenOnce.self,
            Coders.self,
            Views.self,
            Scans.self,
            Watch.self,
            Contention.self,
        ],
        defaultSubcommand: Suite.self)
}

/// Puts, overwrites, hot and cold gets at several sizes, each size in a fresh directory.
struct Growth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cost per operation at several numbers of keys.")

    @Option(help: "Numbers of keys, separated by commas.")
    var keys = "100000,1000000"
    @Option(help: "Rounds; medians are printed.")
    var rounds = 3
    @Option(help: "Where the workspaces are made.")
    var directory = NSTemporaryDirectory()
    @Option(help: "Write the rows as JSON to this file.")
    var json: String?

    func run() async throws {
        let sizes = keys.split(separator: ",").compactMap { Int($0) }
        var rows: [Row] = []
        for size in sizes {
            var samples: [String: [Double]] = [:]
            var order: [String] = []
            for round in 1...rounds {
                for row in try await measure(Workload(keyCount: size), round: round) {
                    if samples[row.workload] == nil { order.append(row.workload) }
                    samples[row.workload, default: []].append(row.nanosecondsPerOperation)
                }
            }
            for workload in order {
                let row = Row(
                    workload: workload, keys: size,
                    nanosecondsPerOperation: median(samples[workload]!))
                rows.append(row)
                print(
                    String(
                        format: "%9d keys  %@ %8.0f ns  %10.0f /s", size,
                        workload.padding(toLength: 24, withPad: " ", startingAt: 0),
                        row.nanosecondsPerOperation, row.opsPerSecond))
            }
        }
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(rows).write(to: URL(fileURLWithPath: json))
        }
    }

    private func measure(_ workload: Workload, round: Int) async throws -> [Row] {
        let path = "\(directory)/roost-bench-\(UUID().uuidString)"
        defer {
            do { try FileManager.default.removeItem(atPath: path) } catch {
                FileHandle.standardError.write(Data("could not remove \(path): \(error)\n".utf8))
            }
        }
        var rows: [Row] = []
        func note(_ name: String, _ nanoseconds: Double) {
            rows.append(
                Row(workload: name, keys: workload.keyCount, nanosecondsPerOperation: nanoseconds))
        }
        let configuration = Workspace.Configuration(durability: .process)
        var workspace = try await Workspace.open(at: path, configuration: configuration)
        var bytes = workspace.dictionary("bytes")
        note("sequential put", try await Self.putAll(workload, 0..<workload.keyCount, bytes))
        note("random overwrite", try await Self.putAll(workload, workload.shuffledIndices(), bytes))
        note("random get", try await Self.getAll(workload, bytes))
        let begin = ContinuousClock().now
        try await workspace.compact()
        let spent = ContinuousClock().now - begin
        note(
            "compact, per key",
            Double(spent.components.attoseconds) / 1e9 / Double(workload.keyCount) + Double(
                spent.components.seconds) * 1e9 / Double(workload.keyCount))
        try await workspace.close()
        let openBegin = ContinuousClock().now
        workspace = try await Workspace.open(at: path, configuration: configuration)
        note("open", Double((ContinuousClock().now - openBegin).components.attoseconds) / 1e9)
        bytes = workspace.dictionary("bytes")
        note("random cold get", try await Self.getAll(workload, bytes))
        note("absent get", try await Self.getAbsent(workload.absent, bytes))
        try await workspace.close()
        try FileManager.default.removeItem(atPath: path)
        workspace = try await Workspace.open(at: path, configuration: configuration)
        note(
            "random put",
            try await Self.putAll(
                workload, workload.shuffledIndices(), workspace.dictionary("bytes")))
        try await workspace.close()
        return rows
    }

    /// Keys and values are made outside the time that is taken, a stretch at a time, so short that
    /// they are still in the processor's cache, as those are that a caller has just made.
    private static func timed(
        _ indices: some Sequence<Int>, _ workload: Workload,
        _ body: ([String], [[UInt8]]) async throws -> Void
    ) async throws -> Double {
        var total = 0.0
        var count = 0
        var iterator = indices.makeIterator()
        while true {
            var stretch: [Int] = []
            while stretch.count < 1_000, let index = iterator.next() { stretch.append(index) }
            if stretch.isEmpty { return total / Double(count) }
            let keys = stretch.map(workload.key)
            let values = stretch.map { workload.value($0) }
            total += try await nanoseconds(per: 1) { try await body(keys, values) }
            count += stretch.count
        }
    }

    private static func putAll(
        _ workload: Workload, _ indices: some Sequence<Int>, _ bytes: WorkspaceDictionary
    ) async throws -> Double {
        try await timed(indices, workload) { keys, values in
            for index in keys.indices { try await bytes.set(values[index], forKey: keys[index]) }
        }
    }

    private static func getAll(
        _ workload: Workload, _ bytes: WorkspaceDictionary
    ) async throws -> Double {
        try await timed(workload.shuffledIndices().prefix(1_000_000), workload) { keys, _ in
            var found = 0
            for key in keys where try bytes.value(forKey: key, as: [UInt8].self)?.count == 100 {
                found += 1
            }
            precondition(found == keys.count, "every key has its value")
        }
    }

    private static func getAbsent(
        _ workload: Workload, _ bytes: WorkspaceDictionary
    ) async throws -> Double {
        try await timed(workload.shuffledIndices().prefix(1_000_000), workload) { keys, _ in
            var found = 0
            for key in keys where try bytes.contains(key) { found += 1 }
            precondition(found == 0, "no key has a value")
        }
    }
}

/// Opens a workspace once and reads one key: for looking at from outside.
struct OpenOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open a workspace and read one key; print time, bytes read and memory.")

    @Argument var path: String
    @Option var key = "k000000000000001"

    func run() async throws {
        let before = bytesReadFromDisk()
        let begin = ContinuousClock().now
        let workspace = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        let opened = ContinuousClock().now
        let value = try workspace.dictionary("bytes").value(forKey: key, as: [UInt8].self)
        let read = ContinuousClock().now
        let after = bytesReadFromDisk()
        print("open \(opened - begin), first value \(read - opened), \(value?.count ?? -1) bytes")
        if let before, let after { print("read from disk: \((after - before) / 1024) KiB") }
        print(
            "RssAnon \(memoryKiB("RssAnon") ?? -1) KiB, RssFile \(memoryKiB("RssFile") ?? -1) KiB")
        try await workspace.close()
    }
}
