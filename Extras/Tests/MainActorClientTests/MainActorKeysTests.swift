import Foundation
import Roost
import RoostMacros
import Testing

// As MainActorClientTests. Types whose values are compared or converted wherever a call runs, or
// whose defaults refer to their own static properties, say that they belong to no actor.

@BinaryCodable nonisolated struct Limits: Equatable {
    static let standard = Limits(count: 10, price: 0.5)
    @Field(1) var count: Int
    @Field(2) var price: Decimal
}

nonisolated enum Look: String, BinaryCodable { case plain, framed }

@BinaryCodable nonisolated indirect enum Figure: Equatable {
    @Field(1) case point
    @Field(2) case group([Figure], name: String? = nil)
}

@BinaryCodable nonisolated struct Preferences: Equatable {
    @Field(1) var look: Look = .plain
    @Field(2) var limits: Limits = .standard
    @Field(3) var figures: [String: Figure] = [:]
    @Field(4) var launches = 0
}

/// What preferences were in an earlier version.
@BinaryCodable nonisolated struct PreferencesV1: Equatable {
    @Field(1) var isFramed: Bool
}

nonisolated struct Post: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var title: String
    var mood: Mood = .calm

    enum Mood: Codable, Equatable {
        case calm
        case loud(times: Int)
    }
}

extension Key where Value == Preferences {
    static var preferences: Self { .init("preferences", default: Preferences()) }
}

extension Key where Value == Int {
    static let launches = Key("launches", default: 0)
    static func visits(of name: String) -> Self { .init("visits.\(name)", default: 0) }
}

extension Key where Value == Shape? {
    static var lastShape: Self { .init("shape") }
}

extension Key where Value == Theme {
    static var theme: Self { .init("theme", default: .light) }
}

@Suite struct MainActorKeysTests {
    @Test func keysOfEveryKind() async throws {
        let settings = try await Workspace.inMemory().dictionary("settings")
        #expect(try settings[.preferences] == Preferences())
        try await settings.update(.preferences) { $0.launches += 1 }
        try await settings.update(.preferences) { $0.figures["a"] = .group([.point]) }
        #expect(try settings[.preferences].launches == 1)
        #expect(try settings[.preferences].figures == ["a": .group([.point])])
        try await settings.update(.launches) { $0 += 1 }
        try await settings.set(5, for: .visits(of: "home"))
        #expect(try settings[.launches] + settings[.visits(of: "home")] == 6)
        #expect(try settings[.lastShape] == nil)
        try await settings.set(.circle(radius: 2), for: .lastShape)
        #expect(try settings[.lastShape] == .circle(radius: 2))
        try await settings.set(nil, for: .lastShape)
        #expect(try !settings.contains(.lastShape))
        #expect(try await settings.set(.dark, for: .theme, onlyIfChanged: true))
        #expect(try await !settings.set(.dark, for: .theme, onlyIfChanged: true))
        try await settings.removeValue(for: .theme)
        #expect(try await settings.load(.theme) == .light)
    }

    @Test func valuesThatExpireAndEqualOnes() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let settings = workspace.dictionary("settings")
        let limits = Limits(count: 1, price: 2)
        try await settings.set(limits, forKey: "limits", expiresIn: .seconds(60))
        try await settings.set(.dark, for: .theme, expiresIn: .seconds(60))
        #expect(try settings.remainingTime(forKey: "limits") == .seconds(60))
        #expect(try settings["limits", as: Limits.self] == limits)
        time.advance(by: .seconds(60))
        #expect(try settings["limits", as: Limits.self] == nil)
        #expect(try settings[.theme] == .light)
        #expect(try settings.count == 0)
        #expect(try await settings.set(limits, forKey: "limits", onlyIfChanged: true))
        #expect(try await !settings.set(limits, forKey: "limits", onlyIfChanged: true))
    }

    @Test func migrationOfMacroTypes() async throws {
        let workspace = try await Workspace.inMemory()
        let old = workspace.dictionary("settings")
        try await old.set(PreferencesV1(isFramed: true), forKey: "preferences")
        let settings = workspace.dictionary("settings")
            .migrating(from: PreferencesV1.self, to: Preferences.self, version: 2) {
                Preferences(look: $0.isFramed ? .framed : .plain)
            }
        #expect(try settings[.preferences].look == .framed)
    }

    @Test func everythingElse() async throws {
        let workspace = try await Workspace.inMemory()
        let shapes = workspace.dictionary("shapes")
        try await shapes.set(Shape.point, forKey: "a")
        let left = try await workspace.transaction { tx in
            let shape = try tx.value(forKey: "a", as: Shape.self, in: shapes)
            try tx.set(Shape.group([shape ?? .point]), forKey: "b", in: shapes)
            return shape
        }
        #expect(left == .point)
        let seen = try workspace.read { view in
            try view.value(forKey: "b", as: Shape.self, in: shapes)
        }
        #expect(seen == .group([.point]))
        var keys: [String] = []
        for try await (key, _) in shapes.entries(prefix: "", as: Shape.self) { keys.append(key) }
        #expect(keys == ["a", "b"])
        shapes.enqueue(Shape.circle(radius: 1), forKey: "a")
        for await change in shapes.updates(of: "a", as: Shape.self) {
            #expect(change == .circle(radius: 1))
            break
        }
        let posts = workspace.repository(of: Post.self)
        try await posts.save(Post(id: "p", title: "x", mood: .loud(times: 3)))
        let list = ObservedRepository(posts)
        while list.items.isEmpty { await Task.yield() }
        #expect(list.items.first?.mood == .loud(times: 3))
        let entry = try shapes.entry(forKey: "b", as: Shape.self)
        try await shapes.replace(entry, with: .point)
        #expect(try shapes["b", as: Shape.self] == .point)
        try await workspace.close()
    }
}
