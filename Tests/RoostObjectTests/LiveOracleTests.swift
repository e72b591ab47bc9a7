import Foundation
import RoostTestSupport
import Testing

@testable import Roost

private typealias WholeSample = Sample<WholeForm>

/// Live results beside `Array.filter` and a stable sort after each of some hundred random transactions;
/// `ROOST_LIVE_TRANSACTIONS` for more.
@Suite(.timeLimit(.minutes(60))) struct LiveOracleTests {
    private static var transactionCount: Int {
        ProcessInfo.processInfo.environment["ROOST_LIVE_TRANSACTIONS"].flatMap { Int($0) }
            ?? runCount(200, whole: 400)
    }

    @Test func positionsAppliedToTheOldResultGiveTheNewOne() async throws {
        var random = SeededGenerator(seed: testSeed())
        var remaining = Self.transactionCount
        while remaining > 0 {
            let count = min(remaining, 200)
            try await runWorkspace(count, SeededGenerator(seed: random.next()))
            remaining -= count
        }
    }

    private func runWorkspace(_ count: Int, _ generator: SeededGenerator) async throws {
        var random = generator
        let declared = WholeSample.all.map(\.name).filter {
            $0 != WholeSample.uniqueName && random.once(in: 2)
        }
        let workspace = try await Workspace.inMemory()
        let samples = DeclaredIndexes.$names.withValue(Set(declared)) {
            workspace.samples(WholeForm.self)
        }
        var model: [Int: WholeSample] = [:]
        for id in 0..<random.below(120) { model[id] = random.sample(id: id) }
        try await samples.saveAll(model.values)
        var watched: [WatchedQuery] = []
        for _ in 0..<8 { watched.append(try WatchedQuery(samples, &random)) }
        for _ in 0..<count {
            try await change(samples, &model, &random)
            if random.once(in: 20) {
                watched[random.below(watched.count)] = try WatchedQuery(samples, &random)
            }
            for index in watched.indices {
                try watched[index].check(model, isBehind: random.once(in: 4))
            }
        }
        for index in watched.indices { try watched[index].check(model, isBehind: false) }
        try await workspace.close()
    }

    /// One transaction of several changes, or what goes round the repository.
    private func change(
        _ samples: Repository<WholeSample>, _ model: inout [Int: WholeSample],
        _ random: inout SeededGenerator
    ) async throws {
        if random.once(in: 60) {
            try await samples.dictionary.removeAll()
            model = [:]
            return
        }
        let changes = (0..<(1 + random.below(random.once(in: 8) ? 60 : 6))).map { _ in
            let id = random.below(120)
            return random.once(in: 4) ? (id, nil) : (id, next(model[id], id, &random))
        }
        try await samples.dictionary.workspace.transaction { transaction in
            for (id, sample) in changes {
                if let sample {
                    try transaction.save(sample, in: samples)
                } else {
                    try transaction.delete(id, in: samples)
                }
            }
        }
        for (id, sample) in changes { model[id] = sample }
    }

    /// Another object, or the same with one field changed.
    private func next(
        _ old: WholeSample?, _ id: Int, _ random: inout SeededGenerator
    ) -> WholeSample? {
        guard var sample = old, !random.once(in: 3) else { return random.sample(id: id) }
        switch random.below(4) {
        case 0: sample.number = random.number()
        case 1: sample.text = random.text()
        case 2: sample.isDone.toggle()
        default: sample.color = random.pick(WholeSample.Color.allCases)
        }
        return sample
    }
}

/// A live query, and what its reader knows.
private struct WatchedQuery {
    let query: Query<WholeSample>
    let condition: PairedCondition<WholeForm>
    let orders: [PairedOrder<WholeForm>]
    let offset: Int
    let limit: Int?
    let outlet: LiveOutlet<WholeSample>
    let registration: LiveRegistration<WholeSample>
    var items: [WholeSample] = []

    init(_ samples: Repository<WholeSample>, _ random: inout SeededGenerator) throws {
        condition =
            random.once(in: 4)
            ? PairedCondition(condition: Condition.make { !$0.id.isIn([]) }, matches: { _ in true })
            : random.condition()
        orders = (0..<random.below(3)).map { _ in random.order() }
        offset = random.once(in: 3) ? random.below(8) : 0
        limit = random.once(in: 2) ? random.below(12) : nil
        var query = samples.where(condition.condition)
        for order in orders { query = order.apply(query) }
        if offset > 0 { query = query.offset(offset) }
        if let limit { query = query.limit(limit) }
        self.query = query
        outlet = LiveOutlet(wantsPositions: !random.once(in: 8))
        registration = try samples.dictionary.workspace.live.objects(of: samples).open(
            query, outlet)
    }

    mutating func check(_ model: [Int: WholeSample], isBehind: Bool) throws {
        if isBehind { return }
        while true {
            switch outlet.take() {
            case .empty: return compare(model)
            case .ended:
                Issue.record("it has ended")
                return
            case .resultDue: items = registration.items(outlet) ?? []
            case .change(.changed(let change)): apply(change)
            case .change(let other):
                Issue.record("\(other)")
                return
            }
        }
    }

    private mutating func apply(_ change: ResultChange<WholeSample>) {
        #expect(!change.isEmpty)
        let count = items.count + change.inserted.count - change.removed.count
        let gone = change.removed + change.moved.map(\.from)
        let places = change.inserted.map(\.position) + change.moved.map(\.to)
        let told = places + change.updated.map(\.position)
        #expect(Set(gone).count == gone.count && gone.allSatisfy(items.indices.contains))
        #expect(Set(told).count == told.count && told.allSatisfy((0..<count).contains))
        #expect(change.removed == change.removed.sorted())
        for move in change.moved {
            if items[move.from].id != move.item.id { Issue.record("another moved") }
        }
        change.apply(to: &items)
        for placed in change.updated where items[placed.position].id != placed.item.id {
            Issue.record("another was updated")
        }
    }

    private func compare(_ model: [Int: WholeSample]) {
        let sorted = model.values.filter(condition.matches).sorted { left, right in
            for order in orders {
                let compared = order.compare(left, right)
                if compared != 0 { return compared < 0 }
            }
            return left.id < right.id
        }
        var expected = Array(sorted.dropFirst(offset))
        if let limit { expected = Array(expected.prefix(limit)) }
        guard items.map(\.id) == expected.map(\.id) else {
            let text = "\(condition.condition), offset \(offset), limit \(limit ?? -1)"
            Issue.record("\(text): \(items.map(\.id)), not \(expected.map(\.id))")
            return
        }
        if !zip(items, expected).allSatisfy(isSame) { Issue.record("an object is an older one") }
    }

    /// NaN included.
    private func isSame(_ left: WholeSample, _ right: WholeSample) -> Bool {
        var (left, right) = (left, right)
        if left.score.isNaN, right.score.isNaN { (left.score, right.score) = (0, 0) }
        if left.ratio?.isNaN == true, right.ratio?.isNaN == true {
            (left.ratio, right.ratio) = (0, 0)
        }
        if left.serial.isNaN, right.serial.isNaN { (left.serial, right.serial) = (0, 0) }
        return left == right
    }
}
