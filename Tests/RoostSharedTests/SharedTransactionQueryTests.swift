import Roost
import RoostShared
import RoostTestSupport
import Testing

/// Queries in transactions over an engine: what the body has changed counts, and what would give another answer is a
/// conflict.
@Suite struct SharedTransactionQueryTests {
    private let engine = MemoryEngine(
        limits: SharedLimits(
            operationCount: 10_000, commitSizeBytes: 1 << 24, keySizeBytes: 1 << 10))

    private func connect() async throws -> (SharedWorkspace, SharedRepository<Chore>) {
        let workspace = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        return (workspace, workspace.repository(of: Chore.self))
    }

    // MARK: What it gives

    @Test(arguments: [0, 1])
    func aQueryGivesTheObjectsAsTheBodyHasLeftThem(round: UInt64) async throws {
        let seed = testSeed() &+ round
        let oracle = SharedQueryOracleTests()
        let (workspace, chores) = try await connect()
        if round > 0 { try await chores.buildIndexes() }
        var random = SeededGenerator(seed: seed)
        try await chores.saveAll(
            (0..<60).map { oracle.anyChore($0, &random) })
        for number in 0..<40 {
            // Removing by keys drops them.
            if round > 0 { try await chores.buildIndexes() }
            let start = random
            let before = try await chores.loadAll()
            let (result, end) = try await workspace.transaction { tx in
                var random = start
                var all = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
                if Int.random(in: 0..<10, using: &random) == 0 {
                    try tx.removeAll(in: chores.dictionary)
                    all = [:]
                }
                var failures: [String] = []
                for step in 0..<6 {
                    let id = Int.random(in: 0..<90, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        try await tx.delete(id, in: chores)
                        all[id] = nil
                    case 1:
                        let chore = oracle.anyChore(id, &random)
                        try await tx.save(chore, in: chores)
                        all[id] = chore
                    case 2 where Bool.random(using: &random):
                        let key = chores.key(of: id)
                        let prefix = String(key.prefix(key.count - 1))
                        try tx.removeAll(prefix: prefix, in: chores.dictionary)
                        all = all.filter { !chores.key(of: $0.key).hasPrefix(prefix) }
                    default: break
                    }
                    var made = oracle.makeCase(chores.all.scanning(), &random)
                    var expected = oracle.expected(made, of: all.values.sorted { $0.id < $1.id })
                    let count = try await tx.count(of: made.query)
                    if count != expected.count { failures.append("count \(count), step \(step)") }
                    if Bool.random(using: &random) {
                        let offset = Int.random(in: 0..<3, using: &random)
                        let limit = Int.random(in: 0..<9, using: &random)
                        made.query = made.query.offset(offset).limit(limit)
                        expected = Array(expected.dropFirst(offset).prefix(limit))
                    }
                    let found = try await tx.fetch(made.query)
                    if found != expected {
                        failures.append("\(found) is not \(expected), step \(step)")
                    }
                }
                return (failures, random)
            }
            #expect(result == [], "seed \(seed), transaction \(number)")
            random = end
            if try await chores.count < 10 {
                try await chores.saveAll((0..<60).map { oracle.anyChore($0, &random) })
            }
            try await chores.buildIndexes()
        }
        await workspace.close()
    }

    @Test func pagesInATransactionHaveWhatTheBodyHasChanged() async throws {
        let (workspace, chores) = try await connect()
        try await chores.buildIndexes()
        try await chores.saveAll((0..<10).map { makeChore($0, priority: $0 % 3) })
        let found = try await workspace.transaction { tx in
            try await tx.delete(4, in: chores)
            try await tx.save(makeChore(20, priority: 1), in: chores)
            var found: [Int] = []
            var cursor: PageCursor?
            repeat {
                let page = try await tx.page(
                    of: chores.order(by: \.priority), after: cursor, limit: 3)
                found += page.items.map(\.id)
                cursor = page.next
            } while cursor != nil
            return found
        }
        #expect(found == [0, 3, 6, 9, 1, 7, 20, 2, 5, 8])
        await workspace.close()
    }

    // MARK: Conflicts

    /// How often the body runs where another client does something once between its query and its end.
    private func runs(
        _ chores: SharedRepository<Chore>, _ query: SharedQuery<Chore>, counting: Bool = false,
        beside other: @Sendable (SharedRepository<Chore>) async throws -> Void
    ) async throws -> Int {
        let (_, others) = try await connect()
        var count = 0
        try await chores.dictionary.workspace.transaction { tx in
            count += 1
            let found =
                counting ? try await tx.count(of: query) : try await tx.fetch(query).count
            if count == 1 { try await other(others) }
            try tx.set(found, forKey: "found", in: chores.dictionary.workspace.dictionary("other"))
        }
        return count
    }

    /// Chores 0 to 29, ada's and bea's in turn; ada's priorities are 0, 2, 4, … to 28.
    private func filled() async throws -> SharedRepository<Chore> {
        let (_, chores) = try await connect()
        try await chores.buildIndexes()
        try await chores.saveAll(
            (0..<30).map {
                makeChore($0, owner: $0.isMultiple(of: 2) ? "ada" : "bea", priority: $0)
            })
        return chores
    }

    @Test(arguments: [false, true])
    func whoeverWouldChangeTheAnswerIsAConflict(isCounting: Bool) async throws {
        let chores = try await filled()
        let adas = chores.where { $0.owner == "ada" }
        let changes: [@Sendable (SharedRepository<Chore>) async throws -> Void] = [
            { try await $0.save(makeChore(40, owner: "ada")) },
            { try await $0.delete(8) },
            { try await $0.update(4) { $0?.owner = "bea" } },
            { try await $0.update(5) { $0?.owner = "ada" } },
            { _ = try await $0.where { $0.owner == "ada" }.deleteAll() },
        ]
        for (number, change) in changes.enumerated() {
            #expect(
                try await runs(chores, adas, counting: isCounting, beside: change) == 2,
                "change \(number)")
            try await chores.buildIndexes()
        }
    }

    @Test func whoeverChangesAnythingElseIsNone() async throws {
        let chores = try await filled()
        let adas = chores.where { $0.owner == "ada" }
        #expect(try await runs(chores, adas) { try await $0.delete(3) } == 1)
        #expect(
            try await runs(chores, adas) { try await $0.save(makeChore(41, owner: "bea")) } == 1)
        let range = chores.where { $0.id >= 10 && $0.id < 20 }
        #expect(try await runs(chores, range) { try await $0.delete(20) } == 1)
        #expect(try await runs(chores, range) { try await $0.delete(11) } == 2)
        #expect(try await runs(chores, range) { try await $0.save(makeChore(11)) } == 2)
    }

    @Test(arguments: [ScanOrder.ascending, .descending])
    func whatComesBehindTheLimitIsNone(order: ScanOrder) async throws {
        let chores = try await filled()
        let first = chores.order(by: \.priority, order).limit(3)
        let (before, within, behind) = order == .ascending ? (-1, 1, 3) : (30, 28, 25)
        #expect(
            try await runs(chores, first) { try await $0.save(makeChore(40, priority: behind)) }
                == 1)
        #expect(
            try await runs(chores, first) { try await $0.save(makeChore(41, priority: within)) }
                == 2)
        #expect(
            try await runs(chores, first) { try await $0.save(makeChore(42, priority: before)) }
                == 2)
        let byIdentifier = chores.order(by: \.id, order).limit(3)
        #expect(
            try await runs(chores, byIdentifier) { try await $0.save(makeChore(15, slug: "b")) }
                == 1)
        let last = order == .ascending ? -5 : 90
        #expect(
            try await runs(chores, byIdentifier) { try await $0.save(makeChore(last, slug: "c")) }
                == 2)
    }

    /// The queue of one job, to which others add: where the limit is met at the end of the range too.
    @Test func whatComesBehindTheLastThatIsWantedIsNone() async throws {
        let chores = try await filled()
        let jobs = chores.where { $0.owner == "job" }.order(by: \.priority, .descending).limit(1)
        try await chores.save(makeChore(50, owner: "job", priority: 5))
        #expect(
            try await runs(chores, jobs) {
                try await $0.save(makeChore(51, owner: "job", priority: 4))
                try await $0.save(makeChore(52, owner: "job", priority: 5))
            } == 1)
        #expect(
            try await runs(chores, jobs) {
                try await $0.save(makeChore(49, owner: "job", priority: 5))
            } == 2)
        let none = chores.where { $0.owner == "nobody's" }.order(by: \.priority, .descending).limit(
            1)
        #expect(
            try await runs(chores, none) { try await $0.save(makeChore(60, owner: "nobody's")) }
                == 2)
    }

    @Test func aQueryByAnIndexThatIsTakenAwayRunsAgain() async throws {
        let chores = try await filled()
        let adas = chores.where { $0.owner == "ada" }.scanning()
        #expect(
            try await runs(chores, adas) { others in
                // A write by keys takes the indexes away.
                try await others.dictionary.removeValue(forKey: "nothing")
            } == 2)
    }

    /// A body that changes nothing rests on no guard: what a client remembers of indexes must not be taken for what is.
    @Test func aReadByAnIndexThatOthersHaveTakenAwayIsRightWithoutACommit() async throws {
        let (workspace, chores) = try await connect()
        try await chores.buildIndexes()
        try await chores.saveAll((0..<10).map { makeChore($0) })
        let (_, others) = try await connect()
        try await others.dictionary.set(makeChore(10), forKey: others.key(of: 10))
        let found = try await workspace.transaction { tx in
            try await tx.count(of: chores.where { $0.owner == "ada" }.scanning())
        }
        #expect(found == 11)
        await workspace.close()
    }

    // MARK: What it is for

    @Test func workersClaimEachJobOnceWhileMoreAreAdded() async throws {
        let (workspace, chores) = try await connect()
        try await chores.buildIndexes()
        let claimed = try await withThrowingTaskGroup(of: [Int].self) { group in
            for worker in 0..<4 {
                let (_, own) = try await connect()
                group.addTask { try await claimAll(own, worker) }
            }
            group.addTask {
                for id in 0..<104 {
                    try await chores.save(makeChore(id, owner: "open", priority: -id))
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.sorted() == Array(0..<104))
        #expect(try await chores.where { $0.owner == "open" }.isEmpty())
        await workspace.close()
    }

    /// Claims one after the other; the last four tell a worker each that there are no more.
    private func claimAll(_ chores: SharedRepository<Chore>, _ worker: Int) async throws -> [Int] {
        let open = chores.where { $0.owner == "open" }.order(by: \.priority, .descending)
        var claimed: [Int] = []
        while claimed.last ?? 0 < 100 {
            let job = try await chores.dictionary.workspace.transaction { tx in
                guard var job = try await tx.first(open) else { return Chore?.none }
                job.owner = "worker \(worker)"
                try await tx.save(job, in: chores)
                return job
            }
            if let job { claimed.append(job.id) } else { await Task.yield() }
        }
        return claimed
    }

    // MARK: Many at once

    @Test func matchesAreRemovedAsOneCommit() async throws {
        let chores = try await filled()
        #expect(try await chores.where { $0.owner == "ada" && $0.priority < 10 }.deleteAll() == 5)
        #expect(try await chores.where { $0.owner == "ada" }.count() == 10)
        #expect(try await chores.count == 25)
        let oldest = chores.where { $0.owner == "bea" }.order(by: \.priority).limit(2)
        #expect(try await oldest.deleteAll() == 2)
        #expect(try await chores.where { $0.owner == "bea" }.fetch().map(\.id).min() == 5)
        #expect(try await chores.where { $0.owner == "nobody" }.deleteAll() == 0)
    }

    @Test func matchesAreChangedAsOneCommitAndPassUniqueValuesOn() async throws {
        let chores = try await filled()
        // Each takes the slug of the next.
        let some = chores.where { $0.id < 10 }
        #expect(try await some.updateAll { $0.slug = "s\(($0.id + 1) % 10)" } == 10)
        #expect(try await chores.where { $0.slug == "s0" }.fetch().map(\.id) == [9])
        let before = try await chores.loadAll()
        for change in [{ $0.slug = "same" }, { $0.slug = "s20" }]
            as [@Sendable (inout Chore) -> Void]
        {
            let error = await #expect(throws: RoostError.self) {
                _ = try await some.updateAll(change)
            }
            #expect(error?.code == .notUnique)
            #expect(try await chores.loadAll() == before)
        }
        let error = await #expect(throws: RoostError.self) {
            _ = try await some.updateAll { $0.id += 100 }
        }
        #expect(error?.code == .conflict)
        #expect(try await chores.loadAll() == before)
    }

    @Test func moreThanTheEngineTakesAtOnceIsRefusedAndPiecesAreNot() async throws {
        // As much as etcd takes.
        let workspace = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine()), namespace: "test")
        let chores = workspace.repository(of: Chore.self)
        try await chores.buildIndexes()
        for start in stride(from: 0, to: 100, by: 20) {
            try await chores.saveAll((start..<start + 20).map { makeChore($0) })
        }
        let adas = chores.where { $0.owner == "ada" }
        let error = await #expect(throws: RoostError.self) { _ = try await adas.deleteAll() }
        #expect(error?.code == .tooLarge)
        #expect(try await chores.count == 100)
        var pieces: [Int] = []
        while true {
            let count = try await adas.limit(20).deleteAll()
            guard count > 0 else { break }
            pieces.append(count)
        }
        #expect(pieces == [20, 20, 20, 20, 20])
        #expect(try await chores.count == 0)
        await workspace.close()
    }
}
