import ArgumentParser
import Foundation
import Roost

/// Ordered scans, short and long, of what is in the log, of what is compacted, and of both.
struct Scans: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Measure ordered scans by the processor's time, which other programs disturb least.")

    @Option(help: "Keys in the workspace.")
    var keys = 100_000
    @Option(help: "Short scans of each kind.")
    var count = 2_000
    @Option(help: "Rounds; the least of each figure is printed.")
    var rounds = 5
    @Option(help: "Shards, a power of two.")
    var shards = 16
    @Option(help: "Only states and kinds whose name contains this.")
    var only = ""
    @Option(help: "Where the workspace is made.")
    var directory = NSTemporaryDirectory()

    func run() async throws {
        let path = "\(directory)/roost-bench-\(UUID().uuidString)"
        let workload = Workload(keyCount: keys)
        let workspace = try await Workspace.open(
            at: path, configuration: .init(shardCount: shards, durability: .process))
        let bytes = workspace.dictionary("bytes")
        try await bytes.setAll(
            workload.shuffledIndices().lazy.map { (workload.key($0), workload.value($0)) })
        try await measure(workspace, bytes, workload, "in the log")
        try await workspace.compact()
        try await measure(workspace, bytes, workload, "compacted")
        // Every twentieth key again, so that the log lies over the snapshots.
        for index in stride(from: 0, to: keys, by: 20) {
            try await bytes.set(workload.value(index), forKey: workload.key(index))
        }
        try await measure(workspace, bytes, workload, "both")
        try await workspace.close()
        try FileManager.default.removeItem(atPath: path)
    }

    private func measure(
        _ workspace: Workspace, _ bytes: WorkspaceDictionary, _ workload: Workload,
        _ state: String
    ) async throws {
        let picked = workload.shuffledIndices().prefix(count).map(workload.key)
        try await note("first key, \(state)", per: picked.count) {
            for key in picked {
                for try await _ in bytes.keys(in: key..., limit: 1) {}
            }
        }
        try await note("50 entries, \(state)", per: picked.count) {
            for key in picked {
                for try await _ in bytes.entries(in: key..., as: [UInt8].self, limit: 50) {}
            }
        }
        try await note("20 entries by page, \(state)", per: picked.count) {
            for key in picked {
                _ = try bytes.page(after: key, as: [UInt8].self, limit: 20)
            }
        }
        try await note("20 entries by page, main actor, \(state)", per: picked.count) {
            try await Self.pagesOnMainActor(bytes, picked)
        }
        try await note("1-100 entries among inserts, \(state)", per: picked.count) {
            for (index, key) in picked.enumerated() {
                let limit = 1 + index % 100
                for try await _ in bytes.entries(in: key..., as: [UInt8].self, limit: limit) {}
                if index % 20 == 0 {
                    try await bytes.set(workload.value(index), forKey: "\(key)-\(index)")
                }
            }
        }
        for order in [ScanOrder.ascending, .descending] {
            try await note("all keys, \(state), \(order)", per: keys) {
                for try await _ in bytes.keys(prefix: "", order: order) {}
            }
        }
        try await note("all entries, \(state)", per: keys) {
            for try await _ in bytes.entries(as: [UInt8].self) {}
        }
        try await note("a view, \(state)", per: picked.count) {
            for _ in picked { try workspace.readView().close() }
        }
    }

    @MainActor private static func pagesOnMainActor(
        _ bytes: WorkspaceDictionary, _ keys: [String]
    ) throws {
        for key in keys { _ = try bytes.page(after: key, as: [UInt8].self, limit: 20) }
    }

    private func note(_ name: String, per count: Int, _ body: () async throws -> Void) async throws
    {
        guard only.isEmpty || name.contains(only) else { return }
        var least = Double.infinity
        for _ in 0..<rounds {
            let begin = processSeconds()
            try await body()
            least = min(least, (processSeconds() - begin) * 1e9 / Double(count))
        }
        print(
            String(
                format: "%@ %12.0f ns  %12.0f /s",
                name.padding(toLength: 44, withPad: " ", startingAt: 0), least, 1e9 / least))
    }
}
