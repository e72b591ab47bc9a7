import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct ExpiryTests {
    private let time = SettableTime()

    private func open(_ path: String? = nil) async throws -> Workspace {
        let configuration = Workspace.Configuration(shardCount: 2, clock: .settable(time))
        guard let path else { return try await .inMemory(configuration: configuration) }
        return try await .open(at: path, configuration: configuration)
    }

    /// Every call that could show the value of "key", the only one of the workspace.
    private func expectGone(_ workspace: Workspace, _ comment: Comment) async throws {
        let values = workspace.dictionary("values")
        #expect(try values["key", as: Profile.self] == nil, comment)
        #expect(try values.value(forKey: "key", as: Profile.self) == nil, comment)
        #expect(try await values.load("key", as: Profile.self) == nil, comment)
        #expect(try values[Key<Profile?>("key")] == nil, comment)
        #expect(try !values.contains("key"), comment)
        #expect(try values.count == 0, comment)
        #expect(try values.keys == [], comment)
        #expect(try workspace.dictionaryNames == [], comment)
        #expect(try values.storedValue(forKey: "key") == nil, comment)
        #expect(try values.remainingTime(forKey: "key") == nil, comment)
        #expect(try values.expiration(forKey: "key") == nil, comment)
        try workspace.forEachStoredValue(in: nil) { _, key, _ in
            Issue.record("\(key) was exported: \(comment)")
        }
    }

    private func expectThere(_ workspace: Workspace, _ comment: Comment) async throws {
        let values = workspace.dictionary("values")
        #expect(try values["key", as: Profile.self] == profile, comment)
        #expect(try await values.load("key", as: Profile.self) == profile, comment)
        #expect(try values.contains("key"), comment)
        #expect(try values.count == 1, comment)
        #expect(try values.keys == ["key"], comment)
        #expect(try workspace.dictionaryNames == ["values"], comment)
    }

    private let profile = Profile(
        name: "Ada", age: 36, tags: Array(repeating: "a tag that is long and compresses", count: 20)
    )

    enum Place: CaseIterable { case log, resident, snapshot, reopened, replayed }

    /// The one moment decides, wherever the value stands.
    @Test(arguments: Place.allCases)
    func aValueIsGoneFromItsInstantOn(place: Place) async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open("\(path)/first")
            try await workspace.dictionary("values").set(
                profile, forKey: "key", expiresIn: .seconds(60))
            switch place {
            case .log: break
            case .resident: try await expectThere(workspace, "resident")
            case .snapshot: try await workspace.compact()
            case .reopened:
                try await workspace.close()
                workspace = try await open("\(path)/first")
            case .replayed:
                try copyDirectory("\(path)/first", to: "\(path)/second")
                try await workspace.close()
                workspace = try await open("\(path)/second")
            }
            time.advance(by: .milliseconds(59_998))
            try await expectThere(workspace, "\(place), just before")
            time.advance(by: .milliseconds(2))
            try await expectGone(workspace, "\(place), at the instant")
            time.advance(by: .seconds(1_000_000))
            try await expectGone(workspace, "\(place), long after")
            #expect(try await workspace.verify().isSound)
            try await workspace.close()
        }
    }

    @Test(arguments: Place.allCases)
    func aClockThatIsSetBackRevivesNothing(place: Place) async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open("\(path)/first")
            let values = workspace.dictionary("values")
            try await values.set(profile, forKey: "key", expiresIn: .seconds(60))
            if place != .log { #expect(try values["key", as: Profile.self] == profile) }
            if place == .snapshot { try await workspace.compact() }
            if place == .replayed {
                try copyDirectory("\(path)/first", to: "\(path)/second")
                try await workspace.close()
                workspace = try await open("\(path)/second")
            }
            time.advance(by: .seconds(60))
            #expect(try !workspace.dictionary("values").contains("key"))
            time.advance(by: .seconds(-3600))
            try await expectGone(workspace, "\(place), the clock set back")

            // What is set now lives by the time that readers know.
            let later = workspace.dictionary("values")
            try await later.set(profile, forKey: "key", expiresIn: .seconds(10))
            try await expectThere(workspace, "set after the clock was set back")
            #expect(try later.remainingTime(forKey: "key") == .seconds(10))
            time.advance(by: .seconds(3600 + 11))
            try await expectGone(workspace, "\(place), the clock has caught up")
            try await workspace.close()
        }
    }

    @Test func everyKindOfValueExpires() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set(true, forKey: "bool", expiresIn: .seconds(1))
        try await values.set(7, forKey: "int", expiresIn: .seconds(1))
        try await values.set("text", forKey: "string", expiresIn: .seconds(1))
        try await values.set(Data([1, 2]), forKey: "data", expiresIn: .seconds(1))
        try await values.set(Point(x: 1, y: 2), forKey: "binary", expiresIn: .seconds(1))
        try await values.set(Profile(name: "a", age: 1), forKey: "codable", expiresIn: .seconds(1))
        try await values.set(.dark, for: .theme, expiresIn: .seconds(1))
        try await values.set(Point(x: 1, y: 2), for: .goal, expiresAt: time.now + 1)
        for isCold in [false, true] {
            if isCold { try await workspace.compact() }
            #expect(try values["bool", as: Bool.self] == true)
            #expect(try values["int", as: Int.self] == 7)
            #expect(try values["string", as: String.self] == "text")
            #expect(try values["data", as: Data.self] == Data([1, 2]))
            #expect(try values["binary", as: Point.self] == Point(x: 1, y: 2))
            #expect(try values["codable", as: Profile.self]?.name == "a")
            #expect(try values[.theme] == .dark)
            #expect(try values[.goal] == Point(x: 1, y: 2))
            #expect(try values.count == 8)
            #expect(throws: RoostError.self) { try values["int", as: String.self] }
        }
        time.advance(by: .seconds(1))
        #expect(try values.count == 0)
        #expect(try values["int", as: Int.self] == nil)
        #expect(try values[.theme] == .light)
        #expect(try values[.goal] == nil)
        try await workspace.close()
    }

    @Test func aPlainSetMakesAValueStay() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "a", expiresIn: .seconds(5))
        try await values.set(2, forKey: "a")
        try await values.set(1, forKey: "b", expiresIn: .seconds(5))
        // An equal value that expires is not the same.
        #expect(try await values.set(1, forKey: "b", onlyIfChanged: true))
        try await values.set(Point(x: 1, y: 1), forKey: "c", expiresIn: .seconds(5))
        #expect(try values["c", as: Point.self] != nil)
        #expect(try await values.set(Point(x: 1, y: 1), forKey: "c", onlyIfChanged: true))
        #expect(try values.remainingTime(forKey: "a") == nil)
        time.advance(by: .seconds(6))
        #expect(try values["a", as: Int.self] == 2)
        #expect(try values["b", as: Int.self] == 1)
        #expect(try values["c", as: Point.self] == Point(x: 1, y: 1))
        try await workspace.compact()
        #expect(try values.keys == ["a", "b", "c"])
        try await workspace.close()
    }

    @Test func theRemainingTimeCanBeReadAndANewDeadlineReplacesTheOld() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        #expect(try values.remainingTime(forKey: "a") == nil)
        try await values.set("x", forKey: "a", expiresIn: .seconds(5))
        time.advance(by: .seconds(2))
        #expect(try values.remainingTime(forKey: "a") == .seconds(3))
        #expect(try values.expiration(forKey: "a") == time.now + 3)
        try await workspace.compact()
        #expect(try values.remainingTime(forKey: "a") == .seconds(3))
        try await values.set("y", forKey: "a", expiresIn: .seconds(9))
        time.advance(by: .seconds(4))
        #expect(try values["a", as: String.self] == "y")
        #expect(try values.remainingTime(forKey: "a") == .seconds(5))
        try await values.set(1, for: .launches, expiresIn: .seconds(1))
        #expect(try values.remainingTime(for: .launches) == .seconds(1))
        #expect(try values.expiration(for: .launches) == time.now + 1)
        try await workspace.close()
    }

    @Test func aDurationThatIsNotPositiveIsOverAtOnceAndALongOneNeverTraps() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "was there")
        try await values.set(2, forKey: "was there", expiresIn: .zero)
        try await values.set(2, forKey: "b", expiresIn: .seconds(-5))
        try await values.set(2, forKey: "c", expiresAt: time.now)
        try await values.set(2, forKey: "d", expiresAt: .distantPast)
        #expect(try values.keys == [])
        #expect(try values["was there", as: Int.self] == nil)
        try await values.set(3, forKey: "long", expiresIn: .seconds(Int64.max))
        try await values.set(3, forKey: "far", expiresAt: .distantFuture)
        try await values.set(3, forKey: "odd", expiresAt: Date(timeIntervalSince1970: .infinity))
        time.advance(by: .seconds(1_000_000_000))
        #expect(try values.keys == ["far", "long", "odd"])
        #expect(try values.remainingTime(forKey: "long") != nil)
        try await workspace.close()
    }

    @Test func aBatchSetsValuesThatExpire() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await workspace.write(durability: .synced) { batch in
            batch.set(1, forKey: "stays", in: values)
            batch.set(2, forKey: "goes", in: values, expiresIn: .seconds(1))
            batch.set(profile, forKey: "goes too", in: values, expiresIn: .seconds(1))
            batch.set(.dark, for: .theme, in: values, expiresIn: .seconds(1))
        }
        #expect(try values.count == 4)
        time.advance(by: .seconds(1))
        #expect(try values.keys == ["stays"])
        try await workspace.close()
    }

    @Test func theBytesGoAtCompactionAndRevealNothingOlder() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            let values = workspace.dictionary("values")
            try await values.set("old", forKey: "a")
            try await workspace.compact()
            try await values.set("new", forKey: "a", expiresIn: .seconds(5))
            try await values.set("alone", forKey: "b", expiresIn: .seconds(5))
            try await workspace.compact()
            #expect(workspace.statistics.snapshotRecordCount == 2)
            time.advance(by: .seconds(5))
            #expect(try values.keys == [])
            // Nothing was written since: what expired alone makes it worth the work.
            try await workspace.compact()
            #expect(workspace.statistics.snapshotRecordCount == 0)
            #expect(workspace.statistics.snapshotCount == 0)
            #expect(try values["a", as: String.self] == nil)
            try await workspace.close()

            time.advance(by: .seconds(-1000))
            let reopened = try await open(path)
            #expect(try reopened.dictionary("values").keys == [])
            try await reopened.close()
        }
    }

    @Test func theSystemsClockIsTheDefault() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "soon", expiresIn: .milliseconds(150))
        try await values.set(1, forKey: "late", expiresIn: .seconds(3600))
        let left = try #require(try values.remainingTime(forKey: "late"))
        #expect(left > .seconds(3500) && left <= .seconds(3600))
        for _ in 0..<200 where try values.contains("soon") {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try values.keys == ["late"])
        try await workspace.close()
    }
}
