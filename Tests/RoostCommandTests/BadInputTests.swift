import Foundation
import RoostTestSupport
import Testing

@Suite struct BadInputTests {
    @Test(arguments: [
        "nonsense", "[]", "{\"dictionary\":\"d\",\"key\":\"k\"}",
        "{\"dictionary\":\"d\",\"key\":1,\"value\":1}",
        "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":1,\"more\":1}",
        "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":1,\"value\":2}",
        "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":{\"$data\":\"?\"}}",
        "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":{\"$uint8\":256}}",
        "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":01}",
    ])
    func aBadLineIsNamedAndItsBatchIsNotWritten(_ bad: String) async throws {
        try await withTemporaryDirectory { path in
            let input = lines(0..<1500) + "\n" + bad + "\n" + lines(1500..<1600)
            let imported = try await Tool.run("import", "\(path)/w", input: input)
            #expect(imported.status == 2)
            #expect(imported.errors.contains("line 1502: "), "\(imported.errors)")
            #expect(imported.errors.contains("1,000 records before it"), "\(imported.errors)")
            let keys = try await Tool.run("keys", "\(path)/w", "d")
            #expect(keys.lines.count == 1000)
            #expect(!keys.lines.contains("k1000"))
        }
    }

    /// An empty one was left behind.
    @Test func aFileWhoseFirstLinesAreBadMakesNoWorkspace() async throws {
        try await withTemporaryDirectory { path in
            for input in ["nonsense\n", lines(0..<3) + "{\n", "\u{0}"] {
                let imported = try await Tool.run("import", "\(path)/w", input: input)
                #expect(imported.status == 2 && imported.errors.contains("line "))
                #expect(!FileManager.default.fileExists(atPath: "\(path)/w"))
            }
            // One that is there stays as it is.
            #expect(try await Tool.run("import", "\(path)/w", input: lines(0..<3)).status == 0)
            #expect(try await Tool.run("import", "\(path)/w", input: "nonsense\n").status == 2)
            #expect(try await Tool.run("keys", "\(path)/w", "d").lines == ["k0", "k1", "k2"])
        }
    }

    /// They passed a trial, and ended the import in the middle with the engine's message and no line.
    @Test(arguments: [
        "{\"dictionary\":\"d\",\"key\":\"\(String(repeating: "k", count: 70_000))\",\"value\":1}",
        "{\"dictionary\":\"\(String(repeating: "d", count: 300))\",\"key\":\"k\",\"value\":1}",
        "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":{\"$raw\":{\"kind\":133,\"payload\":\"\"}}}",
    ])
    func aRecordThatNoWorkspaceTakesIsABadLine(_ bad: String) async throws {
        try await withTemporaryDirectory { path in
            let input = lines(0..<1500) + "\n" + bad + "\n"
            let dry = try await Tool.run("import", "\(path)/w", "--dry-run", input: input)
            #expect(dry.status == 2)
            #expect(dry.errors.contains("line 1502: "), "\(dry.errors)")
            let imported = try await Tool.run("import", "\(path)/w", input: input)
            #expect(imported.status == 2)
            #expect(imported.errors.contains("line 1502: "), "\(imported.errors)")
            #expect(imported.errors.contains("1,000 records before it"), "\(imported.errors)")
        }
    }

    @Test func linesMayLackTheLastEndAndMayEndAsOnOtherSystems() async throws {
        try await withTemporaryDirectory { path in
            let input = lines(0..<2).replacing("\n", with: "\r\n") + String(lines(2..<3).dropLast())
            let imported = try await Tool.run("import", "\(path)/w", input: input)
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(try await Tool.run("keys", "\(path)/w", "d").lines == ["k0", "k1", "k2"])
        }
    }

    /// As many as a batch may have bytes.
    @Test func blankLinesAreNoEndOfTheInputHoweverLong() async throws {
        try await withTemporaryDirectory { path in
            let input = String(repeating: " ", count: 8 << 20) + "\n" + lines(0..<1)
            let dry = try await Tool.run("import", "\(path)/w", "--dry-run", input: input)
            #expect(dry.errors.contains(": 1 records would"), "\(dry.errors)")
            #expect(try await Tool.run("import", "\(path)/w", input: input).status == 0)
            #expect(try await Tool.run("get", "\(path)/w", "d", "k0").output == "0\n")
        }
    }

    @Test func linesLongerThanTheBufferAreRead() async throws {
        try await withTemporaryDirectory { path in
            let text = String(repeating: "long ", count: 200_000)
            let input = lines(0..<3) { $0 == 1 ? "\"\(text)\"" : "\($0)" }
            #expect(try await Tool.run("import", "\(path)/w", input: input).status == 0)
            let read = try await Tool.run("get", "\(path)/w", "d", "k1")
            #expect(read.output == text + "\n")
        }
    }

    @Test func wrongUsageEndsWithTwo() async throws {
        try await withTemporaryDirectory { path in
            for outcome in [
                try await Tool.run("bogus"), try await Tool.run("get"),
                try await Tool.run("get", path, "d", "k", "--format", "xml"),
                try await Tool.run("set", "\(path)/w", "d", "k", "not json"),
                try await Tool.run("import", "\(path)/w", "\(path)/missing"),
                try await Tool.run("dump", "\(path)/missing"),
            ] {
                #expect(outcome.status == 2)
                #expect(outcome.errors.hasPrefix("roost: "), "\(outcome.errors)")
                #expect(outcome.errors.count(where: { $0 == "\n" }) == 1, "\(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            #expect(try await Tool.run("--help").status == 0)
            let version = try await Tool.run("--version")
            #expect(version.status == 0 && version.lines.first?.hasPrefix("roost, ") == true)
            #expect(try await Tool.run("help", "import").status == 0)
        }
    }

    /// What is stored has one level more, and nobody reads more than 512.
    @Test func whatIsNestedTooDeepToBeReadIsNotStored() async throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("set", w, "d", "k", nested(511)).status == 0)
            #expect(try await Tool.run("get", w, "d", "k").output == nested(511) + "\n")
            let refused = try await Tool.run("set", w, "d", "k", nested(512))
            #expect(refused.status == 2)
            #expect(refused.errors.contains("nested more than 511 deep"), "\(refused.errors)")
            let shell = try await Tool.run("shell", w, input: "use d\nset k \(nested(512))\n")
            #expect(shell.status == 2 && shell.errors.contains("nested more than 511 deep"))
            #expect(try await Tool.run("get", w, "d", "k").output == nested(511) + "\n")
        }
    }
}
