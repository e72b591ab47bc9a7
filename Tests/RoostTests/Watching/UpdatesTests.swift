import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct UpdatesTests {
    @Test(arguments: WorkspaceKind.allCases)
    func theCurrentValueComesFirstAndThenTheNewest(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            try await settings.set(1, forKey: "a")
            var updates = settings.updates(of: "a", as: Int.self).makeAsyncIterator()
            #expect(await updates.next() == 1)
            // A reader that is slow skips to the newest.
            for number in 2...9 { try await settings.set(number, forKey: "a") }
            #expect(await updates.next() == 9)
            try await settings.removeValue(forKey: "a")
            #expect(await updates.next() == .some(nil))
            async let next = updates.next()
            try await settings.set(10, forKey: "a", durability: .synced)
            #expect(await next == 10)
            try await settings.removeAll()
            #expect(await updates.next() == .some(nil))
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func closingTheWorkspaceEndsTheSequences(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            let changes = settings.changes(as: Int.self)
            let updates = settings.updates(of: "a", as: Int.self)
            let failures = workspace.failures
            let waiting = Task { try await settings.updates(of: "b", as: Int.self).first(9).count }
            try await settings.set(1, forKey: "a")
            try await workspace.close()
            // What was committed before the end still comes.
            #expect(try await changes.first(9) == [.set(key: "a", value: 1, version: 1)])
            #expect(try await updates.first(9) == [1])
            #expect(try await failures.first(9).isEmpty)
            #expect(try await waiting.value <= 1)
            #expect(try await settings.updates(of: "a", as: Int.self).first(9).isEmpty)
            #expect(try await settings.changes(as: Int.self, since: 0).first(9).isEmpty)
        }
    }

    @Test func theSequencesOfAWorkspaceThatGoesEnd() async throws {
        var workspace: Workspace? = try await Workspace.inMemory()
        let updates = try #require(workspace).dictionary("d").updates(of: "a", as: Int.self)
        let waiting = Task { try await updates.first(9) }
        workspace = nil
        #expect(try await waiting.value == [nil])
    }

    @Test func aCancelledReaderEndsAndOthersGoOn() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let changes = settings.changes(as: Int.self)
        for round in 0..<50 {
            let reader = Task { try await changes.first(1).count }
            for _ in 0..<(round % 5) { await Task.yield() }
            reader.cancel()
            #expect(try await reader.value == 0)
        }
        async let told = changes.first(1)
        try await settings.set(1, forKey: "a")
        #expect(try await told.count == 1)
        try await workspace.close()
    }

    @Test func aNameThatCanHaveNoKeysIsNotWatched() async throws {
        let workspace = try await Workspace.inMemory()
        let nameless = workspace.dictionary(String(repeating: "n", count: 300))
        #expect(try await nameless.updates(of: "a", as: Int.self).first(1).isEmpty)
        #expect(try await nameless.changes(as: Int.self).first(1).isEmpty)
        try await workspace.close()
    }

    /// A workspace whose log is synced only while the gate is open.
    @Test func aSyncedChangeIsToldOnceItIsOnDiskAndLaterOnesAfterIt() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log") { gate.pass() }
            }
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process), fileSystem: fileSystem)
            let settings = workspace.dictionary("settings")
            var updates = settings.updates(of: "later", as: Int.self).makeAsyncIterator()
            var synced = settings.updates(of: "synced", as: Int.self).makeAsyncIterator()
            #expect(await updates.next() == .some(nil))
            #expect(await synced.next() == .some(nil))
            let changes = settings.changes(as: Int.self)
            gate.close()
            async let write: Void = settings.set(1, forKey: "synced", durability: .synced)
            await gate.waitForArrival()
            try await settings.set(2, forKey: "later")
            // A key's own watcher need not wait for another's sync.
            #expect(await updates.next() == 2)
            let first = Task { try await changes.first(2) }
            for _ in 0..<200 { await Task.yield() }
            let late = settings.changes(as: Int.self, since: 0)
            let history = Task { try await late.first(2) }
            for _ in 0..<200 { await Task.yield() }
            gate.open()
            try await write
            let told: [DictionaryChange<Int>] = [
                .set(key: "synced", value: 1, version: 1), .set(key: "later", value: 2, version: 2),
            ]
            #expect(try await first.value == told)
            #expect(try await history.value == told)
            #expect(await synced.next() == 1)
            try await workspace.close()
        }
    }
}
