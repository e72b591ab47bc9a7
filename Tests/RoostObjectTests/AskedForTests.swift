import Foundation
import Roost
import RoostTestSupport
import Testing

/// Conditions and orders that are put together while a program runs, as a listing page's filters are.
@Suite(.timeLimit(.minutes(10))) struct AskedForTests {
    struct Page: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var title: String
        var tags: [String] = []
        var others: [String]?
        var rating: Int?
        var words: [String] { title.lowercased().split(separator: " ").map(String.init) }
        static var indexes: [Index<Page>] {
            [
                Index("title", \.title), Index("words", each: \.words), Index("tags", each: \.tags),
                Index("others", each: \.others),
            ]
        }
    }

    private static let all = [
        Page(id: 1, title: "Heron at dusk", tags: ["bird", "dusk"], rating: 3),
        Page(id: 2, title: "Herring", tags: ["fish"], others: ["sea", "salt"], rating: 5),
        Page(id: 3, title: "A bird, a heron", tags: ["bird"], others: []),
        Page(id: 4, title: "Dawn", tags: [], others: ["sea"], rating: nil),
    ]

    private func pages() async throws -> Repository<Page> {
        let pages = try await Workspace.inMemory().repository(of: Page.self)
        try await pages.saveAll(Self.all)
        try await pages.indexesBuilt()
        return pages
    }

    @Test func conditionsOfAListAreJoined() async throws {
        let pages = try await pages()
        func ids(_ condition: Condition<Page>) throws -> [Int] {
            try pages.where(condition).fetch().map(\.id)
        }
        let bird = Condition<Page>.make { $0.tags.contains("bird") }
        let rated = Condition<Page>.make { $0.rating != nil }
        #expect(try ids(.all(of: [])) == [1, 2, 3, 4])
        #expect(try ids(.any(of: [])) == [])
        #expect(try ids(.all(of: [bird])) == [1, 3])
        #expect(try ids(.all(of: [bird, rated])) == [1])
        #expect(try ids(.any(of: [bird, rated])) == [1, 2, 3])
        #expect(try ids(!Condition.any(of: [bird, rated])) == [4])
        #expect(try ids(.all(of: [.all(of: []), bird, .any(of: [.any(of: []), rated])])) == [1])
        let either = Condition<Page>.any(
            of: ["bird", "fish"].map { tag in .make { $0.tags.contains(tag) } })
        #expect(
            try pages.where(either).explain()
                == "index \"tags\", tags contains \"bird\" or tags contains \"fish\": 3 entries, 3 objects read"
        )
    }

    @Test func elementsAreAskedForByAList() async throws {
        let pages = try await pages()
        let either = pages.where { $0.tags.contains(anyOf: ["dusk", "bird", "fish"]) }
        #expect(try either.fetch().map(\.id) == [1, 2, 3])
        #expect(try either.count() == 3)
        #expect(try either.explain().hasPrefix("index \"tags\", tags contains any of [\"dusk\", "))
        #expect(try pages.where { $0.tags.contains(anyOf: []) }.fetch() == [])
        #expect(try pages.where { !$0.tags.contains(anyOf: ["bird"]) }.count() == 2)
        let both = pages.where { $0.tags.contains(allOf: ["dusk", "bird"]) }
        #expect(try both.fetch().map(\.id) == [1])
        #expect(try pages.where { $0.tags.contains(allOf: []) }.count() == 4)
        #expect(try pages.where { $0.others.contains(anyOf: ["salt", "sea"]) }.count() == 2)
        #expect(try pages.where { $0.others.contains(allOf: ["salt", "sea"]) }.count() == 1)
        #expect(try pages.where { $0.others.contains(anyOf: []) }.count() == 0)
    }

    @Test func wordsAreFoundByTheirBeginFromAnIndex() async throws {
        let pages = try await pages()
        let found = pages.where { $0.words.contains(prefix: "her") }
        #expect(try found.fetch().map(\.id) == [1, 2, 3])
        #expect(try found.count() == 3)
        #expect(
            try found.explain()
                == "index \"words\", <computed> contains what begins with \"her\": 3 entries, 3 objects read"
        )
        // A single word leaves fewer than what begins with one.
        let both = pages.where { $0.tags.contains(prefix: "b") && $0.tags.contains("dusk") }
        #expect(try both.fetch().map(\.id) == [1])
        #expect(try both.explain().hasSuffix("1 entries, 1 objects read"))
        #expect(try pages.where { $0.words.contains(prefix: "") }.count() == 4)
        #expect(try pages.where { $0.words.contains(prefix: "HER", .ignoringCase) }.count() == 3)
        #expect(try pages.where { $0.others.contains(prefix: "s") }.fetch().map(\.id) == [2, 4])
        #expect(try pages.where { !$0.others.contains(prefix: "s") }.count() == 2)
    }

    @Test func aLiveResultFollowsWhatBeginsWithAText() async throws {
        let pages = try await pages()
        var updates = pages.where { $0.words.contains(prefix: "daw") }.updates()
            .makeAsyncIterator()
        #expect(await updates.next()?.map(\.id) == [4])
        try await pages.save(Page(id: 9, title: "At Dawning"))
        #expect(await updates.next()?.map(\.id) == [4, 9])
        try await pages.update(4) { $0.title = "Noon" }
        #expect(await updates.next()?.map(\.id) == [9])
    }

    @Test func ordersAreValues() async throws {
        let pages = try await pages()
        let columns: [String: OrderedField<Page>] = [
            "title": .ascending(\.title), "-rating": .descending(\.rating),
            "-id": .descending(\.id),
        ]
        func ids(_ names: String...) throws -> [Int] {
            try pages.order(by: names.compactMap { columns[$0] }).fetch().map(\.id)
        }
        #expect(try ids() == [1, 2, 3, 4])
        #expect(try ids("title") == [3, 4, 1, 2])
        #expect(try ids("-rating", "title") == [2, 1, 3, 4])
        #expect(try ids("-rating", "-id") == [2, 1, 4, 3])
        let last = pages.order(by: [.descending(\.id)]).limit(2)
        #expect(try last.explain() == pages.order(by: \.id, .descending).limit(2).explain())
        let cursor = try pages.order(by: [.ascending(\.title)]).page(after: nil, limit: 3).next
        let rest = try pages.order(by: \.title).page(after: cursor, limit: 3)
        #expect(rest.items.map(\.id) == [2])
    }

    @Test func sumsPassByWhatHasNoValue() async throws {
        let pages = try await pages()
        #expect(try pages.all.sum(of: \.rating) == 8)
        #expect(try pages.where { $0.rating == nil }.sum(of: \.rating) == 0)
        let groups = pages.grouped(by: \.tags.count)
        #expect(try groups.sums(of: \.rating) == [0: 0, 1: 5, 2: 3])
        let workspace = pages.dictionary.workspace
        #expect(
            try workspace.read { view in
                try (view.sum(of: \.rating, in: pages.all), view.sums(of: \.rating, in: groups))
            } == (8, [0: 0, 1: 5, 2: 3]))
        let inTransaction = try await workspace.transaction { tx in
            try tx.update(2, in: pages) { $0.rating = 6 }
            let sum = try tx.sum(of: \.rating, in: pages.all)
            return try [sum] + tx.sums(of: \.rating, in: groups).values.sorted()
        }
        #expect(inTransaction == [9, 0, 3, 6])
        try await pages.save(Page(id: 5, title: "", rating: .max))
        let error = #expect(throws: RoostError.self) { try pages.all.sum(of: \.rating) }
        #expect(error?.code == .overflow)
    }

    @Test func severalObjectsAreFoundAndStoredInATransaction() async throws {
        let pages = try await pages()
        let workspace = pages.dictionary.workspace
        #expect(try pages.contains(3) && !pages.contains(7))
        let found = try workspace.read { try $0.find(by: [4, 7, 1], in: pages) }
        #expect(found.map(\.id) == [4, 1])
        try await workspace.transaction { tx in
            try tx.saveAll([Page(id: 7, title: "Seven"), Page(id: 8, title: "Eight")], in: pages)
            let found = try tx.find(by: [8, 9, 7, 1], in: pages)
            #expect(found.map(\.id) == [8, 7, 1])
        }
        #expect(try pages.where { $0.words.contains("seven") }.fetch().map(\.id) == [7])
    }
}
