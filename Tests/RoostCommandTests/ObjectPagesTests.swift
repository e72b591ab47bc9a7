import Foundation
import Roost
import RoostForms
import RoostTestSupport
import Testing

/// Pages of objects after cursors, against the same order of all of them.
@Suite struct ObjectPagesTests {
    private struct Walk {
        var keys: [String] = []
        var objects: [JSONValue] = []

        func numbers(_ name: String) -> [Double] {
            objects.compactMap { object in
                guard case .number(let text)? = ObjectCondition.MemberPath(name).value(in: object)
                else { return nil }
                return Double(text)
            }
        }

        var warnings: Set<String> = []
        var ways: Set<String> = []
        var mostRead = 0
    }

    /// All pages, each from the text of the cursor before.
    private func walk(
        _ path: String, _ dictionary: String = "Bird", where condition: String? = nil,
        order: String? = nil, limit: Int = 7, readLimit: Int = 20_000
    ) async throws -> Walk {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(access: .readOnly))
        var walk = Walk()
        var cursor: ObjectCursor?
        repeat {
            var pages = ObjectPages(
                condition: try condition.map { try ConditionParser.parse($0) },
                order: try order.map { try ObjectOrderTerm.terms($0) } ?? [], limit: limit,
                readLimit: readLimit)
            let page = try pages.page(
                of: try StoredRepository(workspace, dictionary), after: cursor)
            #expect(page.objects.count <= limit && pages.objectCount <= readLimit)
            walk.keys += page.objects.map(\.key)
            walk.objects += page.objects.map(\.tree)
            walk.warnings.formUnion(page.warnings)
            walk.ways.insert(pages.way)
            walk.mostRead = max(walk.mostRead, pages.objectCount)
            let text = try page.next.map { try #require($0.text) }
            cursor = text.flatMap { ObjectCursor($0) }
            #expect((cursor == nil) == (text == nil))
        } while cursor != nil
        try await workspace.close()
        return walk
    }

    @Test func pagesHaveEveryObjectOnceInTheOrder() async throws {
        try await ObjectSamples.withBirds { path in
            let birds = ObjectSamples.birds
            for condition in [nil, "priority >= 37 && priority <= 74"] {
                let all = try await walk(path, where: condition, limit: 1000)
                let some = try await walk(path, where: condition, limit: 7)
                #expect(some.keys == all.keys && some.warnings.isEmpty)
                for order in ["weight", "color,-weight", "-priority", "name"] {
                    let whole = try await walk(path, where: condition, order: order, limit: 1000)
                    let walk = try await walk(path, where: condition, order: order, limit: 31)
                    #expect(walk.keys == whole.keys, "\(condition ?? "") by \(order)")
                    #expect(Set(walk.keys) == Set(all.keys) && walk.keys.count == all.keys.count)
                }
            }
            #expect(try await walk(path).keys.count == birds.count)
        }
    }

    @Test func anIndexGivesTheOrderAndOnlyThePageIsRead() async throws {
        try await ObjectSamples.withBirds { path in
            for (order, name) in [
                ("priority", "priority"), ("-priority", "priority"), ("name", "name"),
            ] {
                let walk = try await walk(path, order: order)
                #expect(walk.ways == ["index \"\(name)\" in its order"])
                #expect(walk.mostRead == 8)
            }
            let up = try await walk(path, order: "priority").numbers("priority")
            let down = try await walk(path, order: "-priority").numbers("priority")
            #expect(up == ObjectSamples.birds.map { Double($0.priority) }.sorted())
            #expect(down == up.reversed())
            let some = try await walk(path, where: "weight > 25", order: "-priority")
            let expected = ObjectSamples.birds.filter { $0.weight > 25 }.map { Double($0.priority) }
            #expect(some.numbers("priority") == expected.sorted(by: >))
        }
    }

    @Test func aPageReadsNoMoreThanItMay() async throws {
        try await ObjectSamples.withBirds { path in
            let all = try await walk(path, where: "weight == 3", limit: 1000).keys
            let short = try await walk(path, where: "weight == 3", readLimit: 10)
            #expect(short.keys == all && short.mostRead == 10)
            #expect(short.warnings.count == 1)
            // An index's order goes on after what was read, too.
            let some = try await walk(path, where: "weight == 3", order: "-priority", readLimit: 10)
            #expect(some.keys == all && some.mostRead == 10)
            // Without one only the first objects are sorted, which it says.
            let sorted = try await walk(path, order: "-weight", readLimit: 10)
            #expect(sorted.keys.count == 10)
            #expect(
                sorted.warnings.count == 1 && sorted.warnings.first!.contains("not all objects"))
        }
    }

    @Test func anIndexOfOtherFieldsThanTheNamesIsNotUsed() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let repository = workspace.repository(of: Renamed.self)
            try await repository.saveAll(
                (0..<30).map { Renamed(id: $0, rank: $0, weight: 100 - $0) })
            try await repository.indexesBuilt()
            try await workspace.close()
            // The member that is stored as "rank" is the property `weight`.
            for order in ["rank", "-rank"] {
                let walk = try await walk("\(path)/w", "Renamed", order: order)
                #expect(walk.ways == ["every object, sorted"])
                let expected = (0..<30).map { Double(100 - $0) }.sorted()
                #expect(walk.numbers("rank") == (order == "rank" ? expected : expected.reversed()))
            }
            let found = try await walk("\(path)/w", "Renamed", where: "rank < 80")
            #expect(found.ways == ["every object"] && found.keys.count == 9)
        }
    }

    private struct Owned: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var owner: UUID
        static var indexes: [Index<Owned>] { [Index("owner", \.owner)] }
    }

    /// An identifier is shown in capitals, and compared as it is shown: with an index or without.
    @Test func anIdentifierInSmallLettersIsBehindAllOthers() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let repository = workspace.repository(of: Owned.self)
            let last = "-0000-0000-0000-000000000000"
            try await repository.saveAll(
                (0..<16).map { number in
                    let first = String(number, radix: 16, uppercase: true) + "0000000"
                    return Owned(id: number, owner: UUID(uuidString: first + last)!)
                })
            try await repository.indexesBuilt()
            try await workspace.close()
            let capital = try await walk("\(path)/w", "Owned", where: "owner < \"B0000000\(last)\"")
            #expect(capital.ways == ["index \"owner\""] && capital.keys.count == 11)
            let small = try await walk("\(path)/w", "Owned", where: "owner < \"b0000000\(last)\"")
            #expect(small.keys.count == 16)
        }
    }

    @Test func aCursorOfAnotherOrderIsRefused() async throws {
        try await ObjectSamples.withBirds { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            for (order, cursor) in [
                ("", ObjectCursor.values([.null], key: "a")), ("weight", .key("a")),
                ("priority", .key("a")), ("priority", .entry(index: "name", key: [1])),
                ("weight,color", .values([.null], key: "a")),
            ] {
                var pages = ObjectPages(
                    condition: nil, order: order.isEmpty ? [] : try ObjectOrderTerm.terms(order),
                    limit: 5, readLimit: 100)
                #expect {
                    _ = try pages.page(
                        of: try StoredRepository(workspace, "Bird"), after: cursor)
                } throws: {
                    ($0 as? RoostError)?.code == .conflict
                }
            }
            try await workspace.close()
        }
    }

    @Test func aCursorIsReadBackAndNothingElseIs() throws {
        let cursors: [ObjectCursor] = [
            .key("a\0é\""), .entry(index: "name", key: [0, 255, 7]),
            .values([.null, .number("1.50"), .string("x"), .array([.bool(true)])], key: ""),
        ]
        for cursor in cursors {
            #expect(ObjectCursor(try #require(cursor.text)) == cursor)
        }
        for text in [
            "", "[]", "{}", "null", "[\"key\"]", "[\"key\",1]", "[\"entry\",\"a\",[256]]",
            "[\"entry\",\"a\",[-1]]", "[\"values\",1,\"a\"]", "[\"other\",\"a\"]",
            String(repeating: "[", count: 9_000),
        ] {
            #expect(ObjectCursor(text) == nil, "\(text.prefix(20))")
        }
        #expect(ObjectCursor.key(String(repeating: "k", count: 9_000)).text == nil)
    }
}
