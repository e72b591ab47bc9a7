import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// Results of shared queries that are followed.
@Suite(.timeLimit(.minutes(5))) struct SharedUpdatesTests {
    /// Takes the results of a query in a task of its own.
    private final class Follower: Sendable {
        let results = Mutex<[[Chore]]>([])
        let failure = Mutex<RoostError?>(nil)
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ query: SharedQuery<Chore>) {
            let task = Task { [self] in
                do {
                    for try await result in query.updates() {
                        results.withLock { $0.append(result) }
                    }
                } catch {
                    failure.withLock { $0 = error as? RoostError }
                }
            }
            self.task.withLock { $0 = task }
        }

        var newest: [Chore]? { results.withLock { $0.last } }
        func cancel() { task.withLock { $0 }?.cancel() }
        func end() async { await task.withLock { $0 }?.value }
    }

    private func connect(_ engine: HookedEngine) async throws -> SharedWorkspace {
        try await .connect(to: .engine(engine), namespace: "test")
    }

    private func chore(_ id: Int, owner: String = "ada", priority: Int = 0) -> Chore {
        Chore(id: id, owner: owner, priority: priority, due: nil, slug: "s\(id)", tags: [])
    }

    @Test(arguments: [0, 1, 2])
    func resultsAreWhatAFetchGives(round: UInt64) async throws {
        let seed = testSeed() &+ round
        var random = SeededGenerator(seed: seed)
        let oracle = SharedQueryOracleTests()
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.buildIndexes()
        for _ in 0..<40 { try await oracle.change(tasks, &random) }
        let queries = (0..<12).map { _ in
            let query = oracle.makeCase(tasks.all.scanning(), &random).query
            guard Bool.random(using: &random) else { return query }
            return query.offset(Int.random(in: 0..<3, using: &random))
                .limit(Int.random(in: 0..<12, using: &random))
        }
        let followers = queries.map { Follower($0) }
        for step in 0..<80 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let saved = (0..<5).map { _ in
                    oracle.anyChore(Int.random(in: 0..<90, using: &random), &random)
                }
                try await tasks.saveAll(saved)
            case 1: engine.engine.breakWatches()
            case 2: engine.engine.compact(before: try await workspace.revision)
            default: try await oracle.change(tasks, &random)
            }
            guard step % 8 == 7 else { continue }
            for (query, follower) in zip(queries, followers) {
                let expected = try await query.fetch()
                try await eventually("seed \(seed), step \(step)") {
                    if let failure = follower.failure.withLock({ $0 }) { throw failure }
                    return follower.newest == expected
                }
            }
        }
        await workspace.close()
        for follower in followers {
            await follower.end()
            #expect(follower.failure.withLock { $0 } == nil, "seed \(seed)")
        }
    }

    /// A result for each commit, and none for one that changes nothing of it.
    @Test func eachCommitIsOneResultAtMost() async throws {
        let workspace = try await connect(HookedEngine())
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.buildIndexes()
        try await tasks.saveAll([chore(1), chore(2)])
        let query = tasks.where { $0.owner == "ada" }.order(by: \.priority).limit(2)
        var results = query.updates().makeAsyncIterator()
        #expect(try await results.next()?.map(\.id) == [1, 2])
        try await tasks.save(chore(3, owner: "bea"))
        try await tasks.save(chore(4, priority: 9))
        try await workspace.transaction { attempt in
            try await attempt.delete(1, in: tasks)
            try await attempt.save(chore(5, priority: 1), in: tasks)
        }
        #expect(try await results.next()?.map(\.id) == [2, 5])
        try await tasks.delete(5)
        #expect(try await results.next()?.map(\.id) == [2, 4])
    }

    /// Only what is written to the identifiers that the condition names is asked of the engine.
    @Test func anIdentifiersObjectIsFollowedByItsKey() async throws {
        let engine = HookedEngine()
        let watched = Mutex<[SharedKeyRange]>([])
        engine.set {
            $0.watch = { range, _ in
                watched.withLock { $0.append(range) }
                return nil
            }
        }
        let workspace = try await connect(engine)
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.save(chore(7))
        var results = tasks.where { $0.id == 7 }.updates().makeAsyncIterator()
        #expect(try await results.next() == [chore(7)])
        try await tasks.save(chore(8))
        try await tasks.save(chore(7, priority: 3))
        #expect(try await results.next() == [chore(7, priority: 3)])
        let key = try #require(watched.withLock { $0.first })
        #expect(key.upper == key.lower + [0])
    }

    @Test func whatCannotBeReadAtFirstIsAnError() async throws {
        let workspace = try await connect(HookedEngine())
        let tasks = workspace.repository(of: Chore.self)
        var results = tasks.where { $0.owner == "ada" }.updates().makeAsyncIterator()
        let error = await #expect(throws: RoostError.self) { try await results.next() }
        #expect(error?.code == .notIndexed)
        #expect(try await results.next() == nil)
    }

    /// However often: the query begins while others write, and while the engine is told to forget.
    @Test(arguments: [1, 20])
    func whatIsCompactedWhileItIsReadFirstIsReadAgain(times: Int) async throws {
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.buildIndexes()
        try await tasks.saveAll([chore(1), chore(2)])
        // The objects are read at the revision at which the list of indexes was.
        let compactionCount = engine.forgetRevisions(times)
        var results = tasks.where { $0.owner == "ada" }.updates().makeAsyncIterator()
        #expect(try await results.next() == [chore(1), chore(2)])
        #expect(compactionCount() == times)
    }

    @Test func anObjectThatIsNoneEndsItAndIsNamed() async throws {
        let workspace = try await connect(HookedEngine())
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.save(chore(1))
        var results = tasks.all.updates().makeAsyncIterator()
        #expect(try await results.next() == [chore(1)])
        try await tasks.dictionary.set("no object", forKey: tasks.key(of: 2))
        let error = await #expect(throws: RoostError.self) { try await results.next() }
        #expect([.typeMismatch, .decodingFailed].contains(error?.code))
        #expect("\(try #require(error))".contains(tasks.key(of: 2)))
        #expect(try await results.next() == nil)
    }

    @Test func whatExpiresLeavesTheResult() async throws {
        let workspace = try await connect(HookedEngine())
        let notes = workspace.repository(of: Note.self)
        try await notes.dictionary.set(
            Note(id: 1, text: "a"), forKey: notes.key(of: 1), expiresIn: .seconds(3))
        try await notes.save(Note(id: 2, text: "b"))
        var results = notes.all.updates().makeAsyncIterator()
        let first = try await results.next()?.map(\.id)
        // On a machine that was busy for so long it has left already.
        if first == [2] { return }
        #expect(first == [1, 2])
        #expect(try await results.next()?.map(\.id) == [2])
    }

    /// The engine cannot be reached when all has to be read anew: it is waited for.
    @Test func whatCannotBeReadAnewIsReadOnceTheEngineIsThere() async throws {
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.save(chore(1))
        let follower = Follower(tasks.all)
        try await eventually { follower.newest == [chore(1)] }
        let refusedCount = Mutex(0)
        engine.set {
            $0.watch = { _, _ in
                let (events, source) = SharedEvents.make()
                source.end(RoostError(.unavailable, "a test"))
                return events
            }
        }
        engine.engine.breakWatches()
        try await tasks.save(chore(2))
        try await tasks.save(chore(3))
        engine.engine.compact(before: try await workspace.revision)
        engine.set {
            $0.watch = { _, _ in nil }
            $0.read = { _ in
                let number = refusedCount.withLock { count in
                    count += 1
                    return count
                }
                if number > 4 { return nil }
                throw RoostError(.unavailable, "a test")
            }
        }
        try await eventually { follower.newest == [chore(1), chore(2), chore(3)] }
        #expect(refusedCount.withLock { $0 } >= 4 && follower.failure.withLock { $0 } == nil)
        follower.cancel()
        await follower.end()
    }

    @Test func itEndsWithItsTaskAndWithTheWorkspace() async throws {
        let workspace = try await connect(HookedEngine())
        let tasks = workspace.repository(of: Chore.self)
        let (one, other) = (Follower(tasks.all), Follower(tasks.all))
        try await eventually { one.newest == [] && other.newest == [] }
        one.cancel()
        await one.end()
        await workspace.close()
        await other.end()
        #expect(one.failure.withLock { $0 } == nil && other.failure.withLock { $0 } == nil)
    }
}

private struct Note: Codable, Identifiable, Sendable {
    var id: Int
    var text: String
}
