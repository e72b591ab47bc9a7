import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// An object with an identifier of any kind, and a field of the same one.
struct IdentifiedItem<ID: Hashable & Codable & Sendable>: Codable, Identifiable, Sendable, Equatable
{
    var id: ID
    var other: ID
    var number: Int
}

extension Query {
    /// What all pages give together.
    func fetchPages(ofAtMost limit: Int) throws -> [Item] {
        var items: [Item] = []
        var next: PageCursor?
        repeat {
            let page = try page(after: next, limit: limit)
            #expect(page.items.count <= limit)
            items += page.items
            next = page.next
        } while next != nil
        return items
    }
}

/// Conditions on the identifier read the objects that can match, and give what looking at all of them would.
@Suite(.timeLimit(.minutes(5))) struct IdentifierQueryTests {
    private typealias Item = IdentifiedItem

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
                #expect(try several.fetchPages(ofAtMost: 1) == expected.fetch())
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

    /// A text in a type of its own.
    private struct Tag: LosslessStringConvertible, KeyRepresentable, Codable, Comparable {
        var description: String
        init(_ description: String) { self.description = description }
        static func < (left: Tag, right: Tag) -> Bool { left.description < right.description }
    }

    @Test func identifiersThatHaveATextInThem() async throws {
        try await compare(["x", "y", "\u{e9}", "e\u{301}", "K", "\u{212a}"].map { Tag($0) })
    }

    @Test func severalAreFoundInTheOrderThatIsAskedFor() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<Int>.self)
        try await items.saveAll((0..<9).map { Item(id: $0, other: 0, number: $0) })
        #expect(try items.find(by: [7, 100, 2, 7]).map(\.id) == [7, 2, 7])
        #expect(try items.find(by: Set([5])).map(\.id) == [5])
        #expect(try items.find(by: []).isEmpty)
        try await workspace.close()
    }

    private struct Listed: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var number: Int
        static var indexes: [Index<Listed>] { [Index("number", \.number)] }
    }

    /// Many identifiers are no better than an index that leaves less.
    @Test func ofManyIdentifiersAndFewEntriesTheEntriesAreRead() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Listed.self)
        try await items.saveAll((0..<500).map { Listed(id: $0, number: $0 % 100) })
        try await items.indexesBuilt()
        let many = Array(0..<400)
        let query = items.where { $0.id.isIn(many) && $0.number == 7 }
        #expect(try query.explain().contains("5 entries, 4 objects read"))
        #expect(try query.fetch().map(\.id) == [7, 107, 207, 307])
        #expect(try query.order(by: \.id, .descending).fetch().map(\.id) == [307, 207, 107, 7])
        #expect(try items.where { $0.id.isIn(many) }.count() == 400)
        // Nor is a wide range.
        let range = items.where { $0.id < 400 && $0.number == 7 }
        #expect(try range.explain().contains("5 entries, 4 objects read"))
        #expect(
            try range.order(by: \.id, .descending).limit(2).explain().contains("index \"number\""))
        #expect(
            try range.order(by: \.id, .descending).limit(2).fetch().map(\.id) == [307, 207])
        #expect(
            try items.where { $0.number == 7 && $0.id >= 300 && $0.id < 320 }.explain()
                .hasPrefix("a range of identifiers"))
        try await workspace.close()
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
