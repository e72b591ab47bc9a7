import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct DefaultsTests {
    static var numbers: [(String, Any)] {
        [
            ("int", 42), ("negative", -7), ("zero", 0), ("least", Int.min), ("large", 1 << 53),
            ("double", 2.75), ("whole", 2.0), ("minus", -2.75), ("1e300", 1e300), ("1e15", 1e15),
            ("1e16", 1e16), ("0.1", 0.1), ("1e-7", 1e-7), ("third", 1.0 / 3), ("-0", -0.0),
            ("float", Float(0.1)), ("yes", true), ("no", false),
        ]
    }

    static var texts: [(String, Any)] {
        [
            "heron", "17", "3.7", "12abc", "1.5kg", " 17 ", "\n17", "-5", "+5", "- 5", "0x10",
            "1e3",
            "YES", "Y", "yes", " yes", "true", "TRUE", "t", "tomato", "no", "N", "false", "0", "1",
            "9",
            "010", "-1", "", "99999999999999999999", "-99999999999999999999", "inf", "nan", ".5",
            "1.",
            "1e", "1,5", "٣", "1e400", "0.1", "123456789.123456789", "1_000", "/usr/bin", "~/x",
        ].map { ("text \($0)", $0) }
    }

    static var others: [(String, Any)] {
        [
            ("data", Data([1, 2])), ("date", Date(timeIntervalSince1970: 99)),
            ("texts", ["a", "b"]),
            ("mixed", ["a", 1] as [Any]), ("none", [Any]()), ("reals", [2.0, 0.5]),
            ("nested", [[2.0, 3.0], [1, 2.5]] as [Any]), ("members", ["k": 1]),
            ("deep", ["k": ["r": 2.0, "i": 2, "b": true]]),
        ]
    }

    /// What the platform has as `Any`, without the optionals that the open Foundation leaves in it.
    private static func plain(_ value: Any?) -> String {
        guard let value else { return "nil" }
        if let values = value as? [Any] {
            return "[" + values.map(plain).joined(separator: ", ") + "]"
        }
        if let members = value as? [String: Any] {
            return members.sorted { $0.key < $1.key }.map { "\($0.key): \(plain($0.value))" }
                .description
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return plain(mirror.children.first?.value) }
        if let date = value as? Date { return "Date \(date.timeIntervalSince1970)" }
        if let data = value as? Data { return "Data \(Array(data))" }
        #if canImport(Darwin)
            // Of the one class of numbers by what they hold.
            if let number = value as? NSNumber {
                return "\(String(cString: number.objCType)) \(number)"
            }
        #endif
        return "\(type(of: value)) \(value)"
    }

    /// Each getter's answer, with its type, is that of `UserDefaults` to the same calls.
    @Test func itAnswersAsUserDefaultsDoes() async throws {
        let suite = "roost-test-\(UUID().uuidString)"
        let theirs = try #require(UserDefaults(suiteName: suite))
        defer { theirs.removePersistentDomain(forName: suite) }
        let workspace = try await Workspace.inMemory()
        let ours = workspace.defaults()
        let values = Self.numbers + Self.texts + Self.others
        for (key, value) in values {
            theirs.set(value, forKey: key)
            ours.set(value as Any?, forKey: key)
        }
        theirs.set(Float(0.3), forKey: "as Float")
        ours.set(Float(0.3), forKey: "as Float")
        for key in values.map(\.0) + ["missing", "as Float"] {
            #expect(ours.string(forKey: key) == theirs.string(forKey: key), "\(key)")
            // Beyond `Int` there is no answer that is right.
            if key != "1e300" {
                #expect(ours.integer(forKey: key) == theirs.integer(forKey: key), "\(key)")
            }
            #expect(ours.double(forKey: key) == theirs.double(forKey: key), "\(key)")
            #expect(ours.float(forKey: key) == theirs.float(forKey: key), "\(key)")
            #expect(ours.bool(forKey: key) == theirs.bool(forKey: key), "\(key)")
            #expect(ours.data(forKey: key) == theirs.data(forKey: key), "\(key)")
            // Of data the open Foundation ends the process.
            if key != "data" {
                let (url, expected) = (ours.url(forKey: key), theirs.url(forKey: key))
                #expect(url?.absoluteURL == expected?.absoluteURL, "\(key)")
            }
            #expect(Self.plain(ours.array(forKey: key)) == Self.plain(theirs.array(forKey: key)))
            #expect(ours.stringArray(forKey: key) == theirs.stringArray(forKey: key), "\(key)")
            #expect(
                Self.plain(ours.dictionary(forKey: key))
                    == Self.plain(theirs.dictionary(forKey: key)), "\(key)")
            #expect(
                Self.plain(ours.object(forKey: key)) == Self.plain(theirs.object(forKey: key)),
                "\(key)")
        }
        try await workspace.close()
    }

    @Test func numbersThatIntDoesNotHoldAreTheNearest() async throws {
        let workspace = try await Workspace.inMemory()
        let defaults = workspace.defaults()
        for (value, text, whole) in [
            (Int.max as Any, "\(Int.max)", Int.max), (UInt64.max, "\(UInt64.max)", .max),
            (1e300, nil, .max), (-1e300, nil, .min),
        ] as [(Any, String?, Int)] {
            defaults.set(value as Any?, forKey: "k")
            if let text { #expect(defaults.string(forKey: "k") == text) }
            #expect(defaults.integer(forKey: "k") == whole)
            #expect(defaults.double(forKey: "k").magnitude > 9e18 && defaults.bool(forKey: "k"))
        }
        // As a typed key writes it.
        try await defaults.dictionary.set(UInt64(0), forKey: "zero")
        #expect(!defaults.bool(forKey: "zero") && defaults.integer(forKey: "zero") == 0)
        try await workspace.close()
    }

    @Test func urlsAreTextOrWhatFoundationArchives() async throws {
        let workspace = try await Workspace.inMemory()
        let defaults = workspace.defaults()
        let url = try #require(URL(string: "https://example.com/a?b#c"))
        defaults.set(url, forKey: "url")
        #expect(defaults.url(forKey: "url") == url)
        defaults.set(URL(fileURLWithPath: "/tmp/x y"), forKey: "file")
        #expect(defaults.url(forKey: "file")?.path == "/tmp/x y")
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: url as NSURL, requiringSecureCoding: true)
        defaults.set(archive as Any?, forKey: "archived")
        #expect(defaults.url(forKey: "archived") == url)
        for size in stride(from: 0, to: archive.count, by: 9) {
            defaults.set(archive.prefix(size) as Any?, forKey: "cut")
            #expect(defaults.url(forKey: "cut") == nil)
        }
        try await workspace.close()
    }

    @Test func allOfItIsADictionary() async throws {
        let workspace = try await Workspace.inMemory()
        let defaults = workspace.defaults()
        defaults.register(defaults: ["a": 1, "b": "registered"])
        defaults.set("stored", forKey: "b")
        defaults.set([2.0, 0.5] as Any?, forKey: "c")
        #expect(defaults.synchronize())
        #expect(
            Self.plain(defaults.dictionaryRepresentation())
                == Self.plain(["a": 1, "b": "stored", "c": [2.0, 0.5]] as [String: Any]))
        try await workspace.close()
    }

    private struct Window: Codable {
        var ratio = 2.0
        var count = 2
        var levels = [2.0, 0.5]
    }

    /// What `Codable` types and typed keys have stored is shown with its types too.
    @Test func whatOthersStoredKeepsItsTypes() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings", coder: .propertyList)
        let defaults = workspace.defaults("settings")
        try await settings.set(Window(), forKey: "window")
        try await settings.set(Float(0.5), forKey: "float")
        let window: [String: Any] = ["count": 2, "levels": [2.0, 0.5], "ratio": 2.0]
        #expect(Self.plain(defaults.dictionary(forKey: "window")) == Self.plain(window))
        #expect(Self.plain(defaults.object(forKey: "float")) == Self.plain(Float(0.5)))
        try await workspace.close()
    }

    @Test func numbersOfEveryIntegerTypeAreRead() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let defaults = workspace.defaults("settings")
        let failures = workspace.failures
        try await settings.set(Int8(-1), forKey: "8")
        try await settings.set(Int16(-2), forKey: "16")
        try await settings.set(Int32(-3), forKey: "32")
        try await settings.set(Int64.max, forKey: "64")
        try await settings.set(UInt(4), forKey: "u")
        try await settings.set(UInt8(5), forKey: "u8")
        try await settings.set(UInt16(6), forKey: "u16")
        try await settings.set(UInt32(7), forKey: "u32")
        try await settings.set(UInt64.max, forKey: "u64")
        let keys = ["8", "16", "32", "64", "u", "u8", "u16", "u32", "u64"]
        #expect(
            keys.map { defaults.integer(forKey: $0) } == [-1, -2, -3, .max, 4, 5, 6, 7, .max])
        #expect(defaults.double(forKey: "u32") == 7 && defaults.string(forKey: "8") == "-1")
        #expect(keys.allSatisfy { defaults.bool(forKey: $0) && defaults.object(forKey: $0) != nil })
        try await workspace.close()
        var told = failures.makeAsyncIterator()
        #expect(await told.next(isolation: nil) == nil)
    }

    /// As `UserDefaults` of each platform gives them.
    @Test func numbersAreWhatThePlatformHasThemAs() async throws {
        let workspace = try await Workspace.inMemory()
        let defaults = workspace.defaults("settings")
        defaults.set(1, forKey: "number")
        defaults.set([true] as Any?, forKey: "array")
        #if canImport(Darwin)
            #expect(defaults.object(forKey: "number").map { type(of: $0) is NSNumber.Type } == true)
            #expect(defaults.object(forKey: "number") as? Double == 1)
            #expect(defaults.array(forKey: "array")?.first as? Int == 1)
        #else
            #expect(defaults.object(forKey: "number").map { type(of: $0) == Int.self } == true)
            #expect(
                defaults.array(forKey: "array")?.first.map { type(of: $0) == Bool.self } == true)
        #endif
        try await workspace.close()
    }

    /// Their bytes do not say what they are: the eight of `["abcdef"]` are a date's too, in number.
    @Test func whatTypedKeysStoreIsNoDate() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let defaults = workspace.defaults("settings")
        let texts = [
            "short": ["a"], "eight": ["abcdef"], "likeADate": ["abcdeA"],
            "several": ["a", "", "€"],
        ]
        for (key, value) in texts { try await settings.set(value, forKey: key) }
        try await settings.set([1, 2, 3], forKey: "numbers")
        try await settings.set([1, 2, 3, 4, 5, 6, 7], forKey: "eight bytes of numbers")
        try await settings.set(["a": 1], forKey: "byName")
        defaults.register(defaults: ["numbers": "the default"])
        let failures = workspace.failures
        for (key, value) in texts {
            #expect(defaults.stringArray(forKey: key) == value)
            if key == "likeADate" { continue }
            #expect(defaults.object(forKey: key) == nil, "\(key)")
        }
        #expect(defaults.object(forKey: "numbers") as? String == "the default")
        #expect(defaults.stringArray(forKey: "numbers") == nil)
        #expect(defaults.object(forKey: "eight bytes of numbers") == nil)
        #expect(defaults.object(forKey: "byName") == nil)
        #expect(try await failures.first(1).map(\.code) == [.typeMismatch])
        for (key, value) in texts {
            defaults.set((defaults.stringArray(forKey: key) ?? []) + ["more"], forKey: key)
            #expect(try settings.value(forKey: key, as: [String].self) == value + ["more"])
            #expect(defaults.stringArray(forKey: key) == value + ["more"])
        }
        for date in [Date(), .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0)]
        {
            defaults.set(date, forKey: "date")
            #expect(defaults.object(forKey: "date") as? Date == date)
        }
        try await workspace.close()
    }

    private struct Icon: Codable, Equatable {
        var name = "heron"
        var image = Data([1, 2, 3])
        var parts = [Data([4]), Data()]
    }

    @Test func dataWithinACodableValueIsData() async throws {
        for coder in [ValueCoder.roost, .propertyList] {
            let workspace = try await Workspace.inMemory()
            let settings = workspace.dictionary("settings", coder: coder)
            let defaults = workspace.defaults("settings")
            try await settings.set(Icon(), forKey: "icon")
            try await settings.set([Data([1]), Data([2])], forKey: "list")
            var members = try #require(defaults.dictionary(forKey: "icon"))
            #expect(members["image"] as? Data == Data([1, 2, 3]))
            #expect(members["parts"] as? [Data] == [Data([4]), Data()])
            members["name"] = "egret"
            defaults.set(members, forKey: "icon")
            #expect(try settings.value(forKey: "icon", as: Icon.self) == Icon(name: "egret"))
            try await workspace.close()
        }
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
