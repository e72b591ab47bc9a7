import Foundation
import RoostEngine
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Objects that are saved with a deadline go at it, with their index entries.
@Suite(.timeLimit(.minutes(5))) struct ExpiringObjectsTests {
    private struct Session: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var user: String
        var token: String
        var scopes: [Int] = []

        static var indexes: [Index<Session>] {
            [
                Index("user", \.user), Index("token", \.token, isUnique: true),
                Index("scopes", each: \.scopes),
            ]
        }
    }

    private struct Plain: Codable, Identifiable, Sendable, Equatable {
        var id: Int
    }

    private let time = SettableTime()

    private func open(_ path: String) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(shardCount: 4, clock: .settable(time)))
    }

    private func expectSound(_ sessions: Repository<Session>) throws {
        for state in try sessions.indexStates() { #expect(state.faults == [], "\(state.name)") }
    }

    @Test(arguments: [false, true])
    func anObjectGoesWithItsEntries(isCompacted: Bool) async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open(path)
            var sessions = workspace.repository(of: Session.self)
            try await sessions.save(Session(id: 1, user: "ada", token: "a", scopes: [1, 2]))
            try await sessions.save(
                Session(id: 2, user: "ada", token: "b", scopes: [2]), expiresIn: .seconds(60))
            try await sessions.insert(
                Session(id: 3, user: "bo", token: "c"), expiresIn: .seconds(120))
            #expect(try sessions.expiration(of: 1) == nil)
            let expiration = try #require(try sessions.expiration(of: 2))
            #expect(abs(expiration.timeIntervalSince(time.now) - 60) < 0.01)
            if isCompacted { try await workspace.compact() }
            try await workspace.close()
            workspace = try await open(path)
            sessions = workspace.repository(of: Session.self)
            try await sessions.indexesBuilt()
            #expect(try sessions.where { $0.user == "ada" }.fetch().map(\.id) == [1, 2])
            #expect(try sessions.where { $0.scopes.contains(2) }.count() == 2)
            let error = await #expect(throws: RoostError.self) {
                try await sessions.insert(Session(id: 4, user: "cy", token: "b"))
            }
            #expect(error?.code == .notUnique)
            try expectSound(sessions)
            time.advance(by: .seconds(60))
            #expect(try await sessions.find(by: 2) == nil)
            #expect(try sessions.where { $0.user == "ada" }.fetch().map(\.id) == [1])
            #expect(try sessions.where { $0.user == "ada" }.count() == 1)
            #expect(try sessions.where { $0.scopes.contains(2) }.fetch().map(\.id) == [1])
            // Its value is free.
            try await sessions.insert(Session(id: 4, user: "cy", token: "b"))
            try await sessions.insert(Session(id: 2, user: "cy", token: "d"))
            #expect(try sessions.where { $0.user == "cy" }.fetch().map(\.id) == [2, 4])
            try expectSound(sessions)
            time.advance(by: .seconds(60))
            #expect(try await sessions.find(by: 3) == nil)
            #expect(try sessions.all.fetch().map(\.id) == [1, 2, 4])
            try expectSound(sessions)
            try await workspace.close()
        }
    }

    @Test func aSaveThatSaysNothingOfExpiryMakesItStay() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let sessions = workspace.repository(of: Session.self)
        let session = Session(id: 1, user: "ada", token: "a", scopes: [7])
        try await sessions.save(session, expiresIn: .seconds(10))
        try await sessions.save(session)
        // Longer, and longer again, as with each use.
        let other = Session(id: 2, user: "ada", token: "b", scopes: [7])
        try await sessions.save(other, expiresIn: .seconds(10))
        time.advance(by: .seconds(9))
        try await sessions.save(other, expiresIn: .seconds(10))
        time.advance(by: .seconds(9))
        #expect(try sessions.where { $0.scopes.contains(7) }.fetch() == [session, other])
        try expectSound(sessions)
        try await sessions.update(2) { $0.user = "bo" }
        time.advance(by: .seconds(100))
        #expect(try sessions.where { $0.user == "bo" }.fetch().map(\.id) == [2])
        #expect(try sessions.where { $0.token == "a" }.fetch() == [session])
        try expectSound(sessions)
        try await workspace.close()
    }

    @Test(arguments: [false, true])
    func anUpdateMayKeepTheDeadline(isReopened: Bool) async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open(path)
            var sessions = workspace.repository(of: Session.self)
            for id in 1...4 {
                try await sessions.save(
                    Session(id: id, user: "ada", token: "\(id)", scopes: [id]),
                    expiresIn: .seconds(60))
            }
            try await sessions.save(Session(id: 5, user: "ada", token: "5"))
            time.advance(by: .seconds(30))
            try await sessions.update(1, keepsExpiry: true) { $0.scopes = [9] }
            try await sessions.update(2) { $0.scopes = [9] }
            // Values to be unique are passed on, with the deadlines of whom they are of then.
            let three = sessions.where { $0.id.isIn([3, 5]) }
            let count = try await three.updateAll(keepsExpiry: true) { session in
                session.token = session.id == 3 ? "5" : "3"
            }
            #expect(count == 2)
            try await workspace.transaction { transaction in
                try transaction.update(4, in: sessions, keepsExpiry: true) { $0.user = "bo" }
                try transaction.updateAll(sessions.where { $0.id == 4 }, keepsExpiry: true) {
                    $0.token = "four"
                }
            }
            try await sessions.update(5, keepsExpiry: true) { $0.scopes = [9] }
            if isReopened {
                try await workspace.close()
                workspace = try await open(path)
                sessions = workspace.repository(of: Session.self)
                try await sessions.indexesBuilt()
            }
            let expiration = try #require(try sessions.expiration(of: 1))
            #expect(abs(expiration.timeIntervalSince(time.now) - 30) < 0.01)
            #expect(try sessions.expiration(of: 3) == expiration)
            #expect(try sessions.expiration(of: 4) == expiration)
            #expect(try sessions.where { $0.scopes.contains(9) }.fetch().map(\.id) == [1, 2, 5])
            #expect(try sessions.where { $0.token == "3" }.fetch().map(\.id) == [5])
            time.advance(by: .seconds(30))
            #expect(try sessions.all.fetch().map(\.id) == [2, 5])
            #expect(try sessions.where { $0.scopes.contains(9) }.fetch().map(\.id) == [2, 5])
            // Of those that went, the values are free; and of those that stay they are not.
            try await sessions.insert(Session(id: 6, user: "cy", token: "5"))
            let error = await #expect(throws: RoostError.self) {
                try await sessions.insert(Session(id: 7, user: "cy", token: "3"))
            }
            #expect(error?.code == .notUnique)
            try expectSound(sessions)
            try await workspace.close()
        }
    }

    @Test func aTransactionSavesAndInsertsThem() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let sessions = workspace.repository(of: Session.self)
        try await workspace.transaction { transaction in
            try transaction.insert(
                Session(id: 1, user: "ada", token: "a"), in: sessions, expiresIn: .seconds(5))
            try transaction.save(
                Session(id: 2, user: "ada", token: "b"), in: sessions, expiresIn: .seconds(10))
            // Of an object that expires, in the same transaction.
            try transaction.update(2, in: sessions) { $0.token = "c" }
            try transaction.save(
                Session(id: 3, user: "ada", token: "d"), in: sessions, expiresIn: .seconds(5))
            let ids = try transaction.fetch(sessions.where { $0.user == "ada" }).map(\.id)
            #expect(ids == [1, 2, 3])
            do {
                try transaction.insert(
                    Session(id: 1, user: "bo", token: "e"), in: sessions, expiresIn: .seconds(5))
                Issue.record("the identifier is taken")
            } catch let error as RoostError { #expect(error.code == .alreadyExists) }
        }
        time.advance(by: .seconds(5))
        #expect(try sessions.where { $0.user == "ada" }.fetch().map(\.token) == ["c"])
        time.advance(by: .seconds(100))
        #expect(try sessions.where { $0.user == "ada" }.fetch().map(\.token) == ["c"])
        try expectSound(sessions)
        try await workspace.close()
    }

    /// Of one identifier's several objects in a call the last one's values are taken, and no earlier one's.
    @Test func whatExpiresAndIsSavedTwiceInOneCallLeavesItsValue() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let sessions = workspace.repository(of: Session.self)
        let first = Session(id: 1, user: "ada", token: "a")
        let second = Session(id: 1, user: "ada", token: "b")
        try await sessions.save(first, expiresIn: .seconds(60))
        try await sessions.saveAll([first, second])
        #expect(try sessions.where { $0.token == "a" }.count() == 0)
        try expectSound(sessions)
        try await sessions.save(first, expiresIn: .seconds(60))
        // Another object of the call takes it.
        try await sessions.saveAll([first, second, Session(id: 2, user: "bo", token: "a")])
        #expect(try sessions.where { $0.token == "a" }.fetch().map(\.id) == [2])
        try expectSound(sessions)
        try await workspace.close()
    }

    /// They are read some at a time: the last ones before their turn.
    @Test(arguments: [3, 600])
    func whatExpiresBeforeItsTurnIsNotGiven(count: Int) async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let sessions = workspace.repository(of: Session.self)
        try await sessions.saveAll(
            (1...count).map { Session(id: $0, user: "ada", token: "\($0)") })
        // The last in the order of the texts.
        let last = count == 3 ? 3 : 99
        try await sessions.save(
            Session(id: last, user: "ada", token: "\(last)"), expiresIn: .seconds(5))
        var ids: [Int] = []
        for try await session in sessions.all.order(by: \.token).objects {
            ids.append(session.id)
            if ids.count == count - 2 { time.advance(by: .seconds(5)) }
        }
        #expect(ids.count == count - 1)
        #expect(!ids.contains(last))
        try await workspace.close()
    }

    /// Objects whose decoding takes long, once that is said.
    private struct Part: Codable, Identifiable, Sendable, Indexed {
        static let now = Mutex(Date(timeIntervalSince1970: 1_000_000_000))
        static let isSlow = Mutex(false)
        var id: Int
        var kind: String
        var number: Int
        static var indexes: [Index<Part>] { [Index("kind-number", \.kind, \.number)] }

        init(_ id: Int, _ kind: String, _ number: Int) {
            self.id = id
            self.kind = kind
            self.number = number
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            kind = try values.decode(String.self, forKey: .kind)
            number = try values.decode(Int.self, forKey: .number)
            if Self.isSlow.withLock({ $0 }) { Self.now.withLock { $0 += 100 } }
        }
    }

    /// A group whose object goes while the groups are read has no objects that the condition leaves out.
    @Test func aGroupWhoseObjectGoesMeanwhileHasNoOthers() async throws {
        let clock = WallClock { Part.now.withLock { $0 } }
        let workspace = try await Workspace.inMemory(configuration: .init(clock: clock))
        let parts = workspace.repository(of: Part.self)
        try await parts.saveAll([Part(1, "a", 1), Part(3, "b", 2)])
        try await parts.save(Part(2, "b", 1), expiresIn: .seconds(60))
        try await parts.indexesBuilt()
        let first = parts.where { $0.kind.isIn(["a", "b"]) && $0.number == 1 }
        #expect(try first.grouped(by: \.kind).counts() == ["a": 1, "b": 1])
        // The object of the first group is read once the entries of both were.
        Part.isSlow.withLock { $0 = true }
        #expect(try first.grouped(by: \.kind).counts() == ["a": 1])
        Part.isSlow.withLock { $0 = false }
        #expect(try first.fetch().map(\.id) == [1])
        try await workspace.close()
    }

    /// A clock that was set back while the workspace was closed shows again what had expired. Who has its value since keeps that.
    @Test(arguments: ["update", "save", "saveAll", "delete", "deleteAll"])
    func whatComesBackLeavesItsValueToWhoHasIt(how: String) async throws {
        try await withTemporaryDirectory { path in
            // A flush at rest leaves out what has expired.
            var workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 4, clock: .settable(time)),
                fileSystem: PosixFileSystem()
            ) { $0.restDelay = .seconds(3_600) }
            var sessions = workspace.repository(of: Session.self)
            // So many that the look at some of them, at an opening, does not meet the one.
            try await sessions.saveAll(
                (0..<2_000).map { Session(id: $0, user: "ada", token: "\($0)") })
            try await sessions.save(
                Session(id: 613, user: "ada", token: "b"), expiresIn: .seconds(60))
            time.advance(by: .seconds(60))
            try await sessions.insert(Session(id: 3_000, user: "bo", token: "b"))
            try await workspace.close()
            time.advance(by: .seconds(-60))
            workspace = try await open(path)
            sessions = workspace.repository(of: Session.self)
            #expect(try sessions[613]?.token == "b")
            let other = Session(id: 613, user: "ada", token: "c")
            switch how {
            case "update": try await sessions.update(613) { $0.token = "c" }
            case "save": try await sessions.save(other)
            case "saveAll": try await sessions.saveAll([other])
            case "delete": try await sessions.delete(613)
            default: try await sessions.where { $0.id == 613 }.deleteAll()
            }
            #expect(try sessions.where { $0.token == "b" }.fetch().map(\.id) == [3_000])
            let error = await #expect(throws: RoostError.self) {
                try await sessions.insert(Session(id: 4_000, user: "cy", token: "b"))
            }
            #expect(error?.code == .notUnique)
            try await workspace.close()
        }
    }

    @Test @MainActor func aRepositoryWithoutIndexesAndALiveResult() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let plain = workspace.repository(of: Plain.self)
        try await plain.save(Plain(id: 1))
        try await plain.save(Plain(id: 2), expiresIn: .seconds(5))
        try await plain.insert(Plain(id: 3), expiresIn: .seconds(5))
        try await plain.save(Plain(id: 4), expiresIn: .zero)
        let live = LiveQuery(plain.all)
        #expect(live.items.map(\.id) == [1, 2, 3])
        time.advance(by: .seconds(5))
        #expect(try plain.all.fetch().map(\.id) == [1])
        #expect(live.items.map(\.id) == [1])
        try await workspace.close()
    }

    /// Beside a dictionary of objects and deadlines, with a clock that goes on now and then.
    @Test func randomChangesAgreeWithADictionary() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            var workspace = try await open(path)
            var sessions = workspace.repository(of: Session.self)
            var expected: [Int: (session: Session, deadline: Date?)] = [:]
            for step in 0..<400 {
                let id = Int.random(in: 0..<30, using: &random)
                let session = Session(
                    id: id, user: "user \(id % 4)", token: "token \(step)",
                    scopes: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        Int.random(in: 0..<5, using: &random)
                    })
                switch Int.random(in: 0..<12, using: &random) {
                case 0..<3:
                    try await sessions.save(session)
                    expected[id] = (session, nil)
                case 3..<7:
                    let seconds = Int.random(in: 1...20, using: &random)
                    try await sessions.save(session, expiresIn: .seconds(seconds))
                    expected[id] = (session, time.now + Double(seconds))
                case 7:
                    try await sessions.delete(id)
                    expected[id] = nil
                case 8:
                    let isThere = try await sessions.update(id) { $0.scopes = [4] } != nil
                    #expect(isThere == (expected[id] != nil))
                    expected[id]?.session.scopes = [4]
                    expected[id]?.deadline = nil
                case 9: try await workspace.compact()
                case 10 where step % 3 == 1:
                    // Of an object in a call of its own, or of some together.
                    if step % 2 == 0 {
                        try await sessions.update(id, keepsExpiry: true) { $0.scopes = [3] }
                        expected[id]?.session.scopes = [3]
                    } else {
                        let some = sessions.where { $0.scopes.contains(4) }
                        try await some.updateAll(keepsExpiry: true) { $0.scopes.append(2) }
                        for (id, entry) in expected where entry.session.scopes.contains(4) {
                            expected[id]?.session.scopes.append(2)
                        }
                    }
                case 10 where step % 3 == 0:
                    try await workspace.close()
                    workspace = try await open(path)
                    sessions = workspace.repository(of: Session.self)
                default:
                    time.advance(by: .milliseconds(Int.random(in: 0...6, using: &random) * 1_000))
                }
                // A deadline is up to two milliseconds early.
                let now = time.now + 0.01
                expected = expected.filter { $0.value.deadline.map { $0 > now } ?? true }
                let all = expected.values.map(\.session).sorted { $0.id < $1.id }
                try #require(try sessions.all.fetch() == all)
                let scope = step % 5
                let some = all.filter { $0.scopes.contains(scope) }
                try #require(
                    try sessions.where { $0.scopes.contains(scope) }.fetch() == some)
                try #require(
                    try sessions.where { $0.user == "user 1" }.count()
                        == all.filter { $0.user == "user 1" }.count)
            }
            try await sessions.indexesBuilt()
            try expectSound(sessions)
            try await workspace.close()
        }
    }
}
