import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct TypedKeyTests {
    @Test func aKeyWithoutAValueHasItsDefault() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        #expect(try settings[.theme] == .light)
        #expect(try settings[.launches] == 0)
        #expect(try settings[.origin] == Point(x: 0, y: 0))
        #expect(try settings[.profile] == nil)
        #expect(try await settings.load(.theme) == .light)
        #expect(try await settings.load(.nickname) == nil)
        #expect(try !settings.contains(.theme))
        #expect(try settings.count == 0, "reading a default stores nothing")
        try await workspace.close()
    }

    @Test func whatIsSetForAKeyIsThereAfterReopening() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let settings = workspace.dictionary("settings")
            try await settings.set(.dark, for: .theme)
            try await settings.set(3, for: .visits(to: "home"), durability: .synced)
            try await settings.set(Point(x: 1, y: -2), for: .origin)
            try await settings.set(Profile(name: "Ada", age: 36), for: .profile)
            try await settings.set("ada", for: .nickname)
            try await workspace.close()

            let reopened = try await Workspace.open(at: path)
            let later = reopened.dictionary("settings")
            #expect(try later[.theme] == .dark)
            #expect(try later[.visits(to: "home")] == 3)
            #expect(try later[.visits(to: "about")] == 0)
            #expect(try later[.origin] == Point(x: 1, y: -2))
            #expect(try await later.load(.profile) == Profile(name: "Ada", age: 36))
            #expect(try later[.nickname] == "ada")
            #expect(try later.contains(.theme))
            try await reopened.close()
        }
    }

    @Test func aKeyReadsWhatItsNameStoresAndTheOtherWayRound() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(5, forKey: "launches")
        #expect(try settings[.launches] == 5)
        try await settings.set("ada", for: .nickname)
        #expect(try settings["nickname", as: String.self] == "ada")
        try await settings.set(Point(x: 3, y: 4), for: .goal)
        #expect(try settings["goal", as: Point.self] == Point(x: 3, y: 4))
        try await settings.set(Profile(name: "B", age: 1), forKey: "profile")
        #expect(try settings[.profile]?.name == "B")
        try await workspace.close()
    }

    @Test func removingAKeyAndSettingAnOptionalToNilTakeTheValueAway() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(.dark, for: .theme)
        try await settings.removeValue(for: .theme)
        #expect(try settings[.theme] == .light)
        try await settings.set("ada", for: .nickname)
        try await settings.set(nil, for: .nickname)
        #expect(try settings[.nickname] == nil)
        #expect(try !settings.contains(.nickname))
        #expect(try settings.count == 0)
        try await workspace.close()
    }

    @Test func aBatchTakesKeys() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set("ada", for: .nickname)
        try await settings.set(9, for: .launches)
        try await workspace.write { batch in
            batch.set(.dark, for: .theme, in: settings)
            batch.set(nil, for: .nickname, in: settings)
            batch.removeValue(for: Key.launches, in: settings)
        }
        #expect(try settings[.theme] == .dark)
        #expect(try settings.keys == ["ui.theme"])
        try await workspace.close()
    }

    @Test func aKeyThatCannotBeDecodedIsAnErrorThatNamesItAndKeepsTheBytes() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(Label(text: "no theme"), forKey: "ui.theme")
        let stored = try settings.storedValue(forKey: "ui.theme")
        let error = #expect(throws: RoostError.self) { try settings[.theme] }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.contains("ui.theme") == true)
        let loadError = await #expect(throws: RoostError.self) { try await settings.load(.theme) }
        #expect(loadError?.code == .decodingFailed)

        try await settings.set("many", forKey: "launches")
        let mismatch = #expect(throws: RoostError.self) { try settings[.launches] }
        #expect(mismatch?.code == .typeMismatch)
        #expect(mismatch?.message.contains("launches") == true)
        try await workspace.compact()
        #expect(try settings.storedValue(forKey: "ui.theme") == stored)
        #expect(try settings["ui.theme", as: Label.self] == Label(text: "no theme"))
        #expect(try settings["launches", as: String.self] == "many")
        try await workspace.close()
    }
}

extension TypedKeyTests {
    @Test func updatesOfManyTasksAreAllCounted() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 { try await settings.update(.launches) { $0 += 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try settings[.launches] == 400)
        try await workspace.close()
    }

    @Test func anUpdateStartsFromTheDefaultAndGivesBackWhatItReturns() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let moved = try await settings.update(.origin) { origin in
            origin.x += 1
            return origin
        }
        #expect(moved == Point(x: 1, y: 0))
        #expect(try settings[.origin] == moved)
        try await settings.update(.profile) { $0 = Profile(name: "Ada", age: 36) }
        try await settings.update(.profile) { $0?.age += 1 }
        #expect(try settings[.profile]?.age == 37)
        try await settings.update(.profile) { $0 = nil }
        #expect(try !settings.contains(.profile))
        try await workspace.close()
    }

    @Test func anUpdateOfWhatCannotBeDecodedChangesNothing() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(Label(text: "no theme"), forKey: "ui.theme")
        let error = await #expect(throws: RoostError.self) {
            try await settings.update(.theme) { $0 = .dark }
        }
        #expect(error?.code == .decodingFailed)
        #expect(try settings["ui.theme", as: Label.self]?.text == "no theme")
        await #expect(throws: CancellationError.self) {
            try await settings.update(.launches) { value in
                value = 9
                throw CancellationError()
            }
        }
        #expect(try !settings.contains(.launches))
        try await workspace.close()
    }
}
