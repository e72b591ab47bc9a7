import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct DamageTests {
    @Test func aWorkspaceThatIsOpenElsewhereIsReadAndNotWritten() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let workspace = try await Workspace.open(at: w)
            let values = workspace.dictionary("d")
            try await values.set(1, forKey: "cold")
            try await workspace.compact()
            try await values.set(2, forKey: "hot")
            for outcome in [
                try await Tool.run("set", w, "d", "k", "2"),
                try await Tool.run("import", w, input: lines(0..<1)),
                try await Tool.run("compact", w),
                try await Tool.run("salvage", w, "\(path)/salvaged"),
            ] {
                #expect(outcome.status == 4)
                #expect(outcome.errors.hasPrefix("roost: locked: "), "\(outcome.errors)")
            }
            #expect(try await Tool.run("get", w, "d", "hot").output == "2\n")
            #expect(try await Tool.run("keys", w, "d").lines == ["cold", "hot"])
            #expect(try await Tool.run("scan", w, "d").output.contains("cold"))
            #expect(try await Tool.run("export", w).lines.count == 2)
            #expect(try await Tool.run("stat", w).output.contains("\"d\"  2 keys"))
            #expect(try await Tool.run("verify", w).output.hasPrefix("sound"))
            let dumped = try await Tool.run("dump", w)
            #expect(dumped.status == 0)
            #expect(dumped.output.contains("hot"))
            #expect(try await Tool.run("backup", w, "\(path)/backup").status == 0)
            #expect(try await Tool.run("diff", w, "\(path)/backup").status == 0)
            try await values.set(3, forKey: "hot")
            #expect(try await Tool.run("get", w, "d", "hot").output == "3\n")
            try await workspace.close()
            #expect(try await Tool.run("keys", "\(path)/backup", "d").lines == ["cold", "hot"])
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
