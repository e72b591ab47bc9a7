import Foundation
import Roost
import RoostTestSupport
import Testing

@testable import RoostCommand

@Suite struct ObjectsTests {
    private struct Case: Sendable {
        let text: String
        let matches: @Sendable (Bird) -> Bool
        init(_ text: String, _ matches: @escaping @Sendable (Bird) -> Bool) {
            self.text = text
            self.matches = matches
        }
    }

    private static let cases = [
        Case("priority > 50 and color == \"red\"") { $0.priority > 50 && $0.color == .red },
        Case("priority >= 37 && priority <= 74") { $0.priority >= 37 && $0.priority <= 74 },
        Case("$0.priority == 74") { $0.priority == 74 },
        Case("priority < 3 || !isRinged && color != .blue") {
            $0.priority < 3 || (!$0.isRinged && $0.color != .blue)
        },
        Case("not (isRinged or priority > 10)") { !($0.isRinged || $0.priority > 10) },
        Case("isRinged == true && priority > 90") { $0.isRinged && $0.priority > 90 },
        Case("place.city == 'Bonn'") { $0.place?.city == "Bonn" },
        Case("place == nil && seen != nil") { $0.place == nil && $0.seen != nil },
        Case("seen < \"1970-02-01\"") {
            $0.seen.map { $0 < Date(timeIntervalSince1970: 31 * 86_400) } ?? false
        },
        Case("tags.contains(\"tag 3\")") { $0.tags.contains("tag 3") },
        Case("name.hasPrefix(\"Cafe\u{301}\") || name.hasSuffix(\" 13\")") {
            $0.name.hasPrefix("Café") || $0.name.hasSuffix(" 13")
        },
        Case(#"name == "Café \"7\"""#) { $0.id == 7 },
        Case("color.isIn([.red, .blue]) && weight < 2.5") { $0.color != .green && $0.weight < 2.5 },
        Case("color.isIn([])") { _ in false },
        Case("weight == 3") { $0.weight == 3 },
        Case("weight > -1e3") { _ in true },
        Case("priority > nil") { _ in false },
        Case("priority < $0.id") { $0.priority < $0.id },
        Case("weight >= $0.priority && id != $0.priority") {
            $0.weight >= Double($0.priority) && $0.id != $0.priority
        },
        Case("not ($0.place.city == $0.seen) and name > $0.place.city") { bird in
            // Only `nil` equals `nil`; and no order comparison of it holds.
            let areBothNone = bird.place == nil && bird.seen == nil
            return !areBothNone && bird.place.map { bird.name > $0.city } ?? false
        },
        Case("priority == \"50\"") { _ in false },
    ]

    private func ids(_ arguments: [String]) async throws -> [Int] {
        let outcome = try await Tool.run(
            ["objects"] + arguments + ["--format", "csv", "--fields", "id"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.lines.dropFirst().compactMap {
            $0.split(separator: ",").last.flatMap { Int($0) }
        }
    }

    @Test func aConditionFindsWhatTheSameOneInSwiftFinds() async throws {
        try await ObjectSamples.withBirds { path in
            for example in Self.cases {
                let found = try await ids([path, "Bird", "--where", example.text])
                let expected = ObjectSamples.birds.filter(example.matches).map(\.id)
                #expect(found == expected, "\(example.text)")
            }
        }
    }

    @Test func anOrderAndALimitAreThoseOfASort() async throws {
        try await ObjectSamples.withBirds { path in
            let found = try await ids([
                path, "Bird", "--where", "priority > 20", "--order", "-priority,name", "--limit",
                "30",
            ])
            let expected = ObjectSamples.birds.filter { $0.priority > 20 }
                .sorted { ($1.priority, $0.name) < ($0.priority, $1.name) }
            #expect(found == expected.prefix(30).map(\.id))
            let bySight = try await ids([path, "Bird", "--order", "seen", "--limit", "60"])
            // Twice as much does not fit into a number.
            let all = try await ids(
                [path, "Bird", "--order", "seen", "--limit", "\(Int.max / 2 - 1)"])
            #expect(all.count == 200 && all.starts(with: bySight))
            #expect(
                bySight.prefix(50) == ObjectSamples.birds.filter { $0.seen == nil }.map(\.id)[...])
            #expect(try await ids([path, "Bird", "--limit", "0"]) == [])
        }
    }

    @Test func anIndexIsUsedWhereItLeavesMostOut() async throws {
        try await ObjectSamples.withBirds { path in
            for (condition, explanation) in [
                (
                    "priority == 74 && color == .red",
                    "index \"priority\": 2 entries, 2 objects read\n"
                ),
                ("name == \"Bird 8\"", "index \"name\": 1 entries, 1 objects read"),
                ("isRinged && priority == 74", "index \"priority\": 2 entries"),
                (
                    "priority >= 0",
                    "every object: 200 objects read; no index leaves half of them out"
                ),
                ("weight > 3", "every object"),
                // An index of some of the objects cannot have all that match.
                ("seen == nil", "every object"),
            ] {
                let explained = try await Tool.run(
                    "objects", path, "Bird", "--where", condition, "--explain")
                #expect(explained.output.hasPrefix(explanation), "\(explained.output)")
            }
        }
    }

    @Test func anIndexOfWhatIsStoredUnderAnotherNameIsNotUsed() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let repository = workspace.repository(of: Renamed.self)
            try await repository.saveAll((0..<100).map { Renamed(id: $0, rank: $0, weight: -$0) })
            try await repository.indexesBuilt()
            try await workspace.close()
            // The member "rank" holds the weight.
            #expect(try await ids(["\(path)/w", "Renamed", "--where", "rank == -7"]) == [7])
            let explained = try await Tool.run(
                "objects", "\(path)/w", "Renamed", "--where", "rank == 7", "--explain")
            #expect(explained.output.contains("is of other fields"), "\(explained.output)")
            // Nor is it called wrong for that.
            let verify = try await Tool.run("verify", "\(path)/w")
            #expect(verify.status == 0, "\(verify.errors)")
            #expect(verify.lines.last == "index \"rank\" of \"Renamed\": 100 entries")
        }
    }

    @Test func membersWithAPointOrAQuestionMarkInTheirNamesAreShown() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let imported = try await Tool.run(
                "import", w, "--format", "jsonl", "--into", "T",
                input: #"{"id":"1","a.b":5,"done?":true,"c":{"d":6}}"# + "\n")
            #expect(imported.status == 0, "\(imported.errors)")
            let all = try await Tool.run("objects", w, "T", "--format", "csv")
            #expect(all.lines.count == 2)
            let columns = (all.lines.first ?? "").split(separator: ",")
            #expect(Set(columns) == ["key", "id", "a.b", "done?", "c"])
            #expect(
                columns.firstIndex(of: "a.b")
                    == (all.lines.last ?? "").split(separator: ",").firstIndex(of: "5"))
            #expect(
                columns.firstIndex(of: "done?")
                    == (all.lines.last ?? "").split(separator: ",").firstIndex(of: "true"))
            let some = try await Tool.run(
                "objects", w, "T", "--format", "csv", "--fields", "c.d")
            #expect(some.lines == ["key,c.d", "1,6"])
        }
    }

    @Test func objectsAreShownInEachFormat() async throws {
        try await ObjectSamples.withBirds { path in
            let table = try await Tool.run(
                "objects", path, "Bird", "--where", "id == 7", "--fields", "name,place.city")
            #expect(
                table.lines == [
                    "key  name      place.city", "---  --------  ----------",
                    "a7   Café \"7\"  Ulm",
                ])
            #expect(table.errors.isEmpty)
            let json = try await Tool.run(
                "objects", path, "Bird", "--limit", "1", "--format", "jsonl")
            #expect(json.lines.count == 1)
            #expect(
                json.lines[0].hasPrefix(#"{"key":"a0","value":{"id":0,"name":"#), "\(json.lines)")
            let typo = try await Tool.run("objects", path, "Bird", "--where", "prio > 3")
            #expect(typo.status == 0)
            #expect(typo.errors == "roost: no object that was read has a member \"prio\"\n")
            let none = try await Tool.run("objects", path, "Nothing", "--where", "prio > 3")
            #expect(none.status == 0 && none.errors.isEmpty)
        }
    }

    @Test(arguments: [
        ("", 1, "expected a member's name, found the end"),
        ("priority >", 11, "expected a literal, found the end"),
        ("priority > red", 12, "a text stands in quotes: \"red\""),
        ("priority > red", 12, "another member has $0 before it: $0.red"),
        ("priority > $0", 13, "expected a member of $0"),
        ("priority = 3", 10, "= has no meaning here"),
        ("(priority > 3", 14, "expected ), found the end"),
        ("priority > 3 color == .red", 14, "expected && or || or the end, found color"),
        ("name == \"open", 9, "the text has no end"),
        ("name.matches(\"x\")", 1, "matches is none of contains, hasPrefix, hasSuffix and isIn"),
        ("name.contains(3)", 15, "expected a text, found 3"),
        ("priority > 1.2.3", 12, "1.2.3 is no number"),
        ("name == \"\\q\"", 10, "\\q is none of"),
        ("3 < priority", 1, "expected a member's name, found 3"),
        ("color.isIn([.red", 17, "expected ], found the end"),
        (String(repeating: "(", count: 200), 101, "too many parentheses"),
    ])
    func aBadConditionIsAnErrorWithItsPlace(_ text: String, _ column: Int, _ reason: String) {
        #expect {
            try ConditionParser.parse(text)
        } throws: { error in
            let error = error as? ConditionError
            #expect(error?.column == column)
            return error?.reason.contains(reason) ?? false
        }
    }

    @Test func aBadConditionEndsTheCommandWithTwo() async throws {
        try await ObjectSamples.withBirds { path in
            let bad = try await Tool.run("objects", path, "Bird", "--where", "priority > ")
            #expect(bad.status == 2)
            #expect(
                bad.errors.hasPrefix("roost: --where, column 12: expected a literal"),
                "\(bad.errors)")
            let order = try await Tool.run("objects", path, "Bird", "--order", "id,,name")
            #expect(order.status == 2)
            #expect(order.errors.hasPrefix("roost: --order, column 4"), "\(order.errors)")
        }
    }

    @Test func objectsThatDoNotNameTheirFieldsAreAnErrorThatNamesOne() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            try await workspace.dictionary("d").set(5, forKey: "five")
            try await workspace.close()
            let outcome = try await Tool.run("objects", "\(path)/w", "d", "--where", "x == 1")
            #expect(outcome.status == 5)
            #expect(outcome.errors.contains("\"five\" in \"d\" does not name its fields"))
        }
    }

    private struct Rating: Codable, Identifiable, Sendable {
        var id: Int
        var score: Double
    }

    /// JSON has no number for them, and the values' coder another text than the command: they were left out of comparisons,
    /// and in the order -inf stood before +inf whichever way it was asked for.
    @Test func infiniteNumbersInJSONCompareAsNumbers() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let workspace = try await Workspace.open(at: w)
            let scores: [Double] = [Double.infinity, -Double.infinity, 7.5, 2, -3]
            let ratings = workspace.dictionary("Rating")
            for (id, score) in scores.enumerated() {
                try await ratings.set(
                    Rating(id: id, score: score), forKey: "\(id)", coder: .json)
            }
            try await workspace.close()
            func ids(_ arguments: String...) async throws -> [Int] {
                try await self.ids([w, "Rating"] + arguments)
            }
            #expect(try await ids("--where", "score > 5") == [0, 2])
            #expect(try await ids("--where", "score < 5") == [1, 3, 4])
            #expect(try await ids("--order", "score") == [1, 4, 3, 2, 0])
            #expect(try await ids("--order", "-score") == [0, 2, 3, 4, 1])
        }
    }
}
