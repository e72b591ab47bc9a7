import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct DamageTests {
    @Test func anotherOpeningIsReportedAsLocked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            try await workspace.dictionary("d").set(1, forKey: "k")
            for outcome in [
                try await Tool.run("get", "\(path)/w", "d", "k"),
                try await Tool.run("set", "\(path)/w", "d", "k", "2"),
                try await Tool.run("import", "\(path)/w", input: lines(0..<1)),
                try await Tool.run("export", "\(path)/w"),
                try await Tool.run("verify", "\(path)/w"),
                try await Tool.run("dump", "\(path)/w"),
            ] {
                #expect(outcome.status == 4)
                #expect(outcome.errors.hasPrefix("roost: locked: "), "\(outcome.errors)")
            }
            #expect(try workspace.dictionary("d")["k", as: Int.self] == 1)
            try await workspace.close()
            #expect(try await Tool.run("get", "\(path)/w", "d", "k").output == "1\n")
        }
    }

    @Test func aFlippedBitIsReportedAsDamage() async throws {
        try await withTemporaryDirectory { path in
            let workspace = "\(path)/w"
            #expect(try await Tool.run("import", workspace, input: lines(0..<2000)).status == 0)
            #expect(try await Tool.run("compact", workspace).status == 0)
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: workspace)
                    .filter { $0.hasPrefix("snapshot-") }.min())
            try flipBit(at: 200, of: "\(workspace)/\(name)")
            let verify = try await Tool.run("verify", workspace)
            #expect(verify.status == 3)
            #expect(verify.errors.contains(name) && verify.errors.contains("offset"))
            let asJSON = try await Tool.run("verify", workspace, "--format", "json")
            #expect(asJSON.status == 3)
            #expect(asJSON.output.hasPrefix(#"{"isSound":false,"#))
            #expect(try await Tool.run("export", workspace).status == 3)
            #expect(try await Tool.run("dump", "\(workspace)/\(name)").status == 3)
        }
    }

    @Test func aWorkspaceThatDoesNotOpenIsReportedAsDamage() async throws {
        try await withTemporaryDirectory { path in
            let workspace = "\(path)/w"
            #expect(try await Tool.run("import", workspace, input: lines(0..<10)).status == 0)
            try flipBit(at: 100, of: "\(workspace)/log-000000000001")
            let verify = try await Tool.run("verify", workspace, "--format", "json")
            #expect(verify.status == 3)
            #expect(verify.output.contains(#""code":"corrupt""#))
            #expect(try await Tool.run("get", workspace, "d", "k1").status == 3)
            #expect(try await Tool.run("set", workspace, "d", "k1", "2").status == 3)
        }
    }

    private func flipBit(at offset: Int, of path: String) throws {
        let url = URL(fileURLWithPath: path)
        var bytes = try Data(contentsOf: url)
        try #require(bytes.count > offset)
        bytes[bytes.startIndex + offset] ^= 1
        try bytes.write(to: url)
    }
}
