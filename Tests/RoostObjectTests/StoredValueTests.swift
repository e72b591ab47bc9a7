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

        static var indexes: [Index<Story>] { [Index("size", \.size)] }

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
            #expect(
                try stories.where { $0.size < 9 }.average(of: \.author.id)
                    == Double(all.filter { $0.size < 9 }.map(\.author.id).reduce(0, +))
                    / Double(all.filter { $0.size < 9 }.count))
            #expect(
                try rated.grouped(by: \.author.name).sums(of: \.size)
                    == ["Bo": expected.map(\.size).reduce(0, +)])
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
}
