import Roost
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

private struct Task: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var owner: String
    var slug: String
    var tags: [String] = []
}

extension Task: Indexed {
    static var indexes: [Index<Task>] {
        [
            Index("owner", \.owner), Index("slug", \.slug, isUnique: true),
            Index("tags", each: \.tags),
        ]
    }
}

/// The same objects, of an app that declares no index.
private struct PlainTask: Codable, Identifiable, Sendable {
    var id: Int
    var owner: String
    var slug: String
    var tags: [String] = []
}

/// A service asks the indexes of what devices exchange with it.
@Suite(.timeLimit(.minutes(5))) struct SyncedSharedIndexTests {
    private let engine = HookedEngine()

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .engine(engine), namespace: "test")
    }

    private func device<Item>(
        _ type: Item.Type, _ local: Workspace,
        rule: @escaping SyncedRepository<Item>.Rule = { _, _ in .mine }
    ) async throws -> SyncedRepository<Item>
    where Item: Codable & Identifiable & Sendable, Item.ID: KeyRepresentable {
        SyncedRepository(of: type, named: "tasks", in: local, with: try await connect(), rule: rule)
    }

    private func expectIndexed(
        _ service: SharedRepository<Task>, _ expected: [Task], _ comment: Comment? = nil
    ) async throws {
        for owner in ["ada", "bob", "eve"] {
            let found = try await service.where { $0.owner == owner }.fetch()
            #expect(found == expected.filter { $0.owner == owner }, comment)
        }
        for tag in 0..<4 {
            let found = try await service.where { $0.tags.contains("t\(tag)") }.fetch()
            #expect(found == expected.filter { $0.tags.contains("t\(tag)") }, comment)
        }
        for task in expected {
            #expect(try await service.where { $0.slug == task.slug }.fetch() == [task], comment)
        }
    }

    /// Commits are refused, and answers lost, where the connection breaks.
    private func breakConnections(seed: UInt64) {
        let random = Mutex(SeededGenerator(seed: seed))
        let cut = RoostError(.unknownOutcome, "the connection broke")
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                switch random.withLock({ Int.random(in: 0..<12, using: &$0) }) {
                case 0: throw cut
                case 1:
                    _ = try await memory.commit(commit, before: .now + .seconds(60))
                    throw cut
                default: return nil
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func anExchangeKeepsTheIndexesThatAreBuilt(connectionsBreak: Bool) async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let service = try await connect().repository(of: Task.self, named: "tasks")
        try await service.saveAll((0..<20).map { Task(id: $0, owner: "ada", slug: "s\($0)") })
        try await service.buildIndexes()
        if connectionsBreak { breakConnections(seed: seed) }
        let locals = [try await Workspace.inMemory(), try await Workspace.inMemory()]
        let devices = [
            try await device(Task.self, locals[0]), try await device(Task.self, locals[1]),
        ]
        for round in 0..<10 {
            for device in devices {
                for _ in 0..<Int.random(in: 0..<60, using: &random) {
                    let id = Int.random(in: 0..<60, using: &random)
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        try await device.delete(id)
                    } else {
                        let tags = (0..<3).map { _ in "t\(Int.random(in: 0..<4, using: &random))" }
                        try await device.save(
                            Task(
                                id: id,
                                owner: ["ada", "bob", "eve"].randomElement(using: &random)!,
                                slug: "s\(id)", tags: Array(Set(tags)).sorted()))
                    }
                }
                _ = try await device.synchronize()
                try await expectIndexed(
                    service, try await service.loadAll(), "seed \(seed), round \(round)")
            }
        }
        for device in devices { _ = try await device.synchronize() }
        #expect(try await devices[0].loadAll() == service.loadAll())
        #expect(try await devices[1].loadAll() == service.loadAll())
        for local in locals { try await local.close() }
    }

    /// Two devices may each save one value of an index that is unique: both objects are there, and the index is not.
    @Test func whatBreaksAUniqueIndexIsSentWithoutIndexes() async throws {
        let service = try await connect().repository(of: Task.self, named: "tasks")
        try await service.save(Task(id: 1, owner: "ada", slug: "same"))
        try await service.buildIndexes()
        let local = try await Workspace.inMemory()
        let tasks = try await device(Task.self, local)
        try await tasks.save(Task(id: 2, owner: "bob", slug: "same"))
        try await tasks.save(Task(id: 3, owner: "bob", slug: "other"))
        #expect(try await tasks.synchronize().sentCount == 2)
        #expect(try await service.loadAll().map(\.id) == [1, 2, 3])
        let error = await #expect(throws: RoostError.self) {
            try await service.where { $0.owner == "bob" }.fetch()
        }
        #expect(error?.code == .notIndexed)
        try await local.close()
    }

    @Test func anAppThatDeclaresNoIndexTakesThemAway() async throws {
        let service = try await connect().repository(of: Task.self, named: "tasks")
        try await service.save(Task(id: 1, owner: "ada", slug: "one"))
        try await service.buildIndexes()
        let local = try await Workspace.inMemory()
        let tasks = try await device(PlainTask.self, local)
        try await tasks.save(PlainTask(id: 2, owner: "bob", slug: "two"))
        #expect(try await tasks.synchronize().sentCount == 1)
        await #expect(throws: RoostError.self) {
            try await service.where { $0.owner == "bob" }.fetch()
        }
        try await service.buildIndexes()
        #expect(try await service.where { $0.owner == "bob" }.fetch().map(\.id) == [2])
        try await local.close()
    }

    /// With their entries they are more operations than the engine takes at once.
    @Test func manyWithManyEntriesAreSentByLessThanOneCommitEach() async throws {
        let service = try await connect().repository(of: Task.self, named: "tasks")
        try await service.save(Task(id: 1_000, owner: "ada", slug: "first"))
        try await service.buildIndexes()
        let local = try await Workspace.inMemory()
        let tasks = try await device(Task.self, local)
        let all = (0..<100).map {
            Task(id: $0, owner: "ada", slug: "s\($0)", tags: ["t0", "t1", "t2", "t3"])
        }
        for task in all { try await tasks.save(task) }
        let count = Mutex(0)
        engine.set {
            $0.commit = { _ in
                count.withLock { $0 += 1 }
                return nil
            }
        }
        #expect(try await tasks.synchronize().sentCount == 100)
        #expect(count.withLock { $0 } < 30)
        try await expectIndexed(service, try await service.loadAll())
        try await local.close()
    }
}
