import Foundation
import RoostCoding
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Values of objects that are read from the stored bytes, without the objects.
@Suite(.timeLimit(.minutes(5))) struct StoredValueTests {
    private struct Author: Codable, Sendable, Equatable {
        var id: Int
        var name: String
        var city: String?
    }

    /// Counts how often one is made, which is never where the stored fields say all.
    private struct Story: Codable, Identifiable, Sendable, StoredFields, Indexed {
        static let decodeCount = Mutex<[String: Int]>([:])
        var id: Int
        var title: String
        var size: Int
        var rating: Double?
        var author: Author
        var pages: [Int]
        /// Not among the stored fields.
        var extra: Int
        /// Tells the tests that run at once from each other.
        var test: String

        static var storedFields: [StoredField<Story>] {
            [
                StoredField(\.title, CodingKeys.title), StoredField(\.size, CodingKeys.size),
                StoredField(\.rating, CodingKeys.rating),
                StoredField(\.author, CodingKeys.author), StoredField(\.pages, CodingKeys.pages),
            ]
        }

        static var indexes: [Index<Story>] {
            [
                Index("size", \.size), Index("extra-author", \.extraRest, \.author.name),
                Index("pages", each: \.pages),
            ]
        }
        var extraRest: Int { extra % 3 }

        init(_ id: Int, _ test: String) {
            self.id = id
            title = "story \((id * 7) % 10)"
            size = (id * 13) % 17
            rating = id % 3 == 0 ? nil : Double(id) / 4
            author = Author(
                id: id % 4, name: ["Ada", "Bo"][id % 2], city: id % 5 == 0 ? nil : "Bonn")
            pages = Array(0..<(id % 4))
            extra = id
            self.test = test
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            title = try values.decode(String.self, forKey: .title)
            size = try values.decode(Int.self, forKey: .size)
            rating = try values.decodeIfPresent(Double.self, forKey: .rating)
            author = try values.decode(Author.self, forKey: .author)
            pages = try values.decode([Int].self, forKey: .pages)
            extra = try values.decode(Int.self, forKey: .extra)
            let test = try values.decode(String.self, forKey: .test)
            self.test = test
            Self.decodeCount.withLock { $0[test, default: 0] += 1 }
        }
    }

    /// How often an object is made by `body`.
    private func decodes(_ test: String, _ body: () async throws -> Void) async throws -> Int {
        let before = Story.decodeCount.withLock { $0[test, default: 0] }
        try await body()
        return Story.decodeCount.withLock { $0[test, default: 0] } - before
    }

    private func stories(_ test: String) async throws -> (Repository<Story>, [Story]) {
        let all = (0..<100).map { Story($0, test) }
        let stories = try await Workspace.inMemory().repository(of: Story.self)
        try await stories.saveAll(all)
        try await stories.indexesBuilt()
        // What is looked at before an index is used.
        _ = try stories.where { $0.size == 3 }.fetch()
        return (stories, all)
    }

    @Test func sumsAndAveragesMakeNoObjects() async throws {
        let (stories, all) = try await stories(#function)
        let rated = stories.where { $0.rating != nil && $0.author.name == "Bo" }
        let expected = all.filter { $0.rating != nil && $0.author.name == "Bo" }
        let decodes = try await decodes(#function) { () throws in
            #expect(try rated.sum(of: \.size) == expected.map(\.size).reduce(0, +))
            #expect(try rated.sum(of: \.rating) == expected.compactMap(\.rating).reduce(0, +))
            let small: [Int] = all.filter { $0.size < 9 }.map(\.author.id)
            let average = Double(small.reduce(0, +)) / Double(small.count)
            let found = try stories.where { $0.size < 9 }.average(of: \.author.id)
            #expect(found == average)
            let total: Int = expected.map(\.size).reduce(0, +)
            let sums = try rated.grouped(by: \.author.name).sums(of: \.size)
            #expect(sums == ["Bo": total])
            let longest = stories.order(by: \.title, .descending).order(by: \.author.city).limit(7)
            #expect(try longest.grouped(by: \.title).counts() == ["story 9": 7])
        }
        #expect(decodes == 0)
    }

    /// A property that the type does not list takes the object.
    @Test func whatIsNotStoredAloneIsReadWithTheObject() async throws {
        let (stories, all) = try await stories(#function)
        let decodes = try await decodes(#function) { () throws in
            #expect(try stories.all.sum(of: \.extra) == all.map(\.extra).reduce(0, +))
            #expect(try stories.all.sum(of: \.pages.count) == all.map(\.pages.count).reduce(0, +))
            #expect(
                try stories.where { $0.extra < 10 }.sum(of: \.size)
                    == all.prefix(10).map(\.size).reduce(0, +))
        }
        #expect(decodes > 200)
    }

    /// As none but the first object of each is made.
    @Test func countsOfGroupsReadOneObjectOfEach() async throws {
        let (stories, all) = try await stories(#function)
        let groups = stories.grouped(by: \.author.name, \.extraRest)
        let decodes = try await decodes(#function) { () throws in
            #expect(
                try groups.counts()
                    == Dictionary(grouping: all) { GroupKey($0.author.name, $0.extraRest) }
                    .mapValues(\.count))
        }
        #expect(decodes == 6)
        let ofOne = try await self.decodes(#function) { () throws in
            #expect(
                try stories.where { $0.extraRest == 1 }.grouped(by: \.author.name).counts()
                    == Dictionary(grouping: all.filter { $0.extraRest == 1 }, by: \.author.name)
                    .mapValues(\.count))
        }
        #expect(ofOne == 2)
        let ofEach = try await self.decodes(#function) { () throws in
            #expect(try stories.grouped(byEach: \.pages).counts() == [0: 75, 1: 50, 2: 25])
        }
        #expect(ofEach == 3)
    }

    // MARK: Values

    @Test func valuesComeInOrderWithoutTheObjects() async throws {
        let (stories, all) = try await stories(#function)
        let sorted = all.sorted { ($0.title, $1.size, $0.id) < ($1.title, $0.size, $1.id) }
        let small = all.filter { $0.size < 5 }.sorted { ($0.size, $0.id) < ($1.size, $1.id) }
        let decodes = try await decodes(#function) { () throws in
            let ordered = stories.order(by: \.title).order(by: \.size, .descending)
            #expect(try ordered.values(of: \.size) == sorted.map(\.size))
            let some = try ordered.offset(3).limit(20).values(of: \.title, \.author.name, \.rating)
            #expect(some.map(\.0) == sorted[3..<23].map(\.title))
            #expect(some.map(\.1) == sorted[3..<23].map(\.author.name))
            #expect(some.map(\.2) == sorted[3..<23].map(\.rating))
            // By an index.
            let few = stories.where { $0.size < 5 }.order(by: \.size)
            #expect(try few.values(of: \.title) == small.map(\.title))
            #expect(
                try few.limit(4).values(of: \.author).map(\.id) == small.prefix(4).map(\.author.id))
            #expect(try stories.values(of: \.pages) == all.map(\.pages))
            // In the identifiers' order, where no field is asked for.
            #expect(
                try stories.order(by: \.id, .descending).limit(3).values(of: \.size)
                    == all.suffix(3).reversed().map(\.size))
            #expect(
                try stories.order(by: \.title).order(by: \.id, .descending).limit(9)
                    .values(of: \.title)
                    == all.sorted { ($0.title, $1.id) < ($1.title, $0.id) }.prefix(9).map(\.title))
        }
        #expect(decodes == 0)
        let ids = try stories.where { $0.extra < 3 }.values(of: \.id, \.extra)
        #expect(ids.map(\.0) == [0, 1, 2] && ids.map(\.1) == [0, 1, 2])
    }

    @Test func valuesInAViewAndInATransaction() async throws {
        let (stories, all) = try await stories(#function)
        let workspace = stories.dictionary.workspace
        let some = stories.where { $0.size < 5 }
        let expected = all.filter { $0.size < 5 }.map(\.title)
        let (titles, pairs, triples) = try workspace.read { view in
            try (
                view.values(of: \.title, in: some), view.values(of: \.title, \.id, in: some),
                view.values(of: \.title, \.id, \.size, in: some)
            )
        }
        #expect(titles == expected && pairs.map(\.0) == expected && triples.map(\.0) == expected)
        let left = try await workspace.transaction { transaction in
            try transaction.update(0, in: stories) { $0.title = "other" }
            let one = try transaction.values(of: \.title, in: some)
            let two = try transaction.values(of: \.id, \.title, in: some).map(\.1)
            let three = try transaction.values(of: \.id, \.size, \.title, in: some).map(\.2)
            return [one, two, three]
        }
        #expect(left.allSatisfy { $0 == ["other"] + expected.dropFirst() })
        try await workspace.close()
    }
}
