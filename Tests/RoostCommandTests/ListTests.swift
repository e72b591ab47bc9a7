import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct ListTests {
    private static let input = """
        {"dictionary":"d","key":"a","value":1}
        {"dictionary":"d","key":"b/1","value":{"x":[1,2.5,null,"q\\""]}}
        {"dictionary":"d","key":"b/2","value":"two, lines\\nand a tab\\t"}
        {"dictionary":"e","key":"k","value":true}

        """

    private func withWorkspace(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("import", "\(path)/w", input: Self.input).status == 0)
            try await body("\(path)/w")
        }
    }

    @Test func aScanIsATableOrJSONOrLinesOrCSV() async throws {
        try await withWorkspace { path in
            let table = try await Tool.run("scan", path, "d")
            #expect(
                table.lines == [
                    "key  value", "---  ------------------------", "a    1",
                    #"b/1  {"x":[1,2.5,null,"q\""]}"#, #"b/2  two, lines\nand a tab\t"#,
                ])
            let lines = try await Tool.run("scan", path, "--format", "jsonl").lines
            #expect(lines.count == 4)
            #expect(lines[0] == #"{"dictionary":"d","key":"a","value":1}"#)
            let array = try await Tool.run("scan", path, "d", "--format", "json").output
            let parsed = try #require(
                try JSONSerialization.jsonObject(with: Data(array.utf8)) as? [[String: Any]])
            #expect(parsed.compactMap { $0["key"] as? String } == ["a", "b/1", "b/2"])
            let csv = try await Tool.run("scan", path, "d", "--format", "csv").output
            #expect(
                csv == "key,value\na,1\nb/1,\"{\"\"x\"\":[1,2.5,null,\"\"q\\\"\"\"\"]}\"\n"
                    + "b/2,\"two, lines\nand a tab\t\"\n")
            #expect(try await Tool.run("scan", path, "none", "--format", "json").output == "[]\n")
            #expect(
                try await Tool.run("scan", path, "none", "--format", "csv").output == "key,value\n")
            #expect(
                try await Tool.run("keys", path, "d", "--format", "jsonl").lines[0]
                    == #"{"key":"a"}"#)
        }
    }

    /// Else each line would be as long as the longest key, and the one below the names as the longest value.
    @Test func aLongKeyOrValueMakesNoOtherLineLonger() async throws {
        try await withTemporaryDirectory { path in
            let long = String(repeating: "x", count: 5000)
            let input =
                lines(0..<3) + lines(3..<4) { _ in "\"\(long)\"" }
                + "{\"dictionary\":\"d\",\"key\":\"\(long)\",\"value\":1}\n"
            #expect(try await Tool.run("import", "\(path)/w", input: input).status == 0)
            let lengths = try await Tool.run("scan", "\(path)/w", "d").lines.map(\.count)
            #expect(lengths.count(where: { $0 > 4000 }) == 2)
            #expect(lengths.count(where: { $0 > 200 }) == 2, "\(lengths)")
        }
    }

    /// The bytes do not tell, so that it is said to people alone.
    @Test func aTerminalIsToldWhichDateAValueIs() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let workspace = try await Workspace.open(at: w)
            let values = workspace.dictionary("d")
            try await values.set(Date(timeIntervalSince1970: 1_709_210_096.25), forKey: "date")
            try await values.set(Date.distantPast, forKey: "past")
            try await workspace.close()
            let terminal = try Terminal(home: path)
            let process = try Tool.process("get", w, "d", "date")
            try terminal.run(process)
            try terminal.expect("(as a Date: 2024-02-29T12:34:56.250Z)")
            try await terminal.end(process)
            for key in ["date", "past"] {
                let piped = try await Tool.run("get", w, "d", key)
                #expect(piped.lines.count == 1 && piped.lines[0].hasPrefix("{\"$binary\""))
            }
        }
    }

    @Test func aScanIsOfWhatWasAskedFor() async throws {
        try await withWorkspace { path in
            func keys(_ arguments: String...) async throws -> [String] {
                let outcome = try await Tool.run(["scan", path, "--format", "csv"] + arguments)
                #expect(outcome.status == 0, "\(outcome.errors)")
                return outcome.lines.dropFirst().compactMap {
                    $0.firstMatch(of: /^[\w\/]+(?=,)/).map { String($0.output) }
                }
            }
            #expect(try await keys("d", "--prefix", "b/") == ["b/1", "b/2"].map { $0 })
            #expect(try await keys("d", "--from", "a/", "--below", "b/2") == ["b/1"])
            #expect(try await keys("d", "--prefix", "a", "--from", "b") == [])
            #expect(try await keys("d", "--below", "a") == [])
            #expect(try await keys("d", "--reverse", "--limit", "1") == ["b/2"])
            #expect(try await keys("d", "--limit", "0") == [])
            let all = try await Tool.run("scan", path, "--reverse", "--format", "jsonl").lines
            #expect(all.first == #"{"dictionary":"e","key":"k","value":true}"#)
            #expect(try await Tool.run("scan", path, "--limit", "x").status == 2)
            #expect(try await Tool.run("get", path, "d", "a", "--format", "csv").status == 2)
        }
    }

    private struct Visit: Codable {
        var place: String
        var at: Date
        var id: UUID
        var photo: Data
        var scores: [Double?]
        var tags: [String: Int]
        var big: UInt64
    }

    @Test(arguments: [ValueCoder.roost, .json, .propertyList])
    func aCodableValueIsShownAsTheTreeThatItIs(coder: ValueCoder) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let visit = Visit(
                place: "Reed bank", at: Date(timeIntervalSince1970: 1_000_000_000),
                id: UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!, photo: Data([1, 2]),
                scores: [1, nil, 2.5], tags: ["heron": 3], big: .max)
            let visits = workspace.dictionary("visits")
            try await visits.set(visit, forKey: "v", coder: coder)
            try await visits.set("soon", forKey: "t", expiresIn: .seconds(3600))
            try await workspace.close()
            let shown = try await Tool.run("get", "\(path)/w", "visits", "v").output
            for part in [
                #""place":"Reed bank""#, #""id":"00112233-4455-6677-8899-AABBCCDDEEFF""#,
                #""tags":{"heron":3}"#, "18446744073709551615", "2.5",
            ] {
                #expect(shown.contains(part), "\(part) in \(shown)")
            }
            #expect(coder == .json || shown.contains("2001-09-09T01:46:40"))
            #expect(try await Tool.run("get", "\(path)/w", "visits", "t").output == "soon\n")
            // What export writes is still what import reads.
            let lines = try await Tool.run("export", "\(path)/w").output
            #expect(try await Tool.run("import", "\(path)/copy", input: lines).status == 0)
            #expect(try await Tool.run("diff", "\(path)/w", "\(path)/copy").status == 0)
        }
    }

    /// CSV is read by bytes: a comma is one whatever mark stands over it.
    @Test func marksOverSeparatorsAreQuotedAndReadBack() async throws {
        let texts = [
            "a,\u{301}b", "q\"\u{308}q", "r\r\u{302}s", "plain", "", "n\n\u{303}", "\u{301},",
        ]
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            for (index, text) in texts.enumerated() {
                try await workspace.dictionary("d").set(text, forKey: "k\(index)")
            }
            try await workspace.close()
            let csv = try await Tool.run("scan", "\(path)/w", "d", "--format", "csv")
            let again = try await Tool.run(
                "import", "\(path)/again", "--format", "csv", "--into", "d", "--id", "key",
                input: csv.output)
            #expect(again.status == 0, "\(again.errors)")
            struct Row: Codable, Identifiable {
                var key: String
                var value: String
                var id: String { key }
            }
            let copied = try await Workspace.open(at: "\(path)/again")
            let rows = try await copied.repository(of: Row.self, named: "d").loadAll()
            #expect(rows.map { Array($0.value.utf8) } == texts.map { Array($0.utf8) })
            try await copied.close()
        }
    }

    /// A key or a value may hold what a terminal takes for a command to it.
    @Test func aTerminalGetsNoCommandsFromKeysAndValues() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let dictionary = workspace.dictionary("d")
            try await dictionary.set("red\u{1b}[31m\nsecond", forKey: "k\u{1b}]0;title\u{7}\nx")
            try await workspace.close()
            let terminal = try Terminal(home: path)
            for (arguments, shown) in [
                (["keys", "\(path)/w", "d"], #"k\u{1b}]0;title\u{7}\nx"#),
                (["get", "\(path)/w", "d", "k\u{1b}]0;title\u{7}\nx"], #"red\u{1b}[31m"#),
                (["get", "\(path)/w", "d", "none\u{1b}[31m"], #"none\u{1b}[31m"#),
            ] {
                let process = try Tool.process(arguments)
                try terminal.run(process)
                try terminal.expect(shown)
                try await terminal.end(process)
            }
            // A program gets every byte.
            #expect(
                try await Tool.run("keys", "\(path)/w", "d").output
                    == "k\u{1b}]0;title\u{7}\nx\n")
        }
    }

    @Test func keysOfAPrefixAreThose() async throws {
        try await withWorkspace { path in
            for format in ["table", "json", "jsonl", "csv"] {
                let all = try await Tool.run("keys", path, "d", "--format", format).output
                let some = try await Tool.run(
                    "keys", path, "d", "--prefix", "b/", "--format", format
                ).output
                #expect(all.contains("a") && !some.contains("\"a\"") && some.contains("b/2"))
                let none = try await Tool.run(
                    "keys", path, "d", "--prefix", "z", "--format", format)
                #expect(none.status == 0 && !none.output.contains("b/"))
            }
            #expect(
                try await Tool.run("keys", path, "d", "--prefix", "b/", "--format", "json").output
                    == #"["b/1","b/2"]"# + "\n")
            #expect(try await Tool.run("keys", path, "--prefix", "e").lines == ["e"])
        }
    }
}
