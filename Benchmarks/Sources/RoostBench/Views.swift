import ArgumentParser
import Foundation
import Roost

/// What is consistent over several keys: read views, transactions, updates, ordered scans, counts.
struct Views: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure read views, transactions, updates, ordered scans and counts.")

    @Option(help: "Keys in the workspace.")
    var keys = 1_000_000
    @Option(help: "Transactions and the like, of each kind.")
    var count = 100_000
    @Option(help: "Where the workspace is made.")
    var directory = NSTemporaryDirectory()

    func run() async throws {
        let path = "\(directory)/roost-bench-\(UUID().uuidString)"
        let workload = Workload(keyCount: keys)
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: .process))
        let bytes = workspace.dictionary("bytes")
        try await bytes.setAll(
            (0..<keys).lazy.map { (workload.key($0), workload.value($0)) })
        try await scans(workspace, bytes, "in the log")
        try await views(workspace, bytes, workload)
        try await transactions(workspace, bytes, workload)
        try await workspace.compact()
        try await scans(workspace, bytes, "compacted")
        try await workspace.close()
        try FileManager.default.removeItem(atPath: path)
    }

    private func note(_ name: String, _ nanoseconds: Double) {
        print(
            String(
                format: "%@ %12.0f ns  %12.0f /s",
                name.padding(toLength: 44, withPad: " ", startingAt: 0), nanoseconds,
                1e9 / nanoseconds))
    }

    private func scans(
        _ workspace: Workspace, _ bytes: WorkspaceDictionary, _ state: String
    ) async throws {
        for order in [ScanOrder.ascending, .descending] {
            note(
                "keys, \(state), \(order)",
                try await nanoseconds(per: keys) {
                    var count = 0
                    for try await _ in bytes.keys(prefix: "", order: order) { count += 1 }
                    precondition(count == keys)
                })
        }
        note(
            "entries, \(state)",
            try await nanoseconds(per: keys) {
                var count = 0
                for try await _ in bytes.entries(as: [UInt8].self) { count += 1 }
                precondition(count == keys)
            })
        note(
            "keys in one call of a view, \(state)",
            try await nanoseconds(per: keys) {
                let count = try workspace.read { try $0.keys(of: bytes).count }
                precondition(count == keys)
            })
        note(
            "first of a scan with a limit, \(state)",
            try await nanoseconds(per: 10) {
                for _ in 0..<10 {
                    for try await _ in bytes.keys(prefix: "", limit: 1) {}
                }
            })
        note(
            "count, \(state)",
            try await nanoseconds(per: 10) {
                for _ in 0..<10 { precondition(try bytes.count == keys) }
            })
    }

    private func views(
        _ workspace: Workspace, _ bytes: WorkspaceDictionary, _ workload: Workload
    ) async throws {
        note(
            "begin and close a view",
            try await nanoseconds(per: count) {
                for _ in 0..<count { try workspace.readView().close() }
            })
        let picked = (0..<count).map { workload.key($0 &* 7919 % keys) }
        let value = workload.value(1)
        note(
            "put, no view",
            try await nanoseconds(per: count) {
                for key in picked { try await bytes.set(value, forKey: key) }
            })
        let view = try workspace.readView()
        var longest = Duration.zero
        let clock = ContinuousClock()
        note(
            "put, a view live",
            try await nanoseconds(per: count) {
                for key in picked {
                    let begin = clock.now
                    try await bytes.set(value, forKey: key)
                    longest = max(longest, clock.now - begin)
                }
            })
        print("  the longest of them: \(longest)")
        note(
            "get, by the view",
            try await nanoseconds(per: count) {
                for key in picked {
                    precondition(try view.value(forKey: key, as: [UInt8].self, in: bytes) != nil)
                }
            })
        view.close()
    }

    private func transactions(
        _ workspace: Workspace, _ bytes: WorkspaceDictionary, _ workload: Workload
    ) async throws {
        let numbers = workspace.dictionary("numbers")
        let picked = (0..<count).map { workload.key($0 &* 7919 % keys) }
        note(
            "update of a counter",
            try await nanoseconds(per: count) {
                for _ in 0..<count { try await numbers.update("n", default: 0) { $0 += 1 } }
            })
        note(
            "transaction: read and write one key",
            try await nanoseconds(per: count) {
                for _ in 0..<count {
                    try await workspace.transaction { tx in
                        let number = try tx.value(forKey: "t", as: Int.self, in: numbers) ?? 0
                        try tx.set(number + 1, forKey: "t", in: numbers)
                    }
                }
            })
        note(
            "transaction: move between two of many keys",
            try await nanoseconds(per: count) {
                for index in 0..<count {
                    try await workspace.transaction { tx in
                        let from = picked[index]
                        let to = picked[count - 1 - index]
                        let one = try tx.value(forKey: from, as: Int.self, in: numbers) ?? 0
                        let other = try tx.value(forKey: to, as: Int.self, in: numbers) ?? 0
                        try tx.set(one - 1, forKey: from, in: numbers)
                        try tx.set(other + 1, forKey: to, in: numbers)
                    }
                }
            })
    }
}
