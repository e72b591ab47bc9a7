import Roost
import RoostTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct StoredTests {
    private final class Appearance {
        @Stored var theme: Theme
        @Stored var launches: Int
        @Stored var nickname: String?

        init(_ settings: WorkspaceDictionary) {
            _theme = Stored(.theme, in: settings)
            _launches = Stored(.launches, in: settings)
            _nickname = Stored(.nickname, in: settings)
        }
    }

    private actor Counter {
        @Stored var launches: Int
        init(_ settings: WorkspaceDictionary) { _launches = Stored(.launches, in: settings) }
        func launch() -> Int {
            launches += 1
            return launches
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aPropertyIsWhatItsKeyStores(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let settings = workspace.dictionary("settings")
            let appearance = Appearance(settings)
            #expect(appearance.theme == .light && appearance.launches == 0)
            appearance.theme = .dark
            appearance.launches += 2
            appearance.nickname = "ada"
            #expect(appearance.theme == .dark && appearance.launches == 2)
            #expect(try settings[.theme] == .dark, "other readers see it at once")
            try await settings.set(9, for: .launches)
            #expect(appearance.launches == 9, "and it sees what others write")
            appearance.nickname = nil
            try await workspace.close()

            let reopened = try await home.open()
            let later = Appearance(reopened.dictionary("settings"))
            #expect(later.theme == .dark && later.launches == 9 && later.nickname == nil)
            #expect(try !reopened.dictionary("settings").contains(.nickname))
            try await reopened.close()
        }
    }

    @Test func anActorCounts() async throws {
        let workspace = try await Workspace.inMemory()
        let counter = Counter(workspace.dictionary("settings"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = await counter.launch() } }
        }
        #expect(await counter.launch() == 101)
        try await workspace.close()
    }

    @Test func anEqualValueCostsNoWrite() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let appearance = Appearance(settings)
        appearance.theme = .dark
        try await workspace.synchronize()
        let before = try settings.entry(forKey: "ui.theme", as: Theme.self).version
        for _ in 0..<10 { appearance.theme = .dark }
        try await workspace.synchronize()
        #expect(try settings.entry(forKey: "ui.theme", as: Theme.self).version == before)
        try await workspace.close()
    }

    @Test func aDefaultThatStandsForAnUnreadableValueDoesNotTakeItsPlace() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let failures = workspace.failures
        try await settings.set("twelve", forKey: "launches")
        let appearance = Appearance(settings)
        appearance.launches += 1
        #expect(appearance.launches == 0)
        #expect(try settings["launches", as: String.self] == "twelve")
        #expect(throws: RoostError.self) { try appearance.$launches.value }
        let told = try await failures.first(3).map(\.code)
        #expect(told == [.typeMismatch, .typeMismatch, .typeMismatch], "read, set, read")
        await #expect(throws: RoostError.self) { try await workspace.synchronize() }
        try appearance.$launches.replace(with: 5).get()
        #expect(appearance.launches == 5)
        try appearance.$launches.reset().get()
        #expect(appearance.launches == 0)
        try await workspace.close()
    }
}
