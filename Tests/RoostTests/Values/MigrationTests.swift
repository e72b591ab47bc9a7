import Foundation
import Roost
import RoostFormat
import RoostTestSupport
import Testing

private struct UserV1: Codable, Equatable, Sendable { var name: String }
private struct UserV2: Codable, Equatable, Sendable {
    var first: String
    var last: String
}
private struct User: Codable, Equatable, Sendable {
    var first: String
    var last: String
    var age: Int?
}

private struct NoName: Error {}

private func secondVersion(_ old: UserV1) throws -> UserV2 {
    let parts = old.name.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw NoName() }
    return UserV2(first: parts[0], last: parts[1])
}

extension WorkspaceDictionary {
    @discardableResult
    fileprivate func migratingUsers() -> WorkspaceDictionary {
        migrating(from: UserV1.self, to: UserV2.self, version: 2) { try secondVersion($0) }
            .migrating(from: UserV2.self, to: User.self, version: 3) {
                User(first: $0.first, last: $0.last, age: nil)
            }
    }
}

extension Key where Value == User? {
    fileprivate static func user(_ id: String) -> Self { .init(id) }
}

@Suite struct MigrationTests {
    private let ada = User(first: "Ada", last: "Lovelace")

    /// The header of what is stored.
    private func header(_ key: String, _ values: WorkspaceDictionary) throws -> ValueHeader? {
        let stored = try values.storedValue(forKey: key)
        return stored.flatMap { ([$0.kind] + $0.payload).withUnsafeBytes { ValueHeader($0) } }
    }

    /// Writes users of version 1, and of version 2, as the programs before did.
    private func writeOlder(_ path: String, coder: ValueCoder = .roost) async throws {
        let first = try await Workspace.open(at: path, configuration: .init(coder: coder))
        try await first.dictionary("users").set(UserV1(name: "Ada Lovelace"), forKey: "1")
        try await first.dictionary("users").set(UserV1(name: "Plato"), forKey: "bad")
        try await first.dictionary("users").set(
            UserV1(name: "Kurt Tucholsky"), forKey: "brief", expiresIn: .seconds(3600))
        try await first.close()
        let second = try await Workspace.open(at: path, configuration: .init(coder: coder))
        let users = second.dictionary("users")
            .migrating(from: UserV1.self, to: UserV2.self, version: 2) { try secondVersion($0) }
        try await users.set(UserV2(first: "Grace", last: "Hopper"), forKey: "2")
        try await second.close()
    }

    @Test(arguments: [ValueCoder.roost, .json])
    func olderValuesAreReadAsTheNewestThroughEveryCall(coder: ValueCoder) async throws {
        try await withTemporaryDirectory { path in
            try await writeOlder(path, coder: coder)
            let workspace = try await Workspace.open(at: path)
            workspace.dictionary("users").migratingUsers()
            // Another handle of the dictionary knows too.
            let users = workspace.dictionary("users")
            for isCompacted in [false, true] {
                if isCompacted { try await workspace.compact() }
                let grace = User(first: "Grace", last: "Hopper")
                #expect(try users["1", as: User.self] == ada)
                #expect(try await users.load("2", as: User.self) == grace)
                #expect(try users[.user("1")] == ada)
                #expect(try users.entry(forKey: "2", as: User.self).value == grace)
                try workspace.read { (view) throws in
                    #expect(try view.value(forKey: "1", as: User.self, in: users) == ada)
                }
                try await workspace.transaction { (tx) throws in
                    #expect(try tx.value(forKey: "2", as: User.self, in: users) == grace)
                }
                var updates = users.updates(of: "1", as: User.self).makeAsyncIterator()
                #expect(await updates.next() == ada)
                var found: [User] = []
                for try await (_, user) in users.entries(in: "1"..."2", as: User.self) {
                    found.append(user)
                }
                #expect(found == [ada, grace])
            }
            try await workspace.close()
        }
    }

    @Test func compactionStoresTheNewestVersionOnceAndKeepsCoderAndDeadline() async throws {
        try await withTemporaryDirectory { path in
            try await writeOlder(path, coder: .json)
            for opening in 0..<2 {
                let workspace = try await Workspace.open(at: path)
                let users = workspace.dictionary("users").migratingUsers()
                if opening == 0 {
                    #expect(try header("1", users)?.version == 1)
                    #expect(try header("2", users)?.version == 2)
                    #expect(try users["1", as: User.self] == ada)
                    #expect(try header("1", users)?.version == 1, "reading changes nothing")
                }
                try await workspace.compact()
                for key in ["1", "2", "brief"] {
                    let header = try #require(try header(key, users))
                    #expect(header.version == 3, "\(key)")
                    #expect(header.kind == ValueKind.json.rawValue, "\(key)")
                }
                #expect(try users["brief", as: User.self]?.last == "Tucholsky")
                #expect(try users.remainingTime(forKey: "brief") != nil)
                // Nothing is left to do.
                let written = workspace.statistics.snapshotBytesWritten
                try await workspace.compact()
                #expect(workspace.statistics.snapshotBytesWritten == written)
                #expect(try await workspace.verify().isSound)
                try await workspace.close()
            }
        }
    }

    @Test func aSnapshotThatIsThereAlreadyIsConvertedByTheNextCompaction() async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users")
        try await users.set(UserV1(name: "Ada Lovelace"), forKey: "1")
        try await workspace.dictionary("other").set(UserV1(name: "Not a user"), forKey: "1")
        try await workspace.compact()
        #expect(try users["1", as: UserV1.self]?.name == "Ada Lovelace")
        users.migratingUsers()
        #expect(try users["1", as: User.self] == ada)
        try await workspace.compact()
        #expect(try header("1", users)?.version == 3)
        #expect(try users["1", as: User.self] == ada)
        let other = workspace.dictionary("other")
        #expect(try header("1", other)?.version == 1)
        #expect(try other["1", as: UserV1.self]?.name == "Not a user")
        try await workspace.close()
    }

    @Test func aNewValueIsWrittenWithItsVersion() async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users").migratingUsers()
        try await users.set(ada, forKey: "set")
        try await users.set(ada, for: .user("key"), expiresIn: .seconds(60))
        try await users.set(UserV2(first: "A", last: "B"), forKey: "older")
        try await workspace.write { $0.set(ada, forKey: "batch", in: users) }
        try await workspace.transaction { try $0.set(ada, forKey: "tx", in: users) }
        try await users.setAll(["all": ada])
        users.enqueue(ada, forKey: "enqueued")
        try await workspace.synchronize()
        for key in ["set", "key", "batch", "tx", "all", "enqueued"] {
            #expect(try header(key, users)?.version == 3, "\(key)")
            #expect(try users[key, as: User.self] == ada, "\(key)")
        }
        #expect(try header("older", users)?.version == 2)
        #expect(try users["older", as: User.self]?.first == "A")
        #expect(try users.remainingTime(forKey: "key") != nil)
        #expect(try await !users.set(ada, forKey: "set", onlyIfChanged: true))
        try await users.update("older", as: User.self) { $0?.age = 5 }
        #expect(try header("older", users)?.version == 3)
        try await workspace.close()
    }

    @Test func aVersionAboveTheNewestKnownIsAnErrorThatKeepsTheBytes() async throws {
        try await withTemporaryDirectory { path in
            let newer = try await Workspace.open(at: path)
            try await newer.dictionary("users").migratingUsers().set(ada, forKey: "1")
            try await newer.close()
            for knowsTwo in [false, true] {
                let older = try await Workspace.open(at: path)
                let users = older.dictionary("users")
                if knowsTwo {
                    users.migrating(from: UserV1.self, to: UserV2.self, version: 2) {
                        try secondVersion($0)
                    }
                }
                let stored = try users.storedValue(forKey: "1")
                let error = #expect(throws: RoostError.self) { try users["1", as: UserV2.self] }
                #expect(error?.code == .unsupportedVersion)
                #expect(error?.message.contains("\"1\"") == true)
                let update = await #expect(throws: RoostError.self) {
                    try await users.set(
                        UserV2(first: "A", last: "B"), forKey: "1", onlyIfChanged: true)
                }
                #expect(update?.code == .unsupportedVersion)
                try await older.compact()
                #expect(try users.storedValue(forKey: "1") == stored)
                try await older.close()
            }
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("users").migratingUsers()["1", as: User.self] == ada)
            try await again.close()
        }
    }

    @Test func aConversionThatThrowsIsAnErrorThatKeepsTheBytes() async throws {
        try await withTemporaryDirectory { path in
            try await writeOlder(path)
            let workspace = try await Workspace.open(at: path)
            let users = workspace.dictionary("users").migratingUsers()
            let stored = try users.storedValue(forKey: "bad")
            for isCompacted in [false, true] {
                if isCompacted { try await workspace.compact() }
                let error = #expect(throws: RoostError.self) { try users["bad", as: User.self] }
                #expect(error?.code == .decodingFailed)
                #expect(error?.cause is NoName)
                #expect(try users.storedValue(forKey: "bad") == stored)
            }
            #expect(try users["bad", as: UserV1.self]?.name == "Plato")
            try await workspace.close()
        }
    }

    @Test func binaryAndFixedValuesMigrateAndAStepMayBeLeftOut() async throws {
        let workspace = try await Workspace.inMemory()
        let points = workspace.dictionary("points")
        try await points.set(7, forKey: "fixed")
        try await points.set("text", forKey: "text")
        points.migrating(from: Int.self, to: Point.self, version: 2) { Point(x: $0, y: 0) }
        #expect(try points["fixed", as: Point.self] == Point(x: 7, y: 0))
        try await points.set(Point(x: 1, y: 1), forKey: "binary")
        try await workspace.compact()
        #expect(try header("fixed", points)?.version == 2)
        #expect(try points["fixed", as: Point.self] == Point(x: 7, y: 0))
        // What is of another kind than the old type is left alone.
        #expect(try points["text", as: String.self] == "text")

        let scales = workspace.dictionary("scales")
        try await scales.set(3, forKey: "meters")
        scales.migrating(from: Int.self, to: Int.self, version: 2) { $0 * 100 }
        #expect(try scales["meters", as: Int.self] == 300)
        try await workspace.compact()
        #expect(try scales["meters", as: Int.self] == 300)
        #expect(try scales["meters", default: 0] == 300)

        let later = workspace.dictionary("later")
        try await later.set(UserV1(name: "Ada Lovelace"), forKey: "1")
        later.migrating(from: UserV2.self, to: User.self, version: 3) {
            User(first: $0.first, last: $0.last)
        }
        let error = #expect(throws: RoostError.self) { try later["1", as: User.self] }
        #expect(error?.code == .unsupportedVersion)
        try await workspace.close()
    }

    /// In a snapshot it would take those with it that stand beside it.
    @Test func whatWouldBecomeTooLongIsStoredAsItWas() async throws {
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("a").set("beside it", forKey: "k")
        let values = workspace.dictionary("b")
        try await values.set(1, forKey: "k")
        values.migrating(from: Int.self, to: [UInt8].self, version: 2) { _ in
            [UInt8](repeating: 0, count: Limits.valueSizeBytes + Limits.valueOverheadBytes)
        }
        try await workspace.compact()
        #expect(try workspace.dictionary("a")["k", as: String.self] == "beside it")
        #expect(try values["k", as: Int.self] == 1)
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }
}
