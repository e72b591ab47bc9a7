import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Conditions on the identifier read the objects that can match, and give what looking at all of them would.
@Suite(.timeLimit(.minutes(5))) struct IdentifierQueryTests {
    private struct Item<ID: Hashable & Codable & Sendable>: Codable, Identifiable, Sendable,
        Equatable
    {
        var id: ID
        var other: ID
        var number: Int
    }

    private struct Name: RawRepresentable, Hashable, Codable, Sendable, KeyRepresentable {
        var rawValue: String
    }

    /// As the planner takes it, and by a closure, which takes every object.
    private func compare<ID: KeyRepresentable & Codable>(_ identifiers: [ID]) async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Item<ID>.self)
            try await items.saveAll(
                identifiers.enumerated().map {
                    Item(id: $1, other: identifiers.randomElement(using: &random)!, number: $0)
                })
            for isCompacted in [false, true] {
                if isCompacted { try await workspace.compact() }
                for id in identifiers {
                    let found = items.where { $0.id == id }
                    let expected = try items.where { $0.satisfies { $0.id == id } }.fetch()
                    #expect(try found.fetch() == expected)
                    #expect(try found.count() == expected.count)
                    #expect(try found.isEmpty() == false)
                    #expect(
                        try items.where { $0.id == id && $0.number < 3 }.fetch()
                            == expected.filter { $0.number < 3 })
                    #expect(
                        try items.where { $0.id != id }.count() == identifiers.count
                            - expected.count)
                    #expect(
                        try items.where { $0.other == id }.fetch()
                            == items.where { $0.satisfies { $0.other == id } }.fetch())
                    try await workspace.transaction { transaction in
                        let inside = try transaction.fetch(found)
                        #expect(inside == expected)
                        let count = try transaction.count(of: found)
                        #expect(count == expected.count)
                    }
                }
                let some = (0..<4).map { _ in identifiers.randomElement(using: &random)! }
                let several = items.where { $0.id.isIn(some) }
                let expected = items.where { $0.satisfies { some.contains($0.id) } }
                #expect(try several.fetch() == expected.fetch())
                #expect(
                    try several.order(by: \.number, .descending).limit(2).fetch()
                        == expected.order(by: \.number, .descending).limit(2).fetch())
                #expect(
                    try several.limit(1).offset(1).fetch() == expected.limit(1).offset(1).fetch())
                #expect(
                    try items.where { $0.id == some[0] || $0.id == some[1] }.fetch()
                        == items.where { $0.satisfies { some.prefix(2).contains($0.id) } }.fetch())
                #expect(
                    try items.where { $0.id == some[0] || $0.number == 1 }.fetch()
                        == items.where { $0.satisfies { $0.id == some[0] || $0.number == 1 } }
                        .fetch())
                #expect(try items.where { $0.id.isIn([]) }.fetch().isEmpty)
                var paged: [Item<ID>] = []
                var next: PageCursor?
                repeat {
                    let page = try several.page(after: next, limit: 1)
                    paged += page.items
                    next = page.next
                } while next != nil
                let all = try expected.fetch()
                #expect(paged == all)
            }
            try await workspace.close()
        }
    }

    @Test func identifiersThatAreNumbers() async throws {
        try await compare([0, 1, -1, 12, 345, Int.max, Int.min])
    }

    @Test func identifiersThatAreUUIDs() async throws {
        try await compare((0..<9).map { _ in UUID() })
    }

    /// Those that Swift takes for equal are several objects.
    @Test func identifiersThatAreTexts() async throws {
        try await compare([
            "", "a", "b", "K", "\u{212a}", ";", "\u{37e}", "`", "\u{1fef}", "\u{e9}", "e\u{301}",
            "a b",
        ])
    }

    @Test func identifiersWithARawValue() async throws {
        try await compare(["x", "y", "\u{e9}", "e\u{301}", "Kb"].map { Name(rawValue: $0) })
    }

    @Test func oneIdentifierReadsOneObject() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<Int>.self)
        try await items.saveAll((0..<500).map { Item(id: $0, other: 499 - $0, number: $0) })
        #expect(
            try items.where { $0.id == 7 }.explain() == "one identifier, id = 7: 1 objects read")
        #expect(
            try items.where { $0.id.isIn([7, 8, 7]) }.order(by: \.number).explain()
                .hasPrefix("2 identifiers"))
        #expect(try items.where { $0.other == 7 }.explain().hasPrefix("every object"))
        #expect(try items.where { $0.id == 5000 }.isEmpty())
        try await workspace.close()
    }

    /// A transaction that asks for one rests on that one: also on there being none.
    @Test func aTransactionRestsOnTheObjectThatItAskedFor() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<Int>.self)
        try await items.saveAll((0..<10).map { Item(id: $0, other: 0, number: 0) })
        var runs = 0
        try await workspace.transaction { transaction in
            runs += 1
            let isThere = try !transaction.isEmpty(items.where { $0.id == 77 })
            if runs == 1 {
                // Another object is none of its business; this one is.
                _ = items.dictionary.enqueue(Item(id: 3, other: 0, number: 1), forKey: 3.key)
                _ = items.dictionary.enqueue(Item(id: 77, other: 0, number: 1), forKey: 77.key)
            }
            try transaction.save(Item(id: 100, other: isThere ? 1 : 0, number: 0), in: items)
        }
        #expect(runs == 2)
        #expect(try await items.find(by: 100)?.other == 1)
        runs = 0
        try await workspace.transaction { transaction in
            runs += 1
            let number = try transaction.first(items.where { $0.id == 77 })?.number
            if runs == 1 {
                _ = items.dictionary.enqueue(Item(id: 3, other: 0, number: 2), forKey: 3.key)
            }
            try transaction.save(Item(id: 101, other: number ?? 0, number: 0), in: items)
        }
        #expect(runs == 1)
        try await workspace.close()
    }
}
