import Foundation
import Roost
import RoostTestSupport
import Testing

@testable import RoostCommand

/// What an app had elsewhere is in Roost afterwards, checked value by value.
@Suite struct MovingInTests {
    private struct Post: Codable, Identifiable, Equatable {
        var id: UUID
        var title: String
        var at: Date
        var count: Int
        var price: Decimal
        var photo: Data?
        var tags: [String]
    }

    private struct Row: Codable, Identifiable, Equatable {
        var id: Int
        var name: String
        var age: Int?
        var price: Decimal?
        var isActive: Bool?
        var born: Date?
    }

    private static let posts = (0..<50).map { number in
        Post(
            id: UUID(), title: "Post \(number), \"quoted\" ü",
            at: Date(timeIntervalSinceReferenceDate: Double(number) * 1000.25),
            count: Int.max - number, price: Decimal(string: "19.99")!,
            photo: number % 2 == 0 ? Data([UInt8(number)]) : nil,
            tags: ["a", "b"])
    }

    @Test(arguments: ["json", "jsonl"])
    func aJSONFileBecomesARepository(format: String) async throws {
        try await withTemporaryDirectory { path in
            let encoder = JSONEncoder()
            let text =
                format == "json"
                ? String(decoding: try encoder.encode(Self.posts), as: UTF8.self)
                : try Self.posts.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
                    .joined(separator: "\n\n")
            let file = "\(path)/posts"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let options = [file, "--format", format, "--into", "Post", "--id-kind", "uuid"]
            let dry = try await Tool.run(["import", "\(path)/w"] + options + ["--dry-run"])
            #expect(dry.status == 0 && dry.errors.contains("50 values would be"), "\(dry.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(path)/w"))
            #expect(try await Tool.run(["import", "\(path)/w"] + options).status == 0)
            let workspace = try await Workspace.open(at: "\(path)/w")
            let posts = workspace.repository(of: Post.self)
            for post in Self.posts { #expect(try await posts.find(by: post.id) == post) }
            #expect(try await posts.loadAll().count == 50)
            try await workspace.close()
        }
    }

    @Test func aCSVFileBecomesARepository() async throws {
        try await withTemporaryDirectory { path in
            let csv =
                "id,name,age,price,isActive,born\r\n"
                + "7,\"Lovelace, Ada\",36,19.99,yes,1815-12-10\r\n\r\n"
                + "12,\"a \"\"quote\"\"\nand a line\",,,,\r\n"
                + "9007199254740993,x,1,0.1,false,2001-01-01T00:00:00Z"
            let options =
                ["--format", "csv", "--into", "Row"]
                + ["age=int", "price=decimal", "isActive=bool", "born=date", "id=int"].flatMap {
                    ["--column", $0]
                }
            let outcome = try await Tool.run(["import", "\(path)/w"] + options, input: csv)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let workspace = try await Workspace.open(at: "\(path)/w")
            let rows = try await workspace.repository(of: Row.self).loadAll()
            #expect(rows.map(\.id) == [7, 12, 9_007_199_254_740_993])
            #expect(
                rows[0].name == "Lovelace, Ada" && rows[0].age == 36 && rows[0].isActive == true)
            #expect(rows[0].price == Decimal(string: "19.99") && rows[0].born != nil)
            #expect(
                rows[1].name == "a \"quote\"\nand a line" && rows[1].age == nil
                    && rows[1].born == nil)
            #expect(rows[2].born == Date(timeIntervalSinceReferenceDate: 0))
            try await workspace.close()
        }
    }

    /// The type of the identifiers says what is stored, whatever the file has.
    @Test func identifiersAreStoredAsTheTypeReadsThem() async throws {
        struct Numbered: Codable, Identifiable, Equatable {
            var id: Int
            var name: String
        }
        struct Named: Codable, Identifiable, Equatable {
            var id: String
            var name: String
        }
        try await withTemporaryDirectory { path in
            for (format, text) in [
                ("json", #"[{"id":"7","name":"a"},{"id":8,"name":"b"}]"#),
                ("csv", "id,name\n7,a\n8,b\n"),
            ] {
                for kind in ["int", "string"] {
                    let outcome = try await Tool.run(
                        [
                            "import", "\(path)/w", "--format", format, "--into",
                            "\(format) \(kind)", "--id-kind", kind, "-",
                        ], input: text)
                    #expect(outcome.status == 0, "\(outcome.errors)")
                }
            }
            let workspace = try await Workspace.open(at: "\(path)/w")
            for format in ["json", "csv"] {
                let numbered = workspace.repository(of: Numbered.self, named: "\(format) int")
                #expect(
                    try await numbered.loadAll() == [
                        Numbered(id: 7, name: "a"), Numbered(id: 8, name: "b"),
                    ])
                #expect(try await numbered.find(by: 8)?.name == "b")
                let named = workspace.repository(of: Named.self, named: "\(format) string")
                #expect(
                    try await named.loadAll() == [
                        Named(id: "7", name: "a"), Named(id: "8", name: "b"),
                    ])
                #expect(try await named.find(by: "8")?.name == "b")
            }
            try await workspace.close()
        }
    }

    /// As SQLite's own functions and GRDB write dates, and as others do.
    @Test func datesInTextAreReadAsTheyAreWritten() async throws {
        struct Event: Codable, Identifiable {
            var id: String
            var at: Date
        }
        let dates: [(String, Double)] = [
            ("2026-11-24 08:00:00.000", 1_795_507_200), ("2026-11-24 08:00:00", 1_795_507_200),
            ("2026-11-24 08:00", 1_795_507_200), ("2026-11-24", 1_795_478_400),
            ("2026-11-24T08:00:00Z", 1_795_507_200), ("2026-11-24T08:00:00.25Z", 1_795_507_200.25),
            ("2026-11-24 10:30:00+02:30", 1_795_507_200),
            ("2026-11-24T00:00:00-0800", 1_795_507_200),
            ("2026-11-24 08:00:00.123456", 1_795_507_200.123456), ("1969-12-31 23:59:59.5", -0.5),
            ("2024-02-29 00:00:00", 1_709_164_800), ("2000-02-29", 951_782_400),
            // By the Gregorian calendar before it was in use too, as SQLite's strftime('%s') has them.
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("0000-02-29", -62_162_121_600),
            ("1582-10-10", -12_219_724_800), ("1582-10-15", -12_219_292_800),
            ("9999-12-31 23:59:59", 253_402_300_799),
        ]
        try await withTemporaryDirectory { path in
            let csv = "id,at\n" + dates.map { "\($0.0),\($0.0)\n" }.joined()
            let options = ["--format", "csv", "--into", "Event", "--column", "at=date"]
            let outcome = try await Tool.run(["import", "\(path)/w"] + options, input: csv)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let workspace = try await Workspace.open(at: "\(path)/w")
            let events = workspace.repository(of: Event.self)
            for (text, seconds) in dates {
                let found = try await events.find(by: text)
                #expect(abs((found?.at.timeIntervalSince1970 ?? 0) - seconds) < 1e-6, "\(text)")
            }
            try await workspace.close()
            for wrong in [
                "2026-02-30", "2026-11-24 25:00:00", "24.11.2026", "2026-11-24 08", "1795507200",
                "2026-13-01", "2026-00-10", "2026-01-00", "2100-02-29", "1500-02-29",
                "2026-11-24 08:60",
                "2026-11-24 08:00:00 +99:99",
            ] {
                let refused = try await Tool.run(
                    ["import", "\(path)/none"] + options, input: "id,at\n1,\(wrong)\n")
                #expect(refused.status == 2 && refused.errors.contains("is no date"), "\(wrong)")
            }
        }
    }

    @Test(arguments: [
        ("date:unix", "1795507200.5"), ("date:milliseconds", "1795507200500"),
        ("date:reference", "817200000.5"),
    ]) func numbersAreTheDatesThatIsSaidOfThem(kind: String, text: String) async throws {
        struct Event: Codable, Identifiable {
            var id: String
            var at: Date
        }
        try await withTemporaryDirectory { path in
            let outcome = try await Tool.run(
                "import", "\(path)/w", "--format", "csv", "--into", "Event", "--column",
                "at=\(kind)", input: "id,at\na,\(text)\n")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let workspace = try await Workspace.open(at: "\(path)/w")
            let event = try await workspace.repository(of: Event.self).find(by: "a")
            #expect(event?.at == Date(timeIntervalSince1970: 1_795_507_200.5))
            try await workspace.close()
        }
    }

    /// Composed and decomposed they look the same, and are two keys.
    @Test func keysThatDifferInBytesAreTwo() async throws {
        try await withTemporaryDirectory { path in
            let text = "[{\"id\":\"caf\u{e9}\"},{\"id\":\"cafe\u{301}\"}]"
            let outcome = try await Tool.run(
                "import", "\(path)/w", "--format", "json", "--into", "d", input: text)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let keys = try await Tool.run("keys", "\(path)/w", "d")
            #expect(
                keys.lines.map { Array($0.utf8) }
                    == ["cafe\u{301}", "caf\u{e9}"].map { Array($0.utf8) })
        }
    }

    @Test func aPreferencesFileBecomesADictionary() async throws {
        try await withTemporaryDirectory { path in
            let file = "\(path)/app.plist"
            let list: [String: Any] = [
                "launches": 12, "ratio": 2.0, "on": true, "at": Date(timeIntervalSince1970: 9),
                "list": [1, 2],
            ]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: URL(fileURLWithPath: file))
            #expect(
                try await Tool.run("set", "\(path)/w", "settings", "launches", "99").status == 0)
            let outcome = try await Tool.run(
                "import", "\(path)/w", file, "--format", "plist", "--into", "settings", "--keep")
            #expect(outcome.status == 0 && outcome.errors.contains("4 values"), "\(outcome.errors)")
            let workspace = try await Workspace.open(at: "\(path)/w")
            let settings = workspace.dictionary("settings")
            #expect(try settings["launches", as: Int.self] == 99)
            #expect(
                try settings["ratio", as: Double.self] == 2 && settings["on", as: Bool.self] == true
            )
            #expect(try settings["at", as: Date.self] == Date(timeIntervalSince1970: 9))
            #expect(try settings["list", as: [Int].self] == [1, 2])
            try await workspace.close()
        }
    }

    /// Format, text, and a part of what is said of it.
    private static let broken: [(String, String, String)] = [
        ("json", "", "line 1"), ("json", "[{\"id\":\"a\"},\n{\"id\":]", "line 2 (offset 19)"),
        ("json", "{\"id\":\"a\"}", "not a JSON array"), ("json", "[1]", "element 1"),
        ("json", "[{\"id\":\"a\"},{\"name\":1}]", "element 2: there is no \"id\""),
        ("json", "[{\"id\":\"a\"},{\"id\":\"a\"}]", "element 2: the key \"a\" is at element 1"),
        ("json", "[{\"id\":1.5}]", "which is no key"),
        ("json", "[{\"id\":\"a\",\"id\":\"b\"}]", "is there twice"),
        ("json", String(repeating: "[", count: 100_000), "nested more than"),
        (
            "jsonl",
            "{\"id\":\"a\",\"v\":" + String(repeating: "[", count: 511)
                + String(repeating: "]", count: 511) + "}", "line 1: nested more than 511 deep"
        ),
        ("jsonl", "{\"id\":\"a\"}\n{\"id\"", "line 2"), ("jsonl", "{\"id\":\"a\"}\n[]", "line 2"),
        ("csv", "", "is empty"), ("csv", "id,id\n1,2", "two columns"),
        ("csv", "id,a\n1,2\n1", "line 3: 1 fields"),
        ("csv", "id,a\n1,\"x", "line 2: a quote is not closed"),
        ("csv", "id,a\n1,x\"y\"", "line 2: a quote within"),
        ("csv", "id,a\n1,\"x\"y", "text behind"),
        ("csv", "id,a\n1,x\n1,y", "line 3: the key \"1\" is at line 2"),
        ("csv", "name\nx", "there is no \"id\""), ("plist", "nothing", "no property list"),
        ("plist", "<plist><dict><key>a</key><integer>x</integer></dict></plist>", "on line 1"),
        (
            "json", "[{\"id\":1},{\"id\":\"1\"}]",
            "element 2: \"id\" is a text, and at element 1 a number"
        ),
        ("jsonl", "{\"id\":\"a\"}\n{\"id\":2}", "line 2: \"id\" is a number"),
        (
            "json", "[{\"id\":\"\(String(repeating: "k", count: 65_537))\"}]",
            "element 1: the key has 65,537 bytes"
        ),
        ("csv", "id,a\n1,2\n,\n", "line 3: \"id\", which is to be the key, is empty"),
        ("csv", "name;x\n\"a;b\";2", "line 2: text behind"),
        ("plist", "<plist><array/></plist>", "no dictionary at its top"),
        ("plist", "<plist>\n<!-- </dict> -->\n<dict", "a tag has no end, on line 3"),
        ("plist", "bplist00" + String(repeating: "\u{1}", count: 50), "see offset"),
    ]

    @Test(arguments: Self.broken.indices) func whatIsBrokenIsNamedAndNothingIsWritten(index: Int)
        async throws
    {
        let (format, text, part) = Self.broken[index]
        try await withTemporaryDirectory { path in
            let file = "\(path)/file"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            for options in [[], ["--dry-run"]] {
                let outcome = try await Tool.run(
                    ["import", "\(path)/w", file, "--format", format, "--into", "d"] + options)
                #expect(outcome.status == 2)
                #expect(outcome.errors.contains(part), "\(outcome.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: "\(path)/w"))
        }
    }

    /// With small limits in the place of those of a workspace.
    @Test func valuesThatAWorkspaceDoesNotTakeAreNamedBeforeThereIsOne() throws {
        let dictionary = "d"
        func refusal(_ records: [ForeignRecord], batchLimitBytes: Int = .max) -> String? {
            do {
                try ForeignRecord.checkSizes(
                    of: records, in: dictionary, valueLimitBytes: 1_000,
                    batchLimitBytes: batchLimitBytes)
                return nil
            } catch { return (error as? Failure)?.message }
        }
        func json(_ number: Int, _ count: Int) -> ForeignRecord {
            let stored = StoredValue(kind: 1, payload: Array(repeating: 0x20, count: count))
            return ForeignRecord(key: "k\(number)", value: .json(stored), place: "line \(number)")
        }
        #expect(refusal([json(1, 1_000), json(2, 1_000)]) == nil)
        #expect(
            refusal([json(1, 10), json(2, 1_001)])
                == "line 2: the value has 1,001 bytes; up to 1,000 are allowed")
        // What the log has of a record: 12 bytes, the name with its length, the key, the kind and the payload.
        let three = (1...3).map { json($0, 500) }
        #expect(refusal(three, batchLimitBytes: 3 * 517) == nil)
        #expect(
            refusal(three, batchLimitBytes: 3 * 517 - 1)?.hasPrefix("line 3: up to here") == true)
        let trees: [PropertyListTree] = [
            .string(String(repeating: "x", count: 1_001)), .data(Data(count: 1_001)),
            .array([.string(String(repeating: "x", count: 1_001))]),
            .dictionary(["a": .data(Data(count: 1_001))]),
        ]
        for tree in trees {
            let record = ForeignRecord(key: "a", value: .propertyList(tree), place: "key \"a\"")
            #expect(refusal([record])?.hasPrefix("key \"a\": the value has 1,0") == true)
        }
        let small = ForeignRecord(key: "a", value: .propertyList(.array([.int(1)])), place: "")
        #expect(refusal([small]) == nil)
    }

    /// As Excel and its like write CSV where the comma is in numbers, and what Windows puts before a text.
    @Test(arguments: [
        ("csv", "\u{feff}id;name;price\r\n7;\"a;b\";1,5\r\n"),
        ("csv", "name\tprice\tid\na;b\t1,5\t7\n"),
        ("csv", "\u{feff}sep=|\r\nid|name|price\r\n7|a;b|1,5"),
        ("csv", "sep=;\nid;name;price\n7;\"a;b\";1,5"),
        ("json", "\u{feff}[{\"id\":\"7\",\"name\":\"a;b\",\"price\":\"1,5\"}]"),
        ("jsonl", "\u{feff}{\"id\":\"7\",\"name\":\"a;b\",\"price\":\"1,5\"}\r\n"),
    ]) func filesOfSpreadsheetsAndOfWindowsAreRead(format: String, text: String) async throws {
        struct Item: Codable, Identifiable, Equatable {
            var id: String
            var name: String
            var price: String
        }
        try await withTemporaryDirectory { path in
            let options = ["import", "\(path)/w", "--format", format, "--into", "Item"]
            let outcome = try await Tool.run(options, input: text)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let workspace = try await Workspace.open(at: "\(path)/w")
            #expect(
                try await workspace.repository(of: Item.self).loadAll() == [
                    Item(id: "7", name: "a;b", price: "1,5")
                ])
            try await workspace.close()
            let file = "\(path)/utf16"
            try #require(text.data(using: .utf16)).write(to: URL(fileURLWithPath: file))
            let refused = try await Tool.run(options + [file])
            #expect(refused.status == 2 && refused.errors.contains("UTF-16"), "\(refused.errors)")
        }
    }

    @Test func recordsBehindAByteOrderMarkAreRead() async throws {
        try await withTemporaryDirectory { path in
            let outcome = try await Tool.run(
                "import", "\(path)/w", input: "\u{feff}" + lines(0..<2))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try await Tool.run("keys", "\(path)/w", "d").lines == ["k0", "k1"])
        }
    }

    /// Milliseconds that are said to be seconds are dates in the year 56,000.
    @Test(arguments: ["date:unix", "date:reference"])
    func numbersThatNoCalendarHasAreNoDates(kind: String) async throws {
        try await withTemporaryDirectory { path in
            let refused = try await Tool.run(
                "import", "\(path)/w", "--format", "csv", "--into", "d", "--column", "at=\(kind)",
                input: "id,at\na,1706695200123\n")
            #expect(refused.status == 2 && refused.errors.contains("is no \(kind)"))
        }
    }

    @Test func aDryRunSaysWhatWouldBeKept() async throws {
        try await withTemporaryDirectory { path in
            let options = ["import", "\(path)/w", "--format", "json", "--into", "d"]
            #expect(try await Tool.run(options, input: "[{\"id\":\"a\"}]").status == 0)
            let dry = try await Tool.run(
                options + ["--keep", "--dry-run"], input: "[{\"id\":\"a\"},{\"id\":\"b\"}]")
            #expect(dry.errors.contains("would set \"b\"") && dry.errors.contains("1 values"))
            #expect(!dry.errors.contains("would set \"a\""))
        }
    }

    /// Whoever waits is told that something goes on, where there is a terminal to tell it on.
    @Test func aTerminalSaysHowLongReadingTakes() async throws {
        try await withTemporaryDirectory { path in
            let terminal = try Terminal(home: path)
            let process = try Tool.process(
                "import", "\(path)/w", "-", "--format", "json", "--into", "d")
            try terminal.run(process)
            try terminal.expect("reading, for ")
            terminal.send("[{\"id\":\"a\"}]\n\u{4}")
            try terminal.expect("1 values imported")
            try await terminal.end(process)
            #expect(process.terminationStatus == 0)
            let quiet = try await Tool.run("verify", "\(path)/w")
            #expect(quiet.status == 0 && quiet.errors.isEmpty)
        }
    }

    @Test func wrongOptionsAreUsage() async throws {
        try await withTemporaryDirectory { path in
            for options in [
                ["--format", "json"], ["--into", "d"],
                ["--format", "csv", "--into", "d", "--column", "a"],
                ["--format", "csv", "--into", "d", "--column", "a=colour"],
                ["--format", "xml", "--into", "d"],
                ["--format", "json", "--into", "d", "--column", "a=int"],
                ["--format", "csv", "--into", "d", "--column", "a=int", "--column", "a=text"],
            ] {
                let outcome = try await Tool.run(
                    ["import", "\(path)/w"] + options, input: "id,a\n1,2\n")
                #expect(outcome.status == 2, "\(options)")
            }
            let none = try await Tool.run(
                "import", "\(path)/w", "\(path)/none", "--format", "json", "--into", "d")
            #expect(none.status == 2 && none.errors.contains("cannot read"))
        }
    }
}
