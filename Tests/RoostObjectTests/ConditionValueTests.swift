import Roost
import Testing

/// What `isIn` takes.
@Suite("Conditions on one of many values") struct ConditionValueTests {
    private struct Item: Codable, Identifiable, Indexed {
        static var indexes: [Index<Item>] { [Index("rank", \.rank)] }
        var id: Int
        var rank: Int
    }

    @Test("isIn takes arrays, sets, slices, the keys of a dictionary and ranges")
    func allSequences() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self)
        try await items.saveAll((0..<20).map { Item(id: $0, rank: $0 / 2) })
        try await items.indexesBuilt()
        let ranks = [1, 2, 3, 4]
        let queries = [
            items.where { $0.rank.isIn(ranks.dropFirst()) },
            items.where { $0.rank.isIn([2: "a", 3: "b", 4: "c"].keys) },
            items.where { $0.rank.isIn(2...4) },
            items.where { $0.rank.isIn(ranks.lazy.map { $0 + 1 }.filter { $0 < 5 }) },
            items.where { $0.rank.isIn([2, 3, 4]) },
            items.where { $0.rank.isIn(Set([2, 3, 4])) },
        ]
        for query in queries {
            #expect(try query.fetch().map(\.id) == Array(4..<10))
            #expect(try query.explain().hasPrefix("index \"rank\""))
        }
        try await workspace.close()
    }
}
