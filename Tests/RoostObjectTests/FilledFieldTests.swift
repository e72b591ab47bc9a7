import Roost
import RoostTestSupport
import Testing

@Suite struct FilledFieldTests {
    struct Book: Codable, Identifiable, Equatable, Indexed {
        var id: Int
        var rating: Int?
        var weight: Double?
        var genre: String?
        var isLent: Bool?
        static var indexes: [Index<Book>] { [Index("rating", \.rating)] }
    }

    /// Each comparison with each value that counts for `nil` is that of a filter with the same words.
    @Test func aValueForNilCountsAsOneThatIsThere() async throws {
        var generator = SeededGenerator(seed: testSeed())
        let workspace = try await Workspace.inMemory()
        let repository = workspace.repository(of: Book.self)
        let books = (0..<300).map { id in
            Book(
                id: id, rating: Int.random(in: 0..<8, using: &generator) % 6 - 1,
                weight: [nil, .nan, 1.5, 2][id % 4],
                genre: [nil, "a", "b"][id % 3], isLent: [nil, true, false][id % 3])
        }.map { book in
            var book = book
            if book.rating == 0 { book.rating = nil }
            return book
        }
        try await repository.saveAll(books)
        try await repository.indexesBuilt()
        func check(
            _ query: Query<Book>, _ matches: (Book) -> Bool,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let expected = books.filter(matches).map(\.id)
            #expect(
                try query.fetch().map(\.id).sorted() == expected, sourceLocation: sourceLocation)
            #expect(try query.count() == expected.count, sourceLocation: sourceLocation)
        }
        for filling in -2..<7 {
            for bound in -1..<6 {
                try check(repository.where { ($0.rating ?? filling) == bound }) {
                    ($0.rating ?? filling) == bound
                }
                try check(repository.where { ($0.rating ?? filling) != bound }) {
                    ($0.rating ?? filling) != bound
                }
                try check(repository.where { ($0.rating ?? filling) < bound }) {
                    ($0.rating ?? filling) < bound
                }
                try check(repository.where { ($0.rating ?? filling) <= bound }) {
                    ($0.rating ?? filling) <= bound
                }
                try check(repository.where { ($0.rating ?? filling) > bound }) {
                    ($0.rating ?? filling) > bound
                }
                try check(repository.where { ($0.rating ?? filling) >= bound }) {
                    ($0.rating ?? filling) >= bound
                }
            }
            try check(repository.where { ($0.rating ?? filling).isIn([1, 3]) }) {
                [1, 3].contains($0.rating ?? filling)
            }
        }
        for filling in [Double.nan, 0, 1.5] {
            try check(repository.where { ($0.weight ?? filling) >= 1.5 }) {
                ($0.weight ?? filling) >= 1.5
            }
            let bound = Double.nan
            try check(repository.where { ($0.weight ?? filling) != bound }) {
                ($0.weight ?? filling) != bound
            }
        }
        try check(repository.where { ($0.genre ?? "a") == "a" && !($0.isLent ?? true) }) {
            ($0.genre ?? "a") == "a" && !($0.isLent ?? true)
        }
        try check(repository.where { $0.isLent ?? true }) { $0.isLent ?? true }
        let explained = try repository.where { ($0.rating ?? 0) >= 4 }.explain()
        #expect(explained.hasPrefix("index \"rating\""))
        try await workspace.close()
    }
}
