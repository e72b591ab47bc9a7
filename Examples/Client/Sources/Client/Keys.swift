import Foundation
import Roost

/// What an app declares: a value, and the keys of its settings, for every actor.
nonisolated enum Theme: String, Codable { case light, dark }

nonisolated extension Key where Value == Theme {
    static var theme: Self { .init("ui.theme", default: .light) }
}

nonisolated extension Key where Value == Int {
    static var launches: Self { .init("app.launches", default: 0) }
    static func visits(to page: String) -> Self { .init("visits.\(page)", default: 0) }
}

nonisolated extension Key where Value == User? {
    static var lastUser: Self { .init("user.last") }
}

/// A key that only the main actor uses.
extension Key where Value == Draft {
    static var openDraft: Self { .init("draft.open", default: Draft(title: "", body: "")) }
}

extension Client {
    static func checkKeys(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let settings = workspace.dictionary("keys")
        try check(try settings[.theme] == .light, "a key has its default")
        try await settings.set(.dark, for: .theme)
        try check(try settings[.theme] == .dark, "a key has its value")
        try check(try await settings.load(.theme) == .dark, "a key is loaded")
        let count = try await settings.update(.launches) { count in
            count += 1
            return count
        }
        try check(count == 1, "an update starts from the default")
        try await settings.removeValue(for: .launches)
        let isDarkThere = try await workspace.transaction { tx in
            try tx.set(1, for: .launches, in: settings)
            try tx.removeValue(for: Key.launches, in: settings)
            return try tx.value(for: .theme, in: settings) == .dark
        }
        try check(isDarkThere, "a transaction takes keys")
        try await settings.set(2, for: .visits(to: "home"), durability: .synced)
        try check(try settings[.visits(to: "home")] == 2, "a key takes a parameter")
        try check(try settings.contains(.visits(to: "home")), "it is there")

        try check(try settings[.lastUser] == nil, "an optional key has no default")
        try await settings.set(User(name: "Ada", age: 36), for: .lastUser)
        try check(try settings[.lastUser]?.name == "Ada", "an optional key has a value")
        try await settings.set(nil, for: .lastUser)
        try check(try !settings.contains(.lastUser), "nil removes it")
        try await settings.set(Draft(title: "a", body: "b"), for: .openDraft)
        try check(try settings[.openDraft].title == "a", "a key of the main actor")
        try await settings.removeValue(for: .openDraft)
        try check(try settings[.openDraft].title.isEmpty, "it is gone")
        let isDark = try await Task.detached { try settings[.theme] == .dark }.value
        try check(isDark, "a task off the main actor reads by key")

        try check(try await !settings.set(.dark, for: .theme, onlyIfChanged: true), "it is equal")
        try check(try await settings.set(1, for: .launches, onlyIfChanged: true), "it is new")
        let user = User(name: "Grace", age: 85)
        try check(try await settings.set(user, forKey: "u", onlyIfChanged: true), "it is new")
        try check(try await !settings.set(user, forKey: "u", onlyIfChanged: true), "it is equal")

        let drafts = workspace.dictionary("drafts", coder: .json)
        try await drafts.set(Draft(title: "j", body: ""), forKey: "j")
        try await drafts.set(Draft(title: "p", body: ""), forKey: "p", coder: .propertyList)
        try check(try drafts["j", as: Draft.self]?.title == "j", "JSON is read")
        try check(try drafts["p", as: Draft.self]?.title == "p", "a property list is read")
        try await drafts.removeAll()
        try await settings.removeAll()
        try await workspace.close()
    }
}

extension Client {
    static func checkExpiry() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let sessions = workspace.dictionary("sessions")
        try await sessions.set("secret", forKey: "token", expiresIn: .seconds(60))
        try await sessions.set(.dark, for: .theme, expiresAt: time.now + 60)
        try await workspace.write { batch in
            batch.set(1, forKey: "n", in: sessions, expiresIn: .seconds(60))
        }
        try check(try sessions["token", as: String.self] == "secret", "it is there yet")
        try check(try sessions.remainingTime(forKey: "token") == .seconds(60), "a minute is left")
        try check(try sessions.expiration(for: .theme) == time.now + 60, "it has its instant")
        time.advance(by: .seconds(60))
        try check(try sessions["token", as: String.self] == nil, "it is gone")
        try check(try sessions[.theme] == .light && sessions.count == 0, "all are gone")
        try await workspace.close()
    }
}
