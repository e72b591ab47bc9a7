import Roost
import RoostTestSupport
import Testing

/// Reads with a version, and writes on the condition that it still stands.
@Suite struct EntryTests {
    @Test(arguments: WorkspaceKind.allCases)
    func anEntryIsReplacedOnlyWhileNobodyElseChangedIt(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            var settings = workspace.dictionary("settings")
            let absent = try settings.entry(forKey: "draft", as: String.self)
            #expect(absent.value == nil && absent.version == 0)
            let first = try await settings.replace(absent, with: "one")
            #expect(first.version > 0)
            await #expect(throws: RoostError.self) {
                try await settings.replace(absent, with: "no")
            }
            let second = try await settings.replace(first, with: "two", durability: .synced)
            #expect(second.version > first.version)
            do {
                try await settings.replace(first, with: "no")
                Issue.record("replaced a version that is gone")
            } catch let error as RoostError { #expect(error.code == .conflict) }
            #expect(try settings["draft", as: String.self] == "two")
            try await workspace.close()

            workspace = try await home.open()
            settings = workspace.dictionary("settings")
            let again = try settings.entry(forKey: "draft", as: String.self)
            #expect(again.value == "two" && again.version == second.version)
            try await settings.remove(again)
            #expect(try !settings.contains("draft"))
            await #expect(throws: RoostError.self) { try await settings.remove(again) }
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aVersionOutlivesFlushesAndMerges(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let settings = workspace.dictionary("settings")
            try await settings.set(1, forKey: "a")
            let hot = try settings.entry(forKey: "a", as: Int.self)
            let absent = try settings.entry(forKey: "none", as: Int.self)
            try await workspace.compact()
            let cold = try settings.entry(forKey: "a", as: Int.self)
            #expect(hot.version == cold.version)
            try await settings.set(2, forKey: "b")
            try await workspace.compact()
            let next = try await settings.replace(hot, with: 3)
            #expect(next.version > hot.version)
            await #expect(throws: RoostError.self) { try await settings.replace(cold, with: 4) }
            try await settings.replace(absent, with: 5)
            try await workspace.compact()
            await #expect(throws: RoostError.self) { try await settings.replace(absent, with: 6) }
            #expect(try settings["a", as: Int.self] == 3)
            #expect(try settings["none", as: Int.self] == 5)
            try await workspace.close()
        }
    }

    /// What is in snapshots alone is not looked up again where these are still those of the read: those of another opening
    /// were taken for them, as each opening counted its own from zero.
    @Test(arguments: WorkspaceKind.allCases)
    func anEntryOfAnEarlierOpeningIsReplacedOnlyWhileNobodyElseChangedIt(
        kind: WorkspaceKind
    ) async throws {
        try await kind.withHome { home in
            let first = try await home.open()
            try await first.dictionary("d").setAll(["changed": 1, "removed": 1, "same": 1])
            try await first.compact()
            try await first.close()

            let second = try await home.open()
            let entries = try ["changed", "removed", "added"].map {
                try second.dictionary("d").entry(forKey: $0, as: Int.self)
            }
            let same = try second.dictionary("d").entry(forKey: "same", as: Int.self)
            try await second.close()

            let third = try await home.open()
            try await third.dictionary("d").setAll(["changed": 2, "added": 2])
            try await third.dictionary("d").removeValue(forKey: "removed")
            try await third.compact()
            try await third.close()

            let last = try await home.open()
            let values = last.dictionary("d")
            for entry in entries {
                let error = await #expect(throws: RoostError.self) {
                    try await values.replace(entry, with: 3)
                }
                #expect(error?.code == .conflict)
            }
            try await values.replace(same, with: 3)
            #expect(try values["changed", as: Int.self] == 2)
            #expect(try values["removed", as: Int.self] == nil)
            #expect(try values["added", as: Int.self] == 2)
            #expect(try values["same", as: Int.self] == 3)
            try await last.close()
        }
    }

    /// Nobody has met the value since it expired.
    @Test(arguments: [Durability.process, .synced], [false, true])
    func whatWasSetAndHasExpiredIsNoConflictWithAnEntryWithoutAValue(
        durability: Durability, isCold: Bool
    ) async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let leases = workspace.dictionary("leases")
        let absent = try leases.entry(forKey: "a", as: String.self)
        try await leases.set("ada", forKey: "a", expiresIn: .seconds(10))
        if isCold { try await workspace.compact() }
        let error = await #expect(throws: RoostError.self) {
            try await leases.replace(absent, with: "bob", durability: durability)
        }
        #expect(error?.code == .conflict)
        time.advance(by: .seconds(10))
        let replaced = try await leases.replace(absent, with: "bob", durability: durability)
        #expect(replaced.version > 0)
        #expect(try leases["a", as: String.self] == "bob")
        try await workspace.close()
    }

    @Test func removingAllIsAConflictWithEntriesReadBefore() async throws {
        let workspace = try await Workspace.inMemory()
        for durability in [Durability.process, .synced] {
            let settings = workspace.dictionary("settings")
            for isCold in [false, true] {
                try await settings.set(1, forKey: "a")
                if isCold { try await workspace.compact() }
                let entry = try settings.entry(forKey: "a", as: Int.self)
                try await settings.removeAll(durability: durability)
                await #expect(throws: RoostError.self) {
                    try await settings.replace(entry, with: 2, durability: durability)
                }
                #expect(try settings["a", as: Int.self] == nil)
            }
        }
        try await workspace.close()
    }

    @Test(arguments: [Durability.process, .synced])
    func concurrentUpdatesOfOneKeyAllCount(durability: Durability) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let counters = workspace.dictionary("counters")
            let rounds = durability == .synced ? 20 : 200
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<rounds {
                            try await counters.update("n", default: 0, durability: durability) {
                                $0 += 1
                            }
                        }
                    }
                }
                group.addTask { for _ in 0..<5 { try await workspace.compact() } }
                try await group.waitForAll()
            }
            #expect(try counters["n", as: Int.self] == 8 * rounds)
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("counters")["n", as: Int.self] == 8 * rounds)
            try await again.close()
        }
    }

    @Test func anUpdateMayRemoveAndMayThrow() async throws {
        struct Refused: Error {}
        let workspace = try await Workspace.inMemory()
        let counters = workspace.dictionary("counters")
        try await counters.update("n", as: [String].self) { value in
            #expect(value == nil)
            value = ["a"]
        }
        await #expect(throws: Refused.self) {
            try await counters.update("n", as: [String].self) { value in
                value = nil
                throw Refused()
            }
        }
        #expect(try counters["n", as: [String].self] == ["a"])
        let last = try await counters.update("n", as: [String].self) { value in
            defer { value = nil }
            return value
        }
        #expect(last == ["a"])
        #expect(try !counters.contains("n"))
        try await workspace.close()
    }
}
