import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Objects that come one after the other in an order, however many they are, take little memory.
@Suite(.timeLimit(.minutes(10))) struct SortedInTurnTests {
    private struct Ranked: Codable, Identifiable, Sendable, Indexed {
        static let decodeCount = Mutex<[String: Int]>([:])
        var id: Int
        var rank: Int
        /// As the rank, and no index has it.
        var place: Int
        /// Tells the tests that run at once from each other.
        var test: String
        static var indexes: [Index<Ranked>] { [Index("rank", \.rank)] }

        init(_ id: Int, _ rank: Int, _ test: String) {
            (self.id, self.rank, place, self.test) = (id, rank, rank, test)
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            rank = try values.decode(Int.self, forKey: .rank)
            place = try values.decode(Int.self, forKey: .place)
            let test = try values.decode(String.self, forKey: .test)
            self.test = test
            Self.decodeCount.withLock { $0[test, default: 0] += 1 }
        }
    }

    private func decodes(_ test: String, _ body: () async throws -> Void) async throws -> Int {
        let before = Ranked.decodeCount.withLock { $0[test, default: 0] }
        try await body()
        return Ranked.decodeCount.withLock { $0[test, default: 0] } - before
    }

    private static let budgetBytes = 8 << 10

    private func ranked(
        _ count: Int, _ test: String, _ random: inout SeededGenerator
    ) async throws -> Repository<Ranked> {
        var configuration = Workspace.Configuration(memoryBudgetBytes: Self.budgetBytes)
        configuration.minimumSortBytes = 0
        let workspace = try await Workspace.inMemory(configuration: configuration)
        let items = workspace.repository(of: Ranked.self)
        try await items.saveAll((0..<count).map { Ranked($0, random.below(count), test) })
        try await items.indexesBuilt()
        return items
    }

    @Test func placesTakeNoMoreThanTheyMay() throws {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<50 {
            let places = Set((0..<random.below(3_000)).map { _ in UInt32(random.below(1 << 30)) })
            let count = random.once(in: 2) ? Int.max : random.below(2_000)
            let offset = random.once(in: 2) ? 0 : min(count, random.below(20))
            let limitBytes = 2_000 + random.below(100_000)
            var first = FirstPlaces(count: count, sizeLimitBytes: limitBytes, offset: offset)
            for place in places {
                // Each place is the sort key, and a key that ends with it.
                let key = withUnsafeBytes(of: place.bigEndian) { Array($0) }
                first.add(key + [1] + key, keyCount: 5)
                #expect(first.sizeBytes <= limitBytes + 64)
            }
            let keys = first.sorted()
            let expected = places.sorted().prefix(count).dropFirst(offset)
            let found = (0..<keys.count).map { keys[$0] }
            #expect(
                found
                    == expected.prefix(keys.count).map { place in
                        [1] + withUnsafeBytes(of: place.bigEndian) { Array($0) }
                    })
            #expect((keys.lastPlace == nil) == (keys.count == expected.count))
            #expect(expected.isEmpty || !found.isEmpty)
        }
    }

    @Test func whatHasToBeSortedComesWholeAndInOrderByPieces() async throws {
        var random = SeededGenerator(seed: testSeed())
        let items = try await ranked(2_000, "sorted", &random)
        let whole = items.order(by: \.place, .descending)
        let queries = [
            whole, whole.offset(700), whole.limit(1_500), whole.offset(450).limit(1_000),
            items.where { $0.place > 900 }.order(by: \.place), whole.order(by: \.test),
        ]
        for query in queries {
            let expected = try query.fetch().map(\.id)
            var ids: [Int] = []
            let count = try await decodes("sorted") { try query.forEach { ids.append($0.id) } }
            #expect(ids == expected)
            // The budget is not enough for all keys: so the objects are looked at more than once.
            #expect(count > 2_000 * 2 + expected.count, "\(count)")
            ids = []
            for try await item in query.objects { ids.append(item.id) }
            #expect(ids == expected)
            ids = try await items.dictionary.workspace.transaction { transaction in
                var ids: [Int] = []
                try transaction.forEach(query) { ids.append($0.id) }
                return ids
            }
            #expect(ids == expected)
        }
    }

    /// Without a budget no values are kept; a sort has room all the same.
    @Test func aWorkspaceWithoutABudgetLooksOnce() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(memoryBudgetBytes: 0))
        let items = workspace.repository(of: Ranked.self)
        try await items.saveAll((0..<1_000).map { Ranked($0, 1_000 - $0, "no budget") })
        var ids: [Int] = []
        let count = try await decodes("no budget") {
            try items.order(by: \.place).forEach { ids.append($0.id) }
        }
        #expect(ids == (0..<1_000).reversed())
        // Once to look, and once to be given.
        #expect(count <= 2_000, "\(count)")
        try await workspace.close()
    }

    @Test func theOrderOfAnIndexNeedsNoSort() async throws {
        var random = SeededGenerator(seed: testSeed())
        let items = try await ranked(2_000, "indexed", &random)
        for order in [ScanOrder.ascending, .descending] {
            let query = items.order(by: \.rank, order)
            let expected = try query.fetch().map(\.id)
            var ids: [Int] = []
            let count = try await decodes("indexed") { try query.forEach { ids.append($0.id) } }
            #expect(ids == expected)
            #expect(count == 2_000, "each object is made once")
            ids = []
            for try await item in query.objects { ids.append(item.id) }
            #expect(ids == expected)
        }
    }
}
