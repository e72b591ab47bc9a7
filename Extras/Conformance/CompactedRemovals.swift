import Foundation
import Roost
import RoostShared

/// A watcher that begins before a removal which etcd has compacted is told of it, or that something is missing.
struct CompactedRemovals {
    private let workspace: SharedWorkspace
    private let endpoint: String

    init(_ workspace: SharedWorkspace, _ endpoint: String) {
        self.workspace = workspace
        self.endpoint = endpoint
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
        return "\(count) that were compacted, none passed over"
    }

    private func compact(_ revision: UInt64) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ETCDCTL_API=3", "etcdctl", "--endpoints=\(endpoint)", "compact", "--physical",
            "\(revision)",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WatchFailure(description: "etcdctl could not compact \(endpoint)")
        }
    }
}
