import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ImportingTests {
    /// What an app's preferences hold.
    static var preferences: [String: Any] {
        [
            "launches": 12, "big": Int.max, "ratio": 2.0, "volume": 0.25, "isDark": true,
            "isOff": false,
            "name": "Ada ü", "token": Data([0, 1, 255]),
            "seen": Date(timeIntervalSince1970: 1_700_000_000.5),
            "tags": ["a", "b"],
            "nested": ["n": 1, "when": Date(timeIntervalSince1970: 5), "list": [1, 2]],
            "": "empty key",
        ]
    }

    private struct Nested: Codable, Equatable {
        var n: Int
        var when: Date
        var list: [Int]
    }

    private func checkAll(_ settings: WorkspaceDictionary) throws {
        #expect(try settings["launches", as: Int.self] == 12)
        #expect(try settings["big", as: Int.self] == .max)
        #expect(try settings["ratio", as: Double.self] == 2)
        #expect(try settings["volume", as: Double.self] == 0.25)
        #expect(try settings["isDark", as: Bool.self] == true)
        #expect(try settings["isOff", as: Bool.self] == false)
        #expect(try settings["name", as: String.self] == "Ada ü")
        #expect(try settings["token", as: Data.self] == Data([0, 1, 255]))
        #expect(try settings["seen", as: Date.self] == Date(timeIntervalSince1970: 1_700_000_000.5))
        #expect(try settings["tags", as: [String].self] == ["a", "b"])
        #expect(
            try settings["nested", as: Nested.self]
                == Nested(n: 1, when: Date(timeIntervalSince1970: 5), list: [1, 2]))
        #expect(try settings["", as: String.self] == "empty key")
        #expect(try settings.count == Self.preferences.count)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func aPropertyListComesWithItsTypes(format: PropertyListSerialization.PropertyListFormat)
        async throws
    {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            var preferences = Self.preferences
            // XML has whole seconds.
            if format == .xml { preferences["seen"] = Date(timeIntervalSince1970: 1_700_000_000) }
            try PropertyListSerialization.data(
                fromPropertyList: preferences, format: format, options: 0
            ).write(to: file)
            let workspace = try await Workspace.open(at: "\(path)/w")
            #expect(try await workspace.importing(propertyListAt: file) == preferences.count)
            let settings = workspace.dictionary("settings")
            if format == .xml {
                #expect(
                    try settings["seen", as: Date.self]
                        == Date(timeIntervalSince1970: 1_700_000_000))
                try await settings.set(Date(timeIntervalSince1970: 1_700_000_000.5), forKey: "seen")
            }
            try checkAll(settings)
            try await workspace.close()
            let reopened = try await Workspace.open(at: "\(path)/w")
            try checkAll(reopened.dictionary("settings"))
            #expect(try await reopened.importing(propertyListAt: file) == nil)
            try await reopened.close()
        }
    }

    @Test func defaultsAreTakenOnceAndNewerValuesStay() async throws {
        let suite = "roost-test-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        defaults.setPersistentDomain(["launches": 3, "name": "old"], forName: suite)
        defaults.register(defaults: ["volume": 0.5])
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set("new", forKey: "name")
        #expect(try await workspace.importing(userDefaults: defaults, domain: suite) == 1)
        #expect(try settings["launches", as: Int.self] == 3)
        #expect(try settings["name", as: String.self] == "new")
        #expect(try !settings.contains("volume"), "what is registered is no value")
        // At each later start nothing comes back that was changed or removed since.
        try await settings.removeValue(forKey: "launches")
        #expect(try await workspace.importing(userDefaults: defaults, domain: suite) == nil)
        #expect(try !settings.contains("launches"))
        try await workspace.close()
    }

    /// A domain that was read before by its name does not show by itself what was set since.
    @Test func whatWasSetJustBeforeIsTaken() async throws {
        let own = "roost-test-\(UUID().uuidString)"
        let workspace = try await Workspace.inMemory()
        _ = try await workspace.importing(userDefaults: .standard, into: "early")
        UserDefaults.standard.set(1, forKey: own)
        defer { UserDefaults.standard.removeObject(forKey: own) }
        _ = try await workspace.importing(userDefaults: .standard, into: "own")
        #expect(try workspace.dictionary("own")[own, as: Int.self] == 1)
        try await workspace.close()
    }

    /// The same values in two suites, and beside them the app's own.
    @Test func eachSuiteIsTakenByItself() async throws {
        let names = (0..<2).map { "roost-test-\($0)-\(UUID().uuidString)" }
        let suites = try names.map { try #require(UserDefaults(suiteName: $0)) }
        let own = "roost-test-\(UUID().uuidString)"
        UserDefaults.standard.set(1, forKey: own)
        defer {
            UserDefaults.standard.removeObject(forKey: own)
            for name in names { UserDefaults.standard.removePersistentDomain(forName: name) }
        }
        for (index, suite) in suites.enumerated() {
            suite.set(index, forKey: "number")
            suite.register(defaults: ["registered": true])
        }
        let workspace = try await Workspace.inMemory()
        // What suite it is it does not tell, and the app's own values are others.
        await #expect(throws: RoostError.self) {
            try await workspace.importing(userDefaults: suites[0])
        }
        #expect(try await workspace.importing(userDefaultsSuite: names[0], into: "first") == 1)
        #expect(try await workspace.importing(userDefaultsSuite: names[1], into: "second") == 1)
        #expect(try await workspace.importing(userDefaultsSuite: names[1], into: "second") == nil)
        #expect(try workspace.dictionary("first")["number", as: Int.self] == 0)
        #expect(try workspace.dictionary("second")["number", as: Int.self] == 1)
        #expect(try workspace.dictionary("first").keys == ["number"])
        #expect(try workspace.dictionary("second").keys == ["number"])
        // One suite into two dictionaries is two imports.
        #expect(try await workspace.importing(userDefaultsSuite: names[0], into: "second") == 0)
        #expect(try await workspace.importing(userDefaults: .standard, into: "own") != nil)
        #expect(try workspace.dictionary("own")[own, as: Int.self] == 1)
        #expect(try !workspace.dictionary("own").contains("registered"))
        #expect(try await workspace.importing(userDefaults: .standard, into: "own") == nil)
        try await workspace.close()
    }

    /// Before a device is unlocked its defaults look empty.
    @Test func aDomainWithoutValuesBringsNothingAndIsLookedAtAgain() async throws {
        let suite = "roost-test-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        defaults.register(defaults: ["volume": 0.5])
        let workspace = try await Workspace.inMemory()
        #expect(try await workspace.importing(userDefaultsSuite: suite) == 0)
        #expect(try workspace.dictionaryNames.isEmpty)
        defaults.set(1, forKey: "launches")
        #expect(try await workspace.importing(userDefaultsSuite: suite) == 1)
        #expect(try await workspace.importing(userDefaultsSuite: suite) == nil)
        try await workspace.close()
    }

    @Test func filesOfOneNameAreTwoSources() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.inMemory()
            for (index, folder) in ["a", "b"].enumerated() {
                try FileManager.default.createDirectory(
                    atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
                let file = URL(fileURLWithPath: "\(path)/\(folder)/app.plist")
                try PropertyListSerialization.data(
                    fromPropertyList: ["\(folder)": index], format: .binary, options: 0
                ).write(to: file)
                #expect(try await workspace.importing(propertyListAt: file) == 1)
                #expect(try await workspace.importing(propertyListAt: file) == nil)
            }
            #expect(try workspace.dictionary("settings").keys == ["a", "b"])
            try await workspace.close()
        }
    }

    @Test func realsWithinKeepTheirTypes() async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            let list: [String: Any] = [
                "levels": [2.0, 0.5], "deep": ["ratio": 3.0, "count": 3] as [String: Any],
            ]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: file)
            let workspace = try await Workspace.inMemory()
            try await workspace.importing(propertyListAt: file)
            let defaults = workspace.defaults("settings")
            let levels = try #require(defaults.array(forKey: "levels"))
            #expect(levels.map { "\(type(of: $0))" } == ["Double", "Double"])
            let deep = try #require(defaults.dictionary(forKey: "deep"))
            #expect(deep.mapValues { "\(type(of: $0))" } == ["ratio": "Double", "count": "Int"])
            #expect(
                try workspace.dictionary("settings")["levels", as: [Double].self] == [2.0, 0.5])
            try await workspace.close()
        }
    }

    @Test func ofImportsAtOnceOneTakesAll() async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            try PropertyListSerialization.data(
                fromPropertyList: Self.preferences, format: .binary, options: 0
            ).write(to: file)
            let workspace = try await Workspace.inMemory()
            let counts = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await workspace.importing(propertyListAt: file) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.compactMap { $0 } == [Self.preferences.count])
            try checkAll(workspace.dictionary("settings"))
            try await workspace.close()
        }
    }

    /// The log, cut where any byte of it ends, holds all of an import or nothing, and the next one
    /// makes it whole.
    @Test func anImportThatACrashCutsIsMadeByTheNextStart() async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            try PropertyListSerialization.data(
                fromPropertyList: Self.preferences, format: .binary, options: 0
            ).write(to: file)
            let workspace = try await Workspace.open(at: "\(path)/w")
            #expect(try await workspace.importing(propertyListAt: file) != nil)
            try FileManager.default.copyItem(atPath: "\(path)/w", toPath: "\(path)/whole")
            try await workspace.close()
            var (withoutCount, withCount) = (0, 0)
            for size in stride(from: 64, to: 1400, by: 37) {
                let copy = "\(path)/\(size)"
                try FileManager.default.copyItem(atPath: "\(path)/whole", toPath: copy)
                let log = "\(copy)/log-000000000001"
                let handle = try #require(FileHandle(forUpdatingAtPath: log))
                let end = try handle.seekToEnd()
                try handle.seek(toOffset: UInt64(size))
                try handle.write(contentsOf: Data(count: Int(end) - size))
                try handle.close()
                let killed = try await Workspace.open(at: copy)
                let count = try killed.dictionary("settings").count
                #expect(count == 0 || count == Self.preferences.count, "cut at \(size)")
                let taken = try await killed.importing(propertyListAt: file)
                if count == 0 {
                    withoutCount += 1
                    #expect(taken == Self.preferences.count)
                } else {
                    withCount += 1
                    #expect(taken == nil)
                }
                try checkAll(killed.dictionary("settings"))
                try await killed.close()
            }
            #expect(withoutCount > 5 && withCount > 0)
        }
    }

    @Test(
        arguments: [
            "", "no list", "bplist00garbage", "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><key>a</key><integer>x</integer></dict></plist>",
            "<plist><array/></plist>",
            "<plist>" + String(repeating: "<array>", count: 100_000),
        ] + Self.hostile)
    func brokenListsSayWhatIsWrongAndLeaveNothing(text: String) async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            try Data(text.utf8).write(to: file)
            let workspace = try await Workspace.inMemory()
            do {
                _ = try await workspace.importing(propertyListAt: file)
                Issue.record("\(text.prefix(60)) was taken")
            } catch let error as RoostError {
                #expect(error.code == .decodingFailed && error.file == file.path, "\(error)")
            }
            #expect(try workspace.dictionaryNames.isEmpty)
            try await workspace.close()
        }
    }

    /// What would reach a parser that goes down with what it reads, or take the square of its size.
    private static let hostile: [String] = {
        let deep = String(repeating: "<array>", count: 100_000)
        let ends = String(repeating: "</array>", count: 100_000)
        return [
            "<plist><!-- \(ends) -->" + deep, "<plist><string><![CDATA[\(ends)]]></string>" + deep,
            "<plist><?x \(ends)?>" + deep, "<plist>\(ends)" + deep,
            "<plist><array a=\">\(ends)\">" + deep,
            "<?xml version=\"1.0\" encoding=\"UTF-7\"?><plist>"
                + String(repeating: "+ADw-array+AD4-", count: 100_000),
            String(repeating: "<", count: 1_000_000) + ">", "<plist><!-- " + deep,
            "<!DOCTYPE plist [" + String(repeating: "<!", count: 1_000_000),
        ]
    }()

    @Test func anXMLListThatIsNestedTooDeepSaysTheLine() async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            let workspace = try await Workspace.inMemory()
            for (text, part) in [
                (
                    "<plist>\n<!-- </array></array> -->\n"
                        + String(repeating: "<array>", count: 600),
                    "nested deeper than 512 levels, on line 3"
                ),
                ("<plist>\n\n</dict></array>", "has not begun, on line 3"),
                ("<plist>\n<dict", "a tag has no end, on line 2"),
            ] {
                try Data(text.utf8).write(to: file)
                do {
                    _ = try await workspace.importing(propertyListAt: file)
                    Issue.record("\(part) was taken")
                } catch let error as RoostError {
                    #expect(error.message.contains(part), "\(error)")
                }
            }
            try await workspace.close()
        }
    }

    /// What all writers of property lists write is read.
    @Test func commentsAndDeclarationsAreRead() async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            let text = """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <!-- a note: <array> -->
                <plist version="1.0"><dict><key>a</key><true/><key>b</key>
                <string><![CDATA[<array>]]></string></dict></plist>
                """
            try Data(text.utf8).write(to: file)
            let workspace = try await Workspace.inMemory()
            #expect(try await workspace.importing(propertyListAt: file) == 2)
            let settings = workspace.dictionary("settings")
            #expect(try settings["b", as: String.self] == "<array>")
            try await workspace.close()
        }
    }

    @Test func everyCutOfABinaryListIsRefused() async throws {
        try await withTemporaryDirectory { path in
            let data = try PropertyListSerialization.data(
                fromPropertyList: Self.preferences, format: .binary, options: 0)
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            let workspace = try await Workspace.inMemory()
            for size in stride(from: 0, to: data.count, by: 7) {
                try data.prefix(size).write(to: file)
                await #expect(throws: RoostError.self, "\(size) bytes") {
                    try await workspace.importing(propertyListAt: file)
                }
            }
            for index in stride(from: 8, to: data.count - 40, by: 3) {
                var damaged = data
                damaged[index] = 0xdf
                try damaged.write(to: file)
                do {
                    _ = try await workspace.importing(
                        propertyListAt: file, mark: "damaged at \(index)")
                } catch let error as RoostError {
                    #expect(error.message.contains("no property list"), "\(error)")
                    if error.message.contains("whole binary") {
                        #expect(error.message.contains("see offset"), "\(error)")
                    }
                }
            }
            try await workspace.close()
        }
    }

    @Test func keysThatSwiftHoldsToBeEqualAreNamed() async throws {
        try await withTemporaryDirectory { path in
            let file = URL(fileURLWithPath: "\(path)/app.plist")
            let workspace = try await Workspace.inMemory()
            let (first, second) = (
                "<key>\u{e9}</key><integer>1</integer>", "<key>e\u{301}</key><integer>2</integer>"
            )
            try Data("<plist><dict>\n\(first)\n\(second)</dict></plist>".utf8).write(to: file)
            let error = await #expect(throws: RoostError.self) {
                try await workspace.importing(propertyListAt: file)
            }
            #expect(error?.message.contains("(U+E9)") == true)
            #expect(error?.message.contains("(U+65 U+301)") == true)
            #expect(error?.message.contains("on line 3") == true)
            for (one, other) in [("K", "\u{212a}"), ("\u{37e}", ";"), ("a", "a")] {
                let keys = [one, other].map { "<key>\($0)</key><integer>1</integer>" }.joined()
                try Data("<plist><dict>\(keys)</dict></plist>".utf8).write(to: file)
                await #expect(throws: RoostError.self, "\(one)") {
                    try await workspace.importing(propertyListAt: file)
                }
            }
            // Of two dictionaries they are two keys.
            let inner = "<key>a</key><dict>\(first)</dict><key>b</key><dict>\(second)</dict>"
            try Data("<plist><dict>\(inner)</dict></plist>".utf8).write(to: file)
            #expect(try await workspace.importing(propertyListAt: file) == 2)
            try await workspace.close()
        }
    }
}
