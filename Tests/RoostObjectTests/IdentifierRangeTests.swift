import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Ranges of identifiers, and their order, read what they give, and give what looking at all of them would.
@Suite(.timeLimit(.minutes(5))) struct IdentifierRangeTests {
    private typealias Item = IdentifiedItem

    /// Queries, and which identifiers match each.
    private struct Asked<ID: Hashable & Codable & Sendable> {
        private(set) var all: [(Query<Item<ID>>, (ID) -> Bool)] = []
        mutating func add(_ query: Query<Item<ID>>, _ isIn: @escaping (ID) -> Bool) {
            all.append((query, isIn))
        }
    }

    /// What a query gives whose condition is on the identifier, beside a look at every object and a stable sort.
    private func compareRanges<ID: KeyRepresentable & Codable & Comparable & IndexRepresentable>(
        _ identifiers: [ID],
        _ ask: (Repository<Item<ID>>, _ low: ID, _ high: ID, inout Asked<ID>) -> Void
    ) async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Item<ID>.self)
            let objects = identifiers.enumerated().map {
                Item(id: $1, other: identifiers.randomElement(using: &random)!, number: $0 % 3)
            }
            try await items.saveAll(objects.shuffled(using: &random))
            for round in 0..<6 {
                if round == 3 { try await workspace.compact() }
                let some = (0..<2).map { _ in identifiers.randomElement(using: &random)! }.sorted()
                var asked = Asked<ID>()
                ask(items, some[0], some[1], &asked)
                for (query, isIn) in asked.all {
                    let matches = objects.filter { isIn($0.id) }
                    try check(query, matches, &random)
                    try check(
                        query.where { $0.number == 1 }, matches.filter { $0.number == 1 }, &random)
                    try await workspace.transaction { transaction in
                        let found = try transaction.fetch(query.order(by: \.id, .descending))
                        #expect(found == matches.sorted { $0.id > $1.id })
                        let count = try transaction.count(of: query)
                        #expect(count == matches.count)
                    }
                }
            }
            #expect(try items.all.min(of: \.id) == identifiers.min())
            #expect(try items.all.max(of: \.id) == identifiers.max())
            try await workspace.close()
        }
    }

    private func check<ID: KeyRepresentable & Codable & Comparable & IndexRepresentable>(
        _ query: Query<Item<ID>>, _ matches: [Item<ID>], _ random: inout SeededGenerator
    ) throws {
        #expect(try query.count() == matches.count)
        let ascending = matches.sorted { $0.id < $1.id }
        let descending = Array(ascending.reversed())
        #expect(try query.order(by: \.id).fetch() == ascending)
        #expect(try query.order(by: \.id, .descending).fetch() == descending)
        #expect(try query.order(by: \.id).order(by: \.number).fetch() == ascending)
        let limit = Int.random(in: 2...9, using: &random)
        let offset = Int.random(in: 0...3, using: &random)
        #expect(
            try query.order(by: \.id, .descending).limit(limit).offset(offset).fetch()
                == Array(descending.dropFirst(offset).prefix(limit)))
        let byNumber = descending.sorted { $0.number < $1.number }
        #expect(try query.order(by: \.number).order(by: \.id, .descending).fetch() == byNumber)
        let byNumberUp = ascending.sorted { $0.number < $1.number }
        #expect(try query.order(by: \.number).order(by: \.id).fetch() == byNumberUp)
        #expect(try query.order(by: \.id, .descending).first() == descending.first)
        for (ordered, expected) in [
            (query.order(by: \.id), ascending), (query.order(by: \.id, .descending), descending),
            (query.order(by: \.id, .descending).order(by: \.number), descending),
        ] {
            #expect(try ordered.fetchPages(ofAtMost: limit) == expected)
            var inTurn: [Item<ID>] = []
            try ordered.forEach { inTurn.append($0) }
            #expect(inTurn == expected)
        }
    }

    @Test func numbersInRanges() async throws {
        let numbers =
            [Int.min, Int.min + 1, -1, 0, 1, Int.max - 1, Int.max] + (-30..<50).map { $0 * 7 }
        try await compareRanges(Array(Set(numbers))) { items, low, high, asked in
            asked.add(items.where { $0.id > low }) { $0 > low }
            asked.add(items.where { $0.id >= low && $0.id < high }) { $0 >= low && $0 < high }
            asked.add(items.where { $0.id <= low || $0.id > high }) { $0 <= low || $0 > high }
            asked.add(items.where { (low...high).contains($0.id) }) { (low...high).contains($0) }
            asked.add(items.where { !($0.id > low) }) { !($0 > low) }
            asked.add(items.where { $0.id != low }) { $0 != low }
            asked.add(items.all) { _ in true }
        }
    }

    @Test func narrowNumbersInRanges() async throws {
        try await compareRanges(
            Array(Int8.min...(-120)) + Array(Int8(-3)...12) + Array(Int8(90)...Int8.max)
        ) { items, low, high, asked in
            asked.add(items.where { $0.id > low }) { $0 > low }
            asked.add(items.where { $0.id <= high && $0.id >= low }) { $0 <= high && $0 >= low }
        }
        try await compareRanges((0..<40).map { UInt64.max / 39 * $0 }) { items, low, high, asked in
            asked.add(items.where { $0.id > low }) { $0 > low }
            asked.add(items.where { $0.id <= high }) { $0 <= high }
        }
        try await compareRanges((-20..<20).map { Int128.max / 21 * $0 }) {
            items, low, high, asked in
            asked.add(items.where { $0.id >= low }) { $0 >= low }
            asked.add(items.where { $0.id < high }) { $0 < high }
        }
    }

    @Test func uuidsInRanges() async throws {
        try await compareRanges((0..<50).map { _ in UUID() }) { items, low, high, asked in
            asked.add(items.where { $0.id > low }) { $0 > low }
            asked.add(items.where { $0.id >= low && $0.id <= high }) { $0 >= low && $0 <= high }
            asked.add(items.where { $0.id < low || $0.id == high }) { $0 < low || $0 == high }
        }
    }

    /// Texts that Swift orders by other bytes than their keys have are among them.
    @Test func textsInRanges() async throws {
        let texts =
            ["", "a", "ab", "a\u{301}", "\u{e1}", "K", "\u{212a}", "Kb", "\u{212a}b", "b\u{0}c"]
            + ["ab\u{327}", "ab/1", "ab/2", "ab/\u{e9}", "ab/e\u{301}x", "ac", "z", "\u{1f600}"]
        // Two that are equal would be objects in no certain order.
        var distinct: [String] = []
        for text in texts where !distinct.contains(text) { distinct.append(text) }
        try await compareRanges(distinct) { items, low, high, asked in
            asked.add(items.where { $0.id.hasPrefix(low) }) { $0.hasPrefix(low) }
            asked.add(items.where { $0.id.hasPrefix("ab/") }) { $0.hasPrefix("ab/") }
            asked.add(items.where { $0.id.hasPrefix("ab") || $0.id.hasPrefix("z") }) {
                $0.hasPrefix("ab") || $0.hasPrefix("z")
            }
            asked.add(items.where { $0.id > low }) { $0 > low }
            asked.add(items.where { $0.id >= low && $0.id < high }) { $0 >= low && $0 < high }
        }
    }

    /// Equal texts of other bytes are other objects, and a prefix finds all of them.
    @Test func aPrefixFindsWhatIsEqualToIt() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<String>.self)
        let texts = [
            "K/1", "\u{212a}/1", ";a", "\u{37e}a", "`", "\u{1fef}", "\u{e9}", "e\u{301}", "e",
        ]
        try await items.saveAll(texts.map { Item(id: $0, other: "", number: 0) })
        for prefix in texts + ["K", "\u{212a}", ";", ""] {
            let expected = texts.filter { $0.hasPrefix(prefix) }.sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
            #expect(
                try items.where { $0.id.hasPrefix(prefix) }.fetch().map { Array($0.id.utf8) }
                    == expected.map { Array($0.utf8) })
        }
        try await workspace.close()
    }

    @Test func rangesAndOrdersReadWhatTheyGive() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<Int>.self)
        try await items.saveAll((0..<500).map { Item(id: $0, other: 499 - $0, number: $0 % 5) })
        #expect(
            try items.where { $0.id > 489 }.explain()
                == "a range of identifiers, id > 489: 10 objects read")
        #expect(
            try items.where { $0.id > 100 }.order(by: \.id).limit(3).explain()
                == "a range of identifiers, id > 100: 3 objects read")
        #expect(
            try items.order(by: \.id, .descending).limit(3).explain()
                == "every object: 3 objects read")
        #expect(
            try items.where { $0.id < 10 || $0.id >= 495 }.explain()
                .hasPrefix("2 ranges of identifiers"))
        let prefixed = workspace.repository(of: Item<String>.self, named: "texts")
        try await prefixed.saveAll(
            (0..<100).map { Item(id: "\($0 % 2 == 0 ? "eu" : "us")/\($0)", other: "", number: 0) })
        let some = prefixed.where { $0.id.hasPrefix("eu/1") }
        let count = try some.count()
        #expect(try some.explain().hasSuffix(": \(count) objects read"))
        try await workspace.close()
    }

    // MARK: Objects under other keys, and indexes with the identifier

    /// Somebody wrote it round the repository: it stands, and comes, where its key says, in lists, pages and live results.
    @Test @MainActor func anObjectUnderAnotherKeyIsInEveryPage() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<Int>.self)
        try await items.saveAll((1..<60).map { Item(id: $0, other: 0, number: $0 % 3) })
        try await items.dictionary.set(Item(id: 0, other: 0, number: 7), forKey: "zzz")
        try await items.dictionary.set(Item(id: 99, other: 0, number: 8), forKey: 0.key)
        for ordered in [
            items.order(by: \.id), items.order(by: \.id, .descending),
            items.order(by: \.number).order(by: \.id, .descending),
        ] {
            let all = try ordered.fetch().map(\.id)
            #expect(all.count == 61 && Set(all).count == 61)
            #expect(try ordered.fetchPages(ofAtMost: 7).map(\.id) == all)
            let live = LiveQuery(ordered.limit(20))
            #expect(live.items.map(\.id) == Array(all.prefix(20)))
            for id in all.prefix(15) where (1..<60).contains(id) { try await items.delete(id) }
            let rest = try ordered.limit(20).fetch().map(\.id)
            #expect(live.items.map(\.id) == rest)
            try await items.saveAll((1..<60).map { Item(id: $0, other: 0, number: $0 % 3) })
            let again = try ordered.limit(20).fetch().map(\.id)
            #expect(live.items.map(\.id) == again)
        }
        try await workspace.close()
    }

    private struct Scored: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var status: Int
        var score: Int
        static var indexes: [Index<Scored>] {
            [
                Index("score", \.score, \.id), Index("newest", \.score, .descending(\.id)),
                Index("status", \.status, .descending(\.score), \.id),
            ]
        }
    }

    /// An index that has the identifier behind a field gives both orders, and reads what it gives.
    @Test func anIndexWithTheIdentifierIsInItsOrder() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Scored.self)
        let all = (0..<1_200).map { Scored(id: $0 - 300, status: $0 % 2, score: $0 % 3) }
        try await items.saveAll(all)
        try await items.indexesBuilt()
        let queries: [(Query<Scored>, [Scored])] = [
            (
                items.order(by: \.score).order(by: \.id),
                all.sorted { ($0.score, $0.id) < ($1.score, $1.id) }
            ),
            (
                items.order(by: \.score).order(by: \.id, .descending),
                all.sorted { ($0.score, -$0.id) < ($1.score, -$1.id) }
            ),
            (
                items.where { $0.status == 1 }.order(by: \.score, .descending).order(by: \.id),
                all.filter { $0.status == 1 }.sorted { (-$0.score, $0.id) < (-$1.score, $1.id) }
            ),
        ]
        for (query, expected) in queries {
            let ids = expected.map(\.id)
            #expect(try query.fetch().map(\.id) == ids)
            #expect(try query.limit(20).fetch().map(\.id) == Array(ids.prefix(20)))
            #expect(try query.limit(20).planCosts().chosen.entryCount <= 64)
            var paged: [Int] = []
            var next: PageCursor?
            repeat {
                let page = try query.page(after: next, limit: 90)
                paged += page.items.map(\.id)
                next = page.next
                if let next {
                    let rest = try query.behind(next).limit(20)
                    #expect(try rest.planCosts().chosen.entryCount <= 64)
                }
            } while next != nil
            #expect(paged == ids)
        }
        try await workspace.close()
    }

    /// What leaves thousands of gaps is one range.
    @Test func manyGapsAreOneRange() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item<Int>.self)
        try await items.saveAll((0..<300).map { Item(id: $0 * 20, other: 0, number: 0) })
        let seen = Set((0..<5_000).map { $0 })
        let rest = items.where { !$0.id.isIn(seen) && $0.id < 5_500 }
        #expect(try rest.fetch().map(\.id) == (250..<275).map { $0 * 20 })
        #expect(try rest.count() == 25)
        let odd = Set((0..<2_000).map { $0 * 3 })
        let gaps = items.where { !$0.id.isIn(odd) }
        let expected = (0..<300).map { $0 * 20 }.filter { !odd.contains($0) }
        #expect(try gaps.fetch().map(\.id) == expected)
        #expect(try gaps.count() == expected.count)
        let texts = workspace.repository(of: Item<String>.self, named: "texts")
        try await texts.saveAll(["aK", "b", "zz"].map { Item(id: $0, other: "", number: 0) })
        let names = (0..<10_000).map { "a\($0)" } + ["aK", "zz"]
        #expect(try texts.where { $0.id.isIn(names) }.fetch().map(\.id) == ["aK", "zz"])
        try await workspace.close()
    }
}
