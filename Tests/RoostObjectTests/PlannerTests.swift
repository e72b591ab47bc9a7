import Foundation
import Roost
import RoostTestSupport
import Testing

/// What the planner chooses costs at most three times what the best of all plans does: in entries and
/// objects that are read, on random objects, indexes and queries.
@Suite(.timeLimit(.minutes(10))) struct PlannerTests {
    struct Item: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        /// Few values, many of one, all different, and several per object.
        var kind: Int
        var skewed: Int
        var number: Int
        var price: Double
        var tags: [Int]

        @TaskLocal static var declared: Set<String> = []
        static var indexes: [Index<Item>] { all.filter { declared.contains($0.name) } }
        static let all: [Index<Item>] = [
            Index("kind", \.kind), Index("skewed", \.skewed), Index("number", \.number),
            Index("price", \.price), Index("tags", each: \.tags),
            Index("kind-number", \.kind, \.number),
            Index("kind-price", \.kind, .descending(\.price)),
            Index("skewed-kind-number", \.skewed, \.kind, \.number),
            Index("cheap", \.number, where: { $0.price < 20 }),
        ]

        init(id: Int, _ random: inout SeededGenerator) {
            self.id = id
            kind = random.below(8)
            skewed = random.once(in: 10) ? 1 + random.below(50) : 0
            number = random.below(100_000)
            price = Double(random.below(10_000)) / 100
            tags = (0..<random.below(4)).map { _ in random.below(40) }
        }
    }

    private static var queryCount: Int {
        ProcessInfo.processInfo.environment["ROOST_QUERY_CASES"].flatMap { Int($0) }.map { $0 / 40 }
            ?? runCount(40, whole: 100)
    }

    @Test func whatIsChosenCostsAtMostThreeTimesTheBest() async throws {
        var random = SeededGenerator(seed: testSeed())
        var done = 0
        var worst = 0.0
        while done < Self.queryCount {
            let workspace = try await Workspace.inMemory()
            let names = Item.all.map(\.name).filter { _ in !random.once(in: 3) }
            let items = Item.$declared.withValue(Set(names)) { workspace.repository(of: Item.self) }
            try await items.saveAll((0..<2_000).map { Item(id: $0, &random) })
            try await items.indexesBuilt()
            for _ in 0..<min(100, Self.queryCount) {
                let query = anyQuery(items, &random)
                let (chosen, every) = try query.planCosts()
                let best = try #require(every.map(\.cost).min())
                // Some tens of objects are read before it is asked what else there is.
                let ratio = (chosen.cost - 24) / max(best, 24)
                worst = max(worst, ratio)
                if ratio > 3 {
                    Issue.record("\(try query.explain()): \(chosen), of \(every)")
                }
            }
            done += min(100, Self.queryCount)
            try await workspace.close()
        }
        print("planner: \(done) queries, at worst \(worst) times the best plan")
    }

    private func anyQuery(
        _ items: Repository<Item>, _ random: inout SeededGenerator
    ) -> Query<Item> {
        var query = items.all
        for _ in 0..<random.below(4) { query = query.where(anyCondition(&random)) }
        for _ in 0..<random.below(3) {
            let order: ScanOrder = random.once(in: 2) ? .ascending : .descending
            switch random.below(5) {
            case 0: query = query.order(by: \.kind, order)
            case 1: query = query.order(by: \.price, order)
            case 2: query = query.order(by: \.skewed, order)
            case 3: query = query.order(by: \.id, order)
            default: query = query.order(by: \.number, order)
            }
        }
        return random.once(in: 2) ? query : query.limit(1 + random.below(100))
    }

    private func anyCondition(_ random: inout SeededGenerator) -> Condition<Item> {
        if random.once(in: 4) { return anyTerm(&random) || anyTerm(&random) }
        return anyTerm(&random)
    }

    private func anyTerm(_ random: inout SeededGenerator) -> Condition<Item> {
        let (kind, skewed) = (random.below(8), random.once(in: 2) ? 0 : random.below(50))
        let (number, tag) = (random.below(100_000), random.below(40))
        let width = [10, 1_000, 20_000][random.below(3)]
        let price = Double(random.below(10_000)) / 100
        switch random.below(9) {
        case 0: return .make { $0.kind == kind }
        case 1: return .make { $0.skewed == skewed }
        case 2: return .make { (number...(number + width)).contains($0.number) }
        case 3: return .make { $0.price < price }
        case 4: return .make { $0.tags.contains(tag) }
        case 5: return .make { $0.kind.isIn([kind, 3]) }
        case 6: return .make { $0.number > number }
        case 7: return .make { $0.id > number / 50 || $0.id < width / 50 }
        default: return .make { $0.price > price && $0.kind != kind }
        }
    }
}
