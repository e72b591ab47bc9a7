import Foundation
import Observation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

private struct Post: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var title = ""
}

private struct Numbered: Codable, Identifiable, Equatable, Sendable {
    let id: Int
}

@Suite(.timeLimit(.minutes(10))) struct RepositoryTests {
    @Test(arguments: WorkspaceKind.allCases)
    func itemsAreSavedFoundListedAndDeleted(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let posts = workspace.repository(of: Post.self)
            #expect(try await posts.find(by: "p1") == nil)
            #expect(try await posts.loadAll().isEmpty)
            let changes = posts.changes()
            try await posts.save(Post(id: "p2", title: "second"))
            try await posts.save(Post(id: "p1", title: "first"), durability: .synced)
            try await posts.saveAll([
                Post(id: "p3"), Post(id: "p4"), Post(id: "p3", title: "third"),
            ])
            #expect(try await posts.find(by: "p1")?.title == "first")
            #expect(try await posts.loadAll().map(\.title) == ["first", "second", "third", ""])
            #expect(try posts.count == 4)
            try await posts.delete("p4")
            try await posts.delete(Post(id: "p2"))
            try await posts.delete("p2")
            #expect(try await posts.loadAll().map(\.id) == ["p1", "p3"])
            let told = try await changes.first(5)
            #expect(
                told.first == .set(key: "p2", value: Post(id: "p2", title: "second"), version: 1))
            #expect(told[4] == .removed(key: "p4", version: 4))
            #expect(workspace.dictionary("Post").name == posts.dictionary.name)
        }
    }

    @Test func itemsSurviveAReopeningAndIdentifiersMayBeNumbers() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            try await workspace.repository(of: Numbered.self).saveAll((0..<20).map(Numbered.init))
            try await workspace.repository(of: Post.self, named: "drafts").save(Post(id: "1"))
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            let numbers = workspace.repository(of: Numbered.self)
            #expect(try await numbers.find(by: 7) == Numbered(id: 7))
            #expect(try await numbers.loadAll().count == 20)
            #expect(try workspace.dictionaryNames == ["Numbered", "drafts"])
            try await workspace.close()
        }
    }
}

@MainActor
@Suite(.timeLimit(.minutes(10))) struct ObservedRepositoryTests {
    /// Returns once `items` is what is expected; the time limit is for the case that it never is.
    private func waitUntil(
        _ list: ObservedRepository<Post>, _ isMet: @escaping @MainActor ([Post]) -> Bool
    ) async {
        if #available(macOS 26, iOS 26, *) {
            for await items in Observations({ list.items }) where isMet(items) { return }
        } else {
            while !isMet(list.items) { await Task.yield() }
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aListFollowsWhatOthersSaveAndDelete(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let posts = workspace.repository(of: Post.self)
            try await posts.saveAll([Post(id: "b"), Post(id: "d")])
            let list = ObservedRepository(posts)
            await waitUntil(list) { $0.map(\.id) == ["b", "d"] }
            #expect(list.isLoaded)
            try await posts.save(Post(id: "c", title: "new"))
            try await posts.save(Post(id: "b", title: "changed"))
            try await posts.delete("d")
            await waitUntil(list) { $0.map(\.title) == ["changed", "new"] }
            try await posts.dictionary.removeAll()
            await waitUntil(list) { $0.isEmpty }
            #expect(list.failure == nil)
        }
    }

    /// Values that do not decode again would fail a full loading: none happens.
    @Test func changesAreAppliedWithoutLoadingTheOthersAgain() async throws {
        let workspace = try await Workspace.inMemory()
        let counts = workspace.repository(of: CountedItem.self)
        try await counts.saveAll((0..<100).map { CountedItem(id: "\($0)") })
        let list = ObservedRepository(counts)
        while list.items.count < 100 { await Task.yield() }
        let before = CountedItem.decodeCount.load(ordering: .relaxed)
        for number in 100..<110 { try await counts.save(CountedItem(id: "\(number)")) }
        while list.items.count < 110 { await Task.yield() }
        #expect(CountedItem.decodeCount.load(ordering: .relaxed) - before == 10)
        try await workspace.close()
    }

    @Test func itemsThatAreAddedAndRemovedShowAtOnceAndAreStored() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let posts = workspace.repository(of: Post.self)
            let list = ObservedRepository(posts)
            await waitUntil(list) { _ in list.isLoaded }
            let changeCount = Mutex(0)
            withObservationTracking {
                _ = list.items
            } onChange: {
                changeCount.withLock { $0 += 1 }
            }
            list.add(Post(id: "b"))
            #expect(changeCount.withLock { $0 } == 1)
            list.add(Post(id: "a"))
            list.add(Post(id: "b", title: "again"))
            #expect(list.items == [Post(id: "a"), Post(id: "b", title: "again")])
            #expect(try await posts.find(by: "b")?.title == "again")
            list.remove(Post(id: "a"))
            list.remove("none")
            #expect(list.items.map(\.id) == ["b"])
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            #expect(try await again.repository(of: Post.self).loadAll().map(\.title) == ["again"])
            try await again.close()
        }
    }

    /// What the list follows comes after newer changes were made here: it has waited for the main actor.
    @Test func whatIsAddedAndRemovedIsNotFollowedByWhatWasBefore() async throws {
        let workspace = try await Workspace.inMemory()
        let list = ObservedRepository(workspace.repository(of: Post.self))
        await waitUntil(list) { _ in list.isLoaded }
        func expectStays(_ titles: [String]) async {
            for _ in 0..<10 {
                await Task.yield()
                #expect(list.items.map(\.title) == titles)
            }
        }
        for round in 0..<60 {
            list.add(Post(id: "a", title: "\(round) first"))
            holdTheMainActor()
            list.add(Post(id: "a", title: "\(round) second"))
            await expectStays(["\(round) second"])
            list.add(Post(id: "a", title: "\(round) third"))
            holdTheMainActor()
            list.remove("a")
            await expectStays([])
        }
        // What others write is followed again.
        try await list.repository.save(Post(id: "a", title: "other"))
        await waitUntil(list) { $0.map(\.title) == ["other"] }
        try await list.repository.delete("a")
        await waitUntil(list) { $0.isEmpty }
        // Nothing can be read any more when the last change is told.
        list.add(Post(id: "b", title: "first"))
        holdTheMainActor()
        list.add(Post(id: "b", title: "last"))
        try await workspace.close()
        await expectStays(["last"])
    }

    @Test func whatIsAddedWhileTheListIsLoadedStays() async throws {
        let workspace = try await Workspace.inMemory()
        let posts = workspace.repository(of: Post.self)
        try await posts.saveAll([Post(id: "a"), Post(id: "c")])
        for round in 0..<30 {
            let list = ObservedRepository(posts)
            // It has its view, and waits with what is in it.
            holdTheMainActor()
            list.add(Post(id: "b", title: "\(round)"))
            list.remove("c")
            while !list.isLoaded { await Task.yield() }
            #expect(list.items == [Post(id: "a"), Post(id: "b", title: "\(round)")])
            try await posts.delete("b")
            try await posts.save(Post(id: "c"))
            await waitUntil(list) { $0.map(\.id) == ["a", "c"] }
        }
        try await workspace.close()
    }

    private func holdTheMainActor() { Thread.sleep(forTimeInterval: 0.01) }

    /// Each reading of something unreadable is told to all who listen: what no write has lost is there as it was.
    @Test func whatElseFailsLoadsNothingAgain() async throws {
        let workspace = try await Workspace.inMemory()
        let told = workspace.repository(of: ToldItem.self)
        try await told.saveAll((0..<10).map { ToldItem(id: "\($0)") })
        let list = ObservedRepository(told)
        while list.items.count < 10 { await Task.yield() }
        let settings = workspace.dictionary("settings")
        try await settings.set("three", forKey: "launches")
        let before = ToldItem.decodeCount.load(ordering: .relaxed)
        let changeCount = Mutex(0)
        withObservationTracking {
            _ = list.items
        } onChange: {
            changeCount.withLock { $0 += 1 }
        }
        var failures = workspace.failures.makeAsyncIterator()
        let stored = Stored(.launches, in: settings)
        for _ in 0..<3 {
            #expect(stored.wrappedValue == 0)
            #expect(await failures.next(isolation: #isolation)?.code == .typeMismatch)
        }
        try await Task.sleep(for: .milliseconds(200))
        #expect(ToldItem.decodeCount.load(ordering: .relaxed) == before)
        #expect(changeCount.withLock { $0 } == 0)
        try await workspace.close()
    }

    @Test func anItemThatCouldNotBeWrittenLeavesTheListAgain() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process),
                fileSystem: plan.fileSystem())
            let list = ObservedRepository(workspace.repository(of: Post.self))
            list.add(Post(id: "kept"))
            try await workspace.synchronize()
            await waitUntil(list) { $0.map(\.id) == ["kept"] }
            plan.failNext()
            // It fails at once where nothing comes before it, and is not shown then.
            let added = list.add(Post(id: "lost", title: String(repeating: "x", count: 2 << 20)))
            let isShown = if case .success = added { true } else { false }
            #expect(list.items.count == (isShown ? 2 : 1))
            await waitUntil(list) { $0.map(\.id) == ["kept"] }
            await #expect(throws: RoostError.self) { try await workspace.close() }
        }
    }

    @Test func aListThatIsLetGoOfIsGone() async throws {
        let workspace = try await Workspace.inMemory()
        weak var gone: ObservedRepository<Post>?
        do {
            let list = ObservedRepository(workspace.repository(of: Post.self))
            list.add(Post(id: "a"))
            gone = list
        }
        while gone != nil { await Task.yield() }
        try await workspace.close()
    }
}

private struct ToldItem: Codable, Identifiable, Sendable {
    static let decodeCount = Atomic<Int>(0)
    var id: String

    init(id: String) { self.id = id }

    init(from decoder: any Decoder) throws {
        Self.decodeCount.wrappingAdd(1, ordering: .relaxed)
        id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
    }
}

private struct CountedItem: Codable, Identifiable, Sendable {
    static let decodeCount = Atomic<Int>(0)
    var id: String

    init(id: String) { self.id = id }

    init(from decoder: any Decoder) throws {
        Self.decodeCount.wrappingAdd(1, ordering: .relaxed)
        id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
    }
}
