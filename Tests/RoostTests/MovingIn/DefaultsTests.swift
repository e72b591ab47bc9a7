import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct DefaultsTests {
    /// Each answer is that of `UserDefaults` to the same calls.
    @Test func itAnswersAsUserDefaultsDoes() async throws {
        let suite = "roost-test-\(UUID().uuidString)"
        let theirs = try #require(UserDefaults(suiteName: suite))
        defer { theirs.removePersistentDomain(forName: suite) }
        let workspace = try await Workspace.inMemory()
        let ours = workspace.defaults()
        let values: [(String, Any)] = [
            ("int", 42), ("negative", -7), ("zero", 0), ("double", 2.75), ("large", 1e300),
            ("yes", true),
            ("no", false), ("text", "heron"), ("number", "17"), ("YES", "YES"),
            ("data", Data([1, 2])),
            ("date", Date(timeIntervalSince1970: 99)), ("texts", ["a", "b"]),
            ("mixed", ["a", 1] as [Any]),
            ("members", ["k": 1]),
        ]
        for (key, value) in values {
            theirs.set(value, forKey: key)
            ours.set(value as Any?, forKey: key)
        }
        for key in values.map(\.0) + ["missing"] {
            #expect(
                ours.integer(forKey: key) == theirs.integer(forKey: key) || key == "large", "\(key)"
            )
            #expect(ours.double(forKey: key) == theirs.double(forKey: key), "\(key)")
            #expect(ours.bool(forKey: key) == theirs.bool(forKey: key) || key == "number", "\(key)")
            #expect(ours.data(forKey: key) == theirs.data(forKey: key), "\(key)")
            #expect(ours.stringArray(forKey: key) == theirs.stringArray(forKey: key), "\(key)")
            #expect(ours.array(forKey: key)?.count == theirs.array(forKey: key)?.count, "\(key)")
            #expect(
                (ours.object(forKey: key) == nil) == (theirs.object(forKey: key) == nil), "\(key)")
        }
        #expect(ours.string(forKey: "text") == "heron" && ours.string(forKey: "int") == "42")
        #expect(ours.object(forKey: "date") as? Date == Date(timeIntervalSince1970: 99))
        #expect(ours.dictionary(forKey: "members")?["k"] as? Int == 1)
        try await workspace.close()
    }

    @Test func whatIsRegisteredStandsWhereNothingIsStored() async throws {
        let workspace = try await Workspace.inMemory()
        let defaults = workspace.defaults("settings")
        defaults.register(defaults: ["launches": 1, "name": "nobody"])
        #expect(defaults.integer(forKey: "launches") == 1)
        defaults.set(defaults.integer(forKey: "launches") + 1, forKey: "launches")
        #expect(defaults.integer(forKey: "launches") == 2)
        #expect(try workspace.dictionary("settings")["launches", as: Int.self] == 2)
        defaults.removeObject(forKey: "launches")
        #expect(defaults.integer(forKey: "launches") == 1)
        defaults.set(nil as Any?, forKey: "name")
        #expect(defaults.string(forKey: "name") == "nobody")
        defaults.set(URL(string: "https://example.com/a"), forKey: "url")
        #expect(defaults.url(forKey: "url")?.host() == "example.com")
        try await workspace.synchronize()
        #expect(try workspace.dictionary("settings").keys == ["url"], "defaults are not stored")
        try await workspace.close()
    }

    @Test func whatCannotBeReadOrStoredIsTold() async throws {
        struct Unknown {}
        let workspace = try await Workspace.inMemory()
        let failures = workspace.failures
        let defaults = workspace.defaults("settings")
        defaults.set(Unknown() as Any?, forKey: "k")
        #expect(try await failures.first(1).map(\.code) == [.encodingFailed])
        #expect(defaults.object(forKey: "k") == nil)
        try await workspace.close()
    }
}
