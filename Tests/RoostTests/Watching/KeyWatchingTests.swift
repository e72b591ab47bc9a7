import Roost
import RoostTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct KeyWatchingTests {
    @Test(arguments: WorkspaceKind.allCases)
    func updatesBeginWithTheValueOrTheDefaultAndGiveEachNewest(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            var updates = settings.updates(of: .launches).makeAsyncIterator()
            #expect(await updates.next() == 0)
            for number in 1...5 { try await settings.set(number, for: .launches) }
            #expect(await updates.next() == 5)
            try await settings.removeValue(for: .launches)
            #expect(await updates.next() == 0)
            async let next = updates.next()
            try await settings.set(7, for: .launches, durability: .synced)
            #expect(await next == 7)
        }
    }

    @Test func anOptionalKeyGivesNilWhereItHasNone() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        var updates = settings.updates(of: .nickname).makeAsyncIterator()
        #expect(await updates.next() == .some(nil))
        try await settings.set("ada", for: .nickname)
        #expect(await updates.next() == "ada")
        try await settings.set(nil, for: .nickname)
        #expect(await updates.next() == .some(nil))
        try await workspace.close()
        #expect(await updates.next() == nil)
    }

    @Test func aStringIsWatchedAsEitherWordHasIt() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(0.5, forKey: "volume")
        try await settings.set(Profile(name: "Ada", age: 36), forKey: "profile")
        #expect(try await settings.updates(of: "volume", of: Double.self).first(1) == [0.5])
        #expect(try await settings.updates(of: "volume", as: Double.self).first(1) == [0.5])
        let profiles = settings.updates(of: "profile", of: Profile.self)
        #expect(try await profiles.first(1).first??.name == "Ada")
        try await workspace.close()
    }

    @Test func aValueThatIsNotOfTheKeysTypeIsSkippedAndTold() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let failures = workspace.failures
        try await settings.set("no number", forKey: "launches")
        let updates = settings.updates(of: .launches)
        async let first = updates.first(1)
        #expect(try await failures.first(1).map(\.code) == [.typeMismatch])
        try await settings.set(3, for: .launches)
        #expect(try await first == [3])
        try await workspace.close()
    }

    @Test(arguments: WorkspaceKind.allCases)
    func changesGiveEveryVersionAndTakeUpWhereTheyWereLeft(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            let changes = settings.changes(of: .launches)
            try await settings.set(1, for: .launches)
            try await settings.set(9, forKey: "other")
            try await settings.set(2, for: .launches)
            try await settings.removeValue(for: .launches)
            #expect(
                try await changes.first(3) == [
                    .set(key: "launches", value: 1, version: 1),
                    .set(key: "launches", value: 2, version: 3),
                    .removed(key: "launches", version: 4),
                ])
            let since = settings.changes(of: .launches, since: 1)
            #expect(try await since.first(2).map(\.version) == [3, 4])
        }
    }

    @Test func aSubscriptionTellsTheDefaultFirst() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let told = Mutex<[SubscriptionEvent<Int>]>([])
        let subscription = settings.subscribe(.launches) { event in
            told.withLock { $0.append(event) }
        }
        func wait(for count: Int) async {
            while told.withLock({ $0.count }) < count { await Task.yield() }
        }
        await wait(for: 1)
        try await settings.set(1, for: .launches)
        await wait(for: 2)
        try await settings.removeValue(for: .launches)
        await wait(for: 3)
        subscription.cancel()
        try await settings.set(2, for: .launches)
        #expect(told.withLock { $0 } == [.initial(0), .updated(1), .deleted])
        try await workspace.close()
    }
}
