import Foundation
import Roost
import RoostTestSupport
import Testing

/// What queries answer beside `Array.filter` and a stable sort, which know nothing of indexes. Some
/// thousand cases each time; `ROOST_QUERY_CASES` for more.
@Suite(.timeLimit(.minutes(60))) struct QueryOracleTests {
    private static var caseCount: Int {
        ProcessInfo.processInfo.environment["ROOST_QUERY_CASES"].flatMap { Int($0) }
            ?? runCount(200, whole: 1_100)
    }

    @Test func queriesOfWholeObjectsAnswerAsFilterAndSortDo() async throws {
        try await QueryOracle<WholeForm>(caseCount: Self.caseCount / 3).run(seed: testSeed())
    }

    @Test func queriesOfFieldsByKeysAnswerAsFilterAndSortDo() async throws {
        try await QueryOracle<KeyedForm>(caseCount: Self.caseCount / 3).run(seed: testSeed())
    }

    @Test func queriesOfFieldsByNumbersAnswerAsFilterAndSortDo() async throws {
        try await QueryOracle<NumberedForm>(caseCount: Self.caseCount / 3).run(seed: testSeed())
    }
}

/// Ends a transaction whose changes are not to stay.
private struct Undo: Error {}

/// Random objects, indexes and queries, in one form.
struct QueryOracle<Form: SampleForm> {
    let caseCount: Int

    func run(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var cases = 0
        while cases < caseCount { cases += try await runStore(seed: random.next()) }
    }

    private func runStore(seed: UInt64) async throws -> Int {
        try await withTemporaryDirectory { path in
            var random = SeededGenerator(seed: seed)
            var model: [Int: Sample<Form>] = [:]
            let keepsUnique = random.once(in: 2)
            var cases = 0
            for opening in 0..<3 {
                let declared = Sample<Form>.all.map(\.name).filter {
                    $0 == Sample<Form>.uniqueName ? keepsUnique : !random.once(in: 3)
                }
                let workspace = try await Workspace.open(at: path)
                let samples = DeclaredIndexes.$names.withValue(Set(declared)) {
                    workspace.samples(Form.self)
                }
                if opening > 0 { try check(samples, model, 20, &random) }
                for _ in 0..<3 {
                    try await change(samples, keepsUnique, &model, &random)
                    if !random.once(in: 4) { try await samples.indexesBuilt() }
                    try check(samples, model, 40, &random)
                    try await checkInTransaction(samples, keepsUnique, model, &random)
                    try checkAggregates(samples, model, &random)
                    if random.once(in: 3) {
                        async let compacted: Void = workspace.compact()
                        try check(samples, model, 20, &random)
                        try await compacted
                        try check(samples, model, 20, &random)
                    }
                    cases += 69
                }
                try await workspace.close()
            }
            return cases
        }
    }

    // MARK: Checking

    struct Case {
        var query: Query<Sample<Form>>
        var expected: [Sample<Form>]
        var limit: Int?
        var offset: Int
        var whole: [Sample<Form>]
    }

    func makeCase(
        _ samples: Repository<Sample<Form>>, _ model: [Int: Sample<Form>],
        _ random: inout SeededGenerator, depth: Int = 3, isLimited: Bool? = nil
    ) -> Case {
        var query = samples.all
        var matching = model.values.sorted { $0.id < $1.id }
        if !random.once(in: 6) {
            let paired: PairedCondition<Form> = random.condition(depth: depth)
            query = query.where(paired.condition)
            matching = matching.filter(paired.matches)
        }
        let orders: [PairedOrder<Form>] = (0..<random.below(4)).map { _ in random.order() }
        for order in orders { query = order.apply(query) }
        // Stable: where the orders say nothing, the places do.
        let sorted = matching.enumerated().sorted { left, right in
            for order in orders {
                let compared = order.compare(left.element, right.element)
                if compared != 0 { return compared < 0 }
            }
            return left.offset < right.offset
        }.map(\.element)
        let offset = isLimited ?? random.once(in: 3) ? random.below(8) : 0
        let limit = isLimited ?? random.once(in: 2) ? random.below(12) : nil
        var expected = Array(sorted.dropFirst(offset))
        if let limit { expected = Array(expected.prefix(limit)) }
        var limited = query
        if offset > 0 { limited = limited.offset(offset) }
        if let limit { limited = limited.limit(limit) }
        return Case(
            query: limited, expected: expected, limit: limit, offset: offset, whole: sorted)
    }

    private func check(
        _ samples: Repository<Sample<Form>>, _ model: [Int: Sample<Form>], _ count: Int,
        _ random: inout SeededGenerator
    ) throws {
        for _ in 0..<count {
            let made = makeCase(samples, model, &random)
            let found = try made.query.fetch()
            guard found.map(\.id) == made.expected.map(\.id) else {
                Issue.record(
                    "\(try made.query.explain()): \(found.map(\.id)), not \(made.expected.map(\.id))"
                )
                continue
            }
            let count = try made.query.count()
            if count != made.expected.count {
                Issue.record(
                    "counted \(count), not \(made.expected.count): \(try made.query.explain())")
            }
            #expect(try made.query.isEmpty() == made.expected.isEmpty)
            #expect(try made.query.first()?.id == made.expected.first?.id)
            if made.limit == nil, made.offset == 0 {
                try checkPages(made.query, made.whole, 1 + random.below(9))
            }
        }
    }

    private func checkPages(
        _ query: Query<Sample<Form>>, _ whole: [Sample<Form>], _ size: Int
    ) throws {
        var cursor: PageCursor?
        var ids: [Int] = []
        repeat {
            let page = try query.page(after: cursor, limit: size)
            #expect(page.items.count == min(size, whole.count - ids.count))
            ids += page.items.map(\.id)
            cursor = try page.next.map {
                try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode($0))
            }
        } while cursor != nil && ids.count <= whole.count
        let isRight = ids == whole.map(\.id)
        if !isRight {
            Issue.record(
                "pages of \(size): \(ids), not \(whole.map(\.id)): \(try query.limit(size + 1).explain())"
            )
        }
    }

    private func checkInTransaction(
        _ samples: Repository<Sample<Form>>, _ keepsUnique: Bool, _ model: [Int: Sample<Form>],
        _ random: inout SeededGenerator
    ) async throws {
        var copy = model
        var failures: [String] = []
        // What is to be unique is so once it is built.
        if keepsUnique { try await samples.indexesBuilt() }
        do {
            try await samples.dictionary.workspace.transaction { transaction in
                copy = model
                for _ in 0..<random.below(12) {
                    let sample: Sample<Form> = random.sample(id: random.below(90))
                    if random.once(in: 3) {
                        try transaction.delete(sample.id, in: samples)
                        copy[sample.id] = nil
                    } else if keepsUnique, isTaken(sample, in: copy) {
                        do {
                            try transaction.save(sample, in: samples)
                            failures.append("saved \(sample.serial) twice")
                        } catch let error as RoostError where error.code == .notUnique {}
                    } else {
                        try transaction.save(sample, in: samples)
                        copy[sample.id] = sample
                    }
                }
                for _ in 0..<5 {
                    let made = makeCase(samples, copy, &random)
                    let found = try transaction.fetch(made.query).map(\.id)
                    if found != made.expected.map(\.id) {
                        failures.append(
                            "\(made.query) \(try made.query.explain()) \(found), not \(made.expected.map(\.id))"
                        )
                    }
                    failures += try differences(made.query, made.expected, &transaction)
                }
                throw Undo()
            } as Void
        } catch is Undo {}
        #expect(failures.isEmpty)
    }
}
