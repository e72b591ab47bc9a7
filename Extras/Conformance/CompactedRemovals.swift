import Foundation
import Roost
import RoostShared

/// A watcher that begins before a removal which the engine has given up is told of it, or that something is missing;
/// and a scan whose revision it has given up ends with an error.
struct CompactedRemovals {
    private let workspace: SharedWorkspace
    private let engine: String
    private let address: String

    init(_ workspace: SharedWorkspace, _ engine: String, _ address: String) {
        self.workspace = workspace
        self.engine = engine
        self.address = address
    }

    func run() async throws -> String {
        let count = 20
        let values = workspace.dictionary("compacted-removals")
        for number in 0..<count {
            let key = "k\(number)"
            try await values.set(number, forKey: key)
            let start = try await workspace.revision
            try await values.removeValue(forKey: key)
            let removal = try await workspace.revision
            guard removal == start + 1 else {
                throw WatchFailure(description: "somebody else writes to this server")
            }
            try compact(removal)
            try await values.set(number, forKey: "behind")
            var first: DictionaryChange<Int>?
            for await change in values.changes(as: Int.self, since: start) {
                first = change
                break
            }
            switch first {
            case .missed, .removed(key, _): break
            default:
                throw WatchFailure(
                    description:
                        "the removal of \(key) was compacted, and its watcher told \(String(describing: first))"
                )
            }
        }
        try await checkScan()
        return "\(count) that were compacted, none passed over"
    }

    /// More records than a page has, which are changed and given up between two of them.
    private func checkScan() async throws {
        let values = workspace.dictionary("compacted-scan")
        for start in stride(from: 0, to: 400, by: 100) {
            try await values.setAll((start..<start + 100).map { ("k\($0)", 0) })
        }
        do {
            var count = 0
            for try await (key, number) in values.entries(as: Int.self) {
                count += 1
                guard number == 0 else {
                    throw WatchFailure(description: "\(key) is of another revision")
                }
                guard count == 1 else { continue }
                for start in stride(from: 0, to: 400, by: 100) {
                    try await values.setAll((start..<start + 100).map { ("k\($0)", 1) })
                }
                try compact(try await workspace.revision)
            }
        } catch let error as RoostError where error.code == .compacted {
            return
        }
        throw WatchFailure(description: "a scan went on at a revision that was given up")
    }

    private func compact(_ revision: UInt64) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // PostgreSQL's is what its clients do with changes that are ten minutes old.
        process.arguments =
            engine == "etcd"
            ? [
                "ETCDCTL_API=3", "etcdctl", "--endpoints=\(address)", "compact", "--physical",
                "\(revision)",
            ]
            : [
                "psql", "-q", address, "-c",
                "DELETE FROM roost_changes WHERE revision <= \(revision)", "-c",
                "DELETE FROM roost_keys WHERE value IS NULL AND revision <= \(revision)", "-c",
                "UPDATE roost_revision SET trimmed = \(revision)",
            ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WatchFailure(description: "\(engine) was not compacted")
        }
    }
}
