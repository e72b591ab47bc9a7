import Roost
import RoostSimulation

/// An object of a simulated repository.
struct SimulatedItem: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var rank: Int
    var name: String
    var tags: [Int]
    var slug: Int?

    init(id: Int, _ random: inout SimulationRandom) {
        self.id = id
        rank = random.below(6)
        name =
            ["", "a", "b", "caf\u{e9}", "cafe\u{301}", String(repeating: "x", count: 1_100)][
                random.below(6)]
        tags = (0..<random.below(3)).map { _ in random.below(4) }
        // Mostly its own, sometimes one that others have too.
        slug = random.once(in: 4) ? nil : random.once(in: 8) ? random.below(4) : 100 + id
    }
}

extension SimulatedItem: Indexed {
    /// What the next repository declares, by name.
    @TaskLocal static var declared: Set<String> = []
    static var indexes: [Index<SimulatedItem>] { all.filter { declared.contains($0.name) } }

    static let all: [Index<SimulatedItem>] = [
        Index("rank", \.rank),
        Index("rank-name", \.rank, .descending(\.name)),
        Index("name", \.name),
        Index("tags", each: \.tags),
        Index("some", \.name, where: { $0.rank > 2 }),
        Index("slug", \.slug.present, isUnique: true),
    ]
}

extension Optional where Wrapped == Int {
    /// Unique only where there is a value: without one it is below all and the object's own.
    fileprivate var present: SlugValue { SlugValue(number: self) }
}

/// A value that is equal to nothing where there is no number, as NaN is.
struct SlugValue: IndexRepresentable {
    let number: Int?
    static func == (left: SlugValue, right: SlugValue) -> Bool {
        left.number != nil && left.number == right.number
    }
    static var indexShape: IndexShape { Double.indexShape }
    func encode(into form: inout IndexForm) {
        (number.map(Double.init) ?? .nan).encode(into: &form)
    }
}

/// A condition, and the same for a filter.
struct SimulatedQuery: Sendable {
    let condition: Condition<SimulatedItem>
    let matches: @Sendable (SimulatedItem) -> Bool

    init(_ random: inout SimulationRandom) {
        let rank = random.below(6)
        let tag = random.below(4)
        switch random.below(6) {
        case 0: self.init({ $0.rank == rank }, { $0.rank == rank })
        case 1: self.init({ $0.rank > rank }, { $0.rank > rank })
        case 2: self.init({ $0.name == "cafe\u{301}" }, { $0.name == "cafe\u{301}" })
        case 3: self.init({ $0.tags.contains(tag) }, { $0.tags.contains(tag) })
        case 4:
            self.init(
                { $0.rank == rank || $0.tags.contains(tag) },
                { $0.rank == rank || $0.tags.contains(tag) })
        default:
            self.init({ $0.rank > 2 && $0.name < "b" }, { $0.rank > 2 && $0.name < "b" })
        }
    }

    private init(
        _ condition: (Row<SimulatedItem>) -> Condition<SimulatedItem>,
        _ matches: @escaping @Sendable (SimulatedItem) -> Bool
    ) {
        self.condition = .make(condition)
        self.matches = matches
    }
}
