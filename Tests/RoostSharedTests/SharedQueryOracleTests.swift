import Roost
import RoostShared
import RoostTestSupport
import Testing

/// Random objects, conditions, orders and limits: what a query gives is what `filter` and a stable sort give.
@Suite struct SharedQueryOracleTests {
    struct Case {
        var query: SharedQuery<Chore>
        var matches: (Chore) -> Bool
        var order: ((Chore, Chore) -> Bool)?
    }

    private func condition(
        _ query: SharedQuery<Chore>, _ random: inout SeededGenerator
    ) -> (SharedQuery<Chore>, (Chore) -> Bool) {
        let owner = ["ada", "bea", "nobody", "zoe"].randomElement(using: &random)!
        let number = Int.random(in: -2...9, using: &random)
        let due = Double(number)
        let id = Int.random(in: -5..<95, using: &random)
        switch Int.random(in: 0..<15, using: &random) {
        case 10: return (query.where { $0.id == id }, { $0.id == id })
        case 11: return (query.where { $0.id <= id }, { $0.id <= id })
        case 12:
            return (query.where { $0.id < id || $0.id > id + 9 }, { $0.id < id || $0.id > id + 9 })
        case 13:
            let ids = Array(id..<id + Int.random(in: 0..<80, using: &random))
            return (query.where { $0.id.isIn(ids) }, { ids.contains($0.id) })
        case 14: return (query.where { $0.priority < $0.id }, { $0.priority < $0.id })
        case 0: return (query.where { $0.owner == owner }, { $0.owner == owner })
        case 1: return (query.where { $0.priority >= number }, { $0.priority >= number })
        case 2:
            return (
                query.where { $0.owner == owner && $0.priority < number },
                { $0.owner == owner && $0.priority < number }
            )
        case 3:
            return (
                query.where { ($0.owner == "ada" || $0.owner == "bea") && $0.due > due },
                { ($0.owner == "ada" || $0.owner == "bea") && ($0.due.map { $0 > due } ?? false) }
            )
        case 4:
            return (query.where { $0.slug.hasPrefix("s1") }, { $0.slug.hasPrefix("s1") })
        case 5:
            return (query.where { $0.tags.contains(owner) }, { $0.tags.contains(owner) })
        case 6:
            return (
                query.where { $0.owner == owner || $0.tags.contains("ada") },
                { $0.owner == owner || $0.tags.contains("ada") }
            )
        case 7:
            return (
                query.where { $0.priority.isIn([number, number + 2]) },
                { [number, number + 2].contains($0.priority) }
            )
        case 8: return (query.where { $0.id > number }, { $0.id > number })
        default: return (query, { _ in true })
        }
    }

    func makeCase(_ all: SharedQuery<Chore>, _ random: inout SeededGenerator) -> Case {
        var (query, matches) = condition(all, &random)
        if Bool.random(using: &random) {
            let (narrower, others) = condition(query, &random)
            let first = matches
            (query, matches) = (narrower, { first($0) && others($0) })
        }
        var made = Case(query: query, matches: matches)
        switch Int.random(in: 0..<8, using: &random) {
        case 6: made.query = query.order(by: \.id).order(by: \.owner)
        case 7:
            made.query = query.order(by: \.id, .descending)
            made.order = { $0.id > $1.id }
        case 0:
            made.query = query.order(by: \.priority)
            made.order = { $0.priority < $1.priority }
        case 1:
            made.query = query.order(by: \.priority, .descending)
            made.order = { $0.priority > $1.priority }
        case 2:
            made.query = query.order(by: \.owner).order(by: \.priority, .descending)
            made.order = { ($0.owner, $1.priority) < ($1.owner, $0.priority) }
        case 3:
            made.query = query.order(by: \.owner, .descending).order(by: \.slug)
            made.order = { ($1.owner, $0.slug) < ($0.owner, $1.slug) }
        default: break
        }
        return made
    }

    @Test(arguments: [0, 1, 2])
    func queriesGiveWhatReadingEveryObjectGives(round: UInt64) async throws {
        let seed = testSeed() &+ round
        var random = SeededGenerator(seed: seed)
        let workspace = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        let tasks = workspace.repository(of: Chore.self)
        if Bool.random(using: &random) { try await tasks.buildIndexes() }
        for _ in 0..<120 { try await change(tasks, &random) }
        try await tasks.buildIndexes()
        let all = try await tasks.loadAll()
        for number in 0..<250 {
            var made = makeCase(tasks.all.scanning(), &random)
            var expected = expected(made, of: all)
            let comment: Comment = "seed \(seed), case \(number): \(try await made.query.explain())"
            #expect(try await made.query.count() == expected.count, comment)
            if Bool.random(using: &random) {
                let offset = Int.random(in: 0..<3, using: &random)
                let limit = Int.random(in: 0..<12, using: &random)
                made.query = made.query.offset(offset).limit(limit)
                expected = Array(expected.dropFirst(offset).prefix(limit))
            }
            #expect(try await made.query.fetch() == expected, comment)
        }
    }

    /// `all` are in the order of their identifiers.
    func expected(_ made: Case, of all: [Chore]) -> [Chore] {
        let expected = all.filter(made.matches)
        guard let order = made.order else { return expected }
        // Ties in the order of the keys, which is that of the numbers.
        return expected.enumerated().sorted { left, right in
            if order(left.element, right.element) { return true }
            if order(right.element, left.element) { return false }
            return left.offset < right.offset
        }.map(\.element)
    }

    func anyChore(_ id: Int, _ random: inout SeededGenerator) -> Chore {
        let owners = ["ada", "bea", "nobody", "zoe"]
        return Chore(
            id: id, owner: owners.randomElement(using: &random)!,
            priority: Int.random(in: 0..<8, using: &random),
            due: Bool.random(using: &random)
                ? Double(Int.random(in: 0..<8, using: &random)) : nil,
            slug: "s\(id)", tags: owners.filter { _ in Bool.random(using: &random) })
    }

    func change(
        _ tasks: SharedRepository<Chore>, _ random: inout SeededGenerator
    ) async throws {
        let task = anyChore(Int.random(in: 0..<90, using: &random), &random)
        if Int.random(in: 0..<6, using: &random) == 0 {
            try await tasks.delete(task.id)
        } else {
            try await tasks.save(task)
        }
    }
}
