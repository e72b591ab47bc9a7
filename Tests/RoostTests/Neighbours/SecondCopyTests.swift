import Foundation
import Roost
import RoostTestSupport
import Testing

/// A directory is copied, and both are opened side by side: two workspaces with one identifier.
@Suite struct SecondCopyTests {
    private func withTwo(
        _ body: (_ one: Workspace, _ two: Workspace, _ directory: String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let configuration = Workspace.Configuration(shardCount: 2)
            let first = try await Workspace.open(
                at: "\(directory)/one", configuration: configuration)
            try await first.dictionary("d").setAll((0..<50).map { ("\($0)", "both") })
            try await first.compact()
            try await first.close()
            try FileManager.default.copyItem(
                atPath: "\(directory)/one", toPath: "\(directory)/two")
            let one = try await Workspace.open(at: "\(directory)/one", configuration: configuration)
            let two = try await Workspace.open(at: "\(directory)/two", configuration: configuration)
            for (name, workspace) in [("one", one), ("two", two)] {
                // Files with the same numbers and other content.
                try await workspace.dictionary("d").setAll((0..<30).map { ("\($0)", name) })
                try await workspace.compact()
                try await workspace.dictionary("d").set(name, forKey: "hot", durability: .synced)
            }
            try await body(one, two, directory)
            try await one.close()
            try await two.close()
        }
    }

    private func expect(_ workspace: Workspace, is name: String) async throws {
        #expect(try workspace.dictionary("d")["7", as: String.self] == name)
        #expect(try workspace.dictionary("d")["40", as: String.self] == "both")
        #expect(try workspace.dictionary("d")["hot", as: String.self] == name)
        #expect(try await workspace.verify().isSound)
    }

    @Test func eachHasItsOwnReaders() async throws {
        try await withTwo { _, two, directory in
            for name in ["one", "two"] {
                let reader = try await Workspace.open(
                    at: "\(directory)/\(name)", configuration: .init(access: .readOnly))
                try await expect(reader, is: name)
                try await two.dictionary("d").set("two", forKey: "hot", durability: .synced)
                try await expect(reader, is: name)
                try await reader.close()
            }
        }
    }

    @Test func backupsInOneSeriesAreEachWhole() async throws {
        try await withTwo { one, two, directory in
            let series = "\(directory)/backups"
            var paths: [(path: String, name: String)] = []
            for _ in 0..<2 {
                paths.append((try await one.backup(toSeries: series).path, "one"))
                paths.append((try await two.backup(toSeries: series).path, "two"))
            }
            for (path, name) in paths {
                let copy = try await Workspace.open(at: path)
                try await expect(copy, is: name)
                try await copy.close()
            }
        }
    }
}
