import Foundation
import Roost

/// What the runs of index buildings store: eight fields, two of them indexed.
struct BuiltItem: Codable, Identifiable, Sendable, Indexed {
    var id: Int
    var name: String
    var rank: Int
    var price: Double
    var city: String
    var isOpen: Bool
    var note: String?
    var tags: [String]

    /// Whether the next repository declares the indexes.
    @TaskLocal static var isIndexed = true

    static var indexes: [Index<BuiltItem>] {
        isIndexed ? [Index("rank", \.rank), Index("name", \.name)] : []
    }

    init(id: Int) {
        var random = CrashRandom(seed: UInt64(id))
        self.id = id
        name = "item \(random.next())"
        rank = random.below(1_000_000)
        price = Double(random.below(100_000)) / 100
        city = ["Bonn", "Oslo", "Lima", "Kyoto"][random.below(4)]
        isOpen = random.once(in: 2)
        note = random.once(in: 2) ? nil : "note \(id)"
        tags = random.once(in: 3) ? ["a", "b"] : []
    }

    static func repository(_ workspace: Workspace, isIndexed: Bool) -> Repository<BuiltItem> {
        $isIndexed.withValue(isIndexed) { workspace.repository(of: BuiltItem.self, named: "items") }
    }
}
