import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct CommandTests {
    @Test func aValueIsSetReadAndRemoved() async throws {
        try await withTemporaryDirectory { path in
            let workspace = "\(path)/w"
            #expect(try await Tool.run("set", workspace, "d", "k", "[1]").status == 0)
            #expect(try await Tool.run("get", workspace, "d", "k").output == "[1]\n")
            #expect(
                try await Tool.run("get", workspace, "d", "k", "--format", "json").output
                    == #"{"dictionary":"d","key":"k","value":[1]}"# + "\n")
            #expect(try await Tool.run("set", workspace, "d", "t", "--string", "[1]").status == 0)
            #expect(try await Tool.run("get", workspace, "d", "t").output == "[1]\n")
            #expect(
                try await Tool.run("get", workspace, "d", "t", "--format", "json").output
                    == #"{"dictionary":"d","key":"t","value":"[1]"}"# + "\n")
            #expect(try await Tool.run("set", workspace, "d", "n", "--", "-5").status == 0)
            #expect(try await Tool.run("get", workspace, "d", "n").output == "-5\n")
            #expect(try await Tool.run("set", workspace, "d", "i", "-", input: "2.5").status == 0)
            #expect(try await Tool.run("get", workspace, "d", "i").output == "2.5\n")
            #expect(try await Tool.run("remove", workspace, "d", "k").status == 0)
            #expect(try await Tool.run("remove", workspace, "d", "k").status == 1)
            let missing = try await Tool.run("get", workspace, "d", "k")
            #expect(missing.status == 1)
            #expect(missing.output.isEmpty)
            #expect(try await Tool.run("keys", workspace, "d").lines == ["i", "n", "t"])
        }
    }

    @Test func keysAreListedInTheOrderOfTheirBytes() async throws {
        try await withTemporaryDirectory { path in
            let input = ["b", "a/2", "a/1", "é", ""].map {
                "{\"dictionary\":\"d\",\"key\":\"\($0)\",\"value\":1}\n"
            }.joined()
            #expect(try await Tool.run("import", "\(path)/w", input: input).status == 0)
            let keys = try await Tool.run("keys", "\(path)/w", "d", "--format", "json")
            #expect(keys.output == #"["","a/1","a/2","b","é"]"# + "\n")
            let some = try await Tool.run("keys", "\(path)/w", "d", "--prefix", "a/")
            #expect(some.lines == ["a/1", "a/2"])
            #expect(try await Tool.run("keys", "\(path)/w").lines == ["d"])
            #expect(try await Tool.run("keys", "\(path)/w", "none").status == 0)
        }
    }

    @Test func sizesAndSoundnessAreReported() async throws {
        try await withTemporaryDirectory { path in
            let workspace = "\(path)/w"
            #expect(try await Tool.run("import", workspace, input: lines(0..<50)).status == 0)
            #expect(try await Tool.run("compact", workspace).status == 0)
            #expect(try await Tool.run("set", workspace, "e", "k", "1").status == 0)
            let stat = try await Tool.run("stat", workspace, "--format", "json")
            let figures = try #require(
                try JSONSerialization.jsonObject(with: Data(stat.output.utf8)) as? [String: Any])
            #expect(figures["dictionaries"] as? [String: Int] == ["d": 50, "e": 1])
            #expect(figures["snapshotRecordCount"] as? Int == 50)
            #expect(figures["logKeyCount"] as? Int == 1)
            #expect(try await Tool.run("stat", workspace).output.contains("\"d\"  50 keys"))
            let verify = try await Tool.run("verify", workspace, "--format", "json")
            #expect(verify.status == 0)
            #expect(verify.output.hasPrefix(#"{"isSound":true,"#))
            #expect(try await Tool.run("verify", workspace).output.hasPrefix("sound: "))
        }
    }

    @Test func readingChangesNoByte() async throws {
        try await withTemporaryDirectory { path in
            let workspace = "\(path)/w"
            #expect(try await Tool.run("import", workspace, input: lines(0..<10)).status == 0)
            let before = try contents(of: workspace)
            for command in ["export", "stat", "verify", "keys", "dump"] {
                #expect(try await Tool.run(command, workspace).status == 0)
            }
            #expect(try await Tool.run("get", workspace, "d", "k1").status == 0)
            #expect(try await Tool.run("get", workspace, "d", "none").status == 1)
            #expect(try contents(of: workspace) == before)
        }
    }

    private func contents(of path: String) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        return contents
    }

    @Test func dumpsShowEveryOperationAndRecord() async throws {
        try await withTemporaryDirectory { path in
            let workspace = "\(path)/w"
            #expect(try await Tool.run("import", workspace, input: lines(0..<3)).status == 0)
            #expect(try await Tool.run("remove", workspace, "d", "k1").status == 0)
            let log = try await Tool.run("dump", "\(workspace)/log-000000000001")
            #expect(log.status == 0, "\(log.errors)")
            #expect(log.lines.count == 5)
            #expect(log.lines[1] == #"64  1  put  "d" "k0"  Int  0"#)
            let all = try await Tool.run("dump", workspace)
            #expect(all.output.contains(#"  2  synced remove  "d" "k1""#))
            #expect(try await Tool.run("compact", workspace).status == 0)
            let compacted = try await Tool.run("dump", workspace, "--full").lines
            #expect(compacted.filter { $0.contains("put") }.count == 2)
            #expect(compacted.contains(#"1  put  "d" "k2"  Int  2"#))
        }
    }

    @Test func nothingIsMadeWhereAWorkspaceIsMissing() async throws {
        try await withTemporaryDirectory { path in
            for outcome in [
                try await Tool.run("get", "\(path)/none", "d", "k"),
                try await Tool.run("remove", "\(path)/none", "d", "k"),
                try await Tool.run("compact", "\(path)/none"),
                try await Tool.run("export", "\(path)/none"),
            ] {
                #expect(outcome.status == 5)
                #expect(outcome.errors.contains("\(path)/none"))
            }
            #expect(!FileManager.default.fileExists(atPath: "\(path)/none"))
        }
    }
}
