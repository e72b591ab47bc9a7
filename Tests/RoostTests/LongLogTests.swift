import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

/// Logs so long that an opening has a thread enter what another one reads.
@Suite struct LongLogTests {
    private typealias Model = [String: Int]

    /// Writes some hundred thousand operations, none of which any snapshot holds.
    private func fill(_ workspace: Workspace) async throws -> (kept: Model, cleared: Model) {
        var random = SeededGenerator(seed: testSeed())
        let kept = workspace.dictionary("kept")
        let cleared = workspace.dictionary("cleared")
        var models: (kept: Model, cleared: Model) = ([:], [:])
        for round in 0..<120 {
            let pairs = (0..<1_000).map { ("k\(random.below(70_000))", round * 1_000 + $0) }
            try await kept.setAll(pairs)
            for (key, value) in pairs { models.kept[key] = value }
            for _ in 0..<20 {
                let key = "k\(random.below(70_000))"
                try await kept.removeValue(forKey: key)
                models.kept[key] = nil
            }
            try await cleared.set(round, forKey: "c\(round)")
            models.cleared["c\(round)"] = round
            if round == 100 {
                try await cleared.removeAll()
                models.cleared = [:]
            }
        }
        return models
    }

    /// A slow machine may pause for so long that the log would be flushed.
    private func openNeverAtRest(_ path: String) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(), fileSystem: PosixFileSystem()
        ) { $0.restDelay = .seconds(3600) }
    }

    private func check(_ workspace: Workspace, _ model: Model, _ name: String) throws {
        let dictionary = workspace.dictionary(name)
        #expect(try dictionary.count == model.count)
        for (key, value) in model {
            let found = try dictionary.value(forKey: key, as: Int.self)
            guard found == value else {
                Issue.record("\(key) is \(found.map(String.init) ?? "absent"), not \(value)")
                return
            }
        }
    }

    @Test func aKilledStoresLongLogIsReplayedWhole() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await openNeverAtRest("\(path)/live")
            let models = try await fill(workspace)
            try copyDirectory("\(path)/live", to: "\(path)/killed")
            try await workspace.close()
            for access in [Workspace.Configuration.Access.readOnly, .readWrite] {
                let killed = try await Workspace.open(
                    at: "\(path)/killed", configuration: .init(access: access))
                try check(killed, models.kept, "kept")
                try check(killed, models.cleared, "cleared")
                if access == .readWrite {
                    try await killed.compact()
                    try check(killed, models.kept, "kept")
                }
                try await killed.close()
            }
        }
    }

    @Test func damageInALongLogIsReported() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await openNeverAtRest("\(path)/live")
            _ = try await fill(workspace)
            try await workspace.synchronize()
            try await workspace.dictionary("kept").set(1, forKey: "behind")
            try copyDirectory("\(path)/live", to: "\(path)/damaged")
            try await workspace.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)/damaged")
            let logs = try names.filter { $0.hasPrefix("log-") }.sorted()
                .map { URL(fileURLWithPath: "\(path)/damaged/\($0)") }
                .map { url in
                    let bytes = try Data(contentsOf: url)
                    // The next segment may be there already, and blank.
                    return (url: url, bytes: bytes, end: bytes.lastIndex { $0 != 0 } ?? 0)
                }
            // After what is entered before there is a thread, and before the log's end.
            var (url, bytes, end) = try #require(logs.max { $0.end < $1.end })
            bytes[end * 3 / 4] ^= 0x55
            try bytes.write(to: url)
            await #expect { try await Workspace.open(at: "\(path)/damaged") } throws: { error in
                (error as? RoostError)?.code == .corrupt
            }
        }
    }
}
