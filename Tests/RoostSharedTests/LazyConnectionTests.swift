import Roost
import RoostIO
import RoostShared
import Synchronization
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var text: String
}

/// A time in which nobody answers who connects.
private final class Absence: Sendable {
    let isOver = Atomic<Bool>(false)

    func target(_ engine: MemoryEngine) -> SharedTarget {
        SharedTarget { deadline in
            while !self.isOver.load(ordering: .relaxed) {
                guard ContinuousClock.now < deadline else {
                    throw RoostError(.unavailable, "nobody answers")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            return engine
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct LazyConnectionTests {
    /// A target that cannot be reached so many times; and how often it was tried.
    private final class Attempts: Sendable {
        private let count = Mutex(0)

        var made: Int { count.withLock { $0 } }

        func target(
            _ engine: MemoryEngine, failing: Int, _ code: RoostError.Code = .unavailable
        ) -> SharedTarget {
            SharedTarget { _ in
                let number = self.count.withLock { count in
                    count += 1
                    return count
                }
                if number <= failing { throw RoostError(code, "attempt \(number)") }
                return engine
            }
        }
    }

    private func connect(
        _ target: SharedTarget, _ deadline: Duration = .seconds(120)
    ) async throws -> SharedWorkspace {
        try await .connect(
            to: target, namespace: "test",
            configuration: .init(callDeadline: deadline, connectsLazily: true))
    }

    @Test func theFirstCallConnectsOnceSomebodyAnswers() async throws {
        let attempts = Attempts()
        let shared = try await connect(attempts.target(MemoryEngine(), failing: 2))
        #expect(attempts.made == 0)
        let values = shared.dictionary("values")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask { try await values.set(number, forKey: "k\(number)") }
            }
            try await group.waitForAll()
        }
        #expect(attempts.made == 3)
        #expect(try await values.count == 10)
        await shared.close()
        let error = await #expect(throws: RoostError.self) {
            try await values.load("k1", as: Int.self)
        }
        #expect(error?.code == .closed)
    }

    @Test func aCallEndsAtItsDeadlineAndALaterOneConnects() async throws {
        let absence = Absence()
        let engine = MemoryEngine()
        let shared = try await connect(absence.target(engine))
        let hurried = shared.withCallDeadline(.milliseconds(50)).dictionary("values")
        let begin = ContinuousClock.now
        let error = await #expect(throws: RoostError.self) { try await hurried.set(1, forKey: "a") }
        #expect(error?.code == .unavailable)
        #expect(.now - begin < .seconds(60))
        absence.isOver.store(true, ordering: .relaxed)
        try await shared.dictionary("values").set(2, forKey: "a")
        #expect(try await shared.dictionary("values").load("a", as: Int.self) == 2)
        await shared.close()
    }

    /// What connecting would have thrown, the calls throw, each anew.
    @Test func whatIsRefusedIsThrownByTheCalls() async throws {
        let attempts = Attempts()
        let shared = try await connect(
            attempts.target(MemoryEngine(), failing: 2, .notPermitted))
        for _ in 0..<2 {
            let error = await #expect(throws: RoostError.self) { try await shared.revision }
            #expect(error?.code == .notPermitted)
        }
        _ = try await shared.revision
        let foreign = MemoryEngine()
        let put = SharedOperation.put(key: Array("test/x".utf8), value: [1], expiresIn: nil)
        _ = try await foreign.commit(
            SharedCommit(operations: [put]), before: .now + .seconds(10))
        let other = try await connect(.memory(foreign))
        let error = await #expect(throws: RoostError.self) {
            try await other.dictionary("values").set(1, forKey: "a")
        }
        #expect(error?.code == .unsupportedVersion)
    }

    @Test func theLimitsAreTheEnginesFromTheFirstCommitOn() async throws {
        let shared = try await connect(.memory(MemoryEngine()))
        let error = await #expect(throws: RoostError.self) {
            try await shared.dictionary("values").setAll((0..<200).map { (String($0), $0) })
        }
        #expect(error?.code == .tooLarge)
        #expect(shared.limits.operationCount == 128)
    }

    @Test func aKeyThatIsTooLongIsFoundOutByTheFirstCommit() async throws {
        let engine = MemoryEngine()
        let key = String(repeating: "k", count: 100_000)
        for call in 0..<3 {
            let shared = try await connect(.memory(engine))
            let values = shared.dictionary("values")
            let error = await #expect(throws: RoostError.self) {
                switch call {
                case 0: try await values.set(1, forKey: key)
                case 1: try await values.remove(key: key)
                default: try await shared.transaction { try $0.set(1, forKey: key, in: values) }
                }
            }
            #expect(error?.code == .keyTooLarge, "call \(call)")
            #expect(try await values.count == 0)
        }
    }

    /// A client whose clock is years behind finds that out before it says when a value is gone.
    @Test func aFirstValueExpiresByTheEnginesTime() async throws {
        let behind = WallClock.settable(SettableTime())
        let engine = MemoryEngine(tellsTime: true)
        for call in 0..<3 {
            let shared = try await SharedWorkspace.connect(
                to: .memory(engine), namespace: "test",
                configuration: .init(
                    callDeadline: .seconds(60), clock: behind, connectsLazily: true))
            let values = shared.dictionary("values")
            let absent = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
                .dictionary("values").loadEntry("\(call)", as: Int.self)
            switch call {
            case 0: try await values.set(1, forKey: "0", expiresIn: .seconds(1800))
            case 1: _ = try await values.replace(absent, with: 1, expiresIn: .seconds(1800))
            default:
                try await shared.transaction {
                    try $0.set(1, forKey: "2", in: values, expiresIn: .seconds(1800))
                }
            }
            #expect(try await values.load("\(call)", as: Int.self) == 1, "call \(call)")
        }
    }

    /// A watcher that begins first goes on once somebody answers.
    @Test func aWatcherWaitsUntilSomebodyAnswers() async throws {
        let engine = MemoryEngine()
        let shared = try await connect(Attempts().target(engine, failing: 2))
        let changes = shared.dictionary("values").changes(as: Int.self, since: 0)
        let watching = Task { () -> Int? in
            for await case .set(_, let value, _) in changes { return value }
            return nil
        }
        let other = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        try await other.dictionary("values").set(7, forKey: "a")
        #expect(await watching.value == 7)
        await shared.close()
    }

    /// A device that begins offline has what it had, and works.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func aDeviceBeginsOffline(loading: FollowLoading) async throws {
        let engine = MemoryEngine()
        let local = try await Workspace.inMemory()
        let before = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        try await before.dictionary("settings").set(0.25, forKey: "volume")
        var followed = try await before.follow("settings", in: local, loading: loading)
        #expect(try await followed.load("volume", as: Double.self) == 0.25)
        await followed.close()
        try await before.dictionary("settings").set(0.75, forKey: "volume")

        let absence = Absence()
        let shared = try await connect(absence.target(engine))
        let begin = ContinuousClock.now
        followed = try await shared.follow("settings", in: local, loading: loading)
        #expect(.now - begin < .seconds(60))
        #expect(try followed["volume", default: 0] == 0.25)
        let notes = SyncedRepository(of: Note.self, in: local, with: shared)
        try await notes.save(Note(id: 1, text: "offline"))
        #expect(try notes.find(by: 1)?.text == "offline")

        absence.isOver.store(true, ordering: .relaxed)
        #expect(try await notes.synchronize().sentCount == 1)
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try followed["volume", default: 0] == 0.75)
        #expect(try await before.repository(of: Note.self).find(by: 1)?.text == "offline")
        await followed.close()
        try await local.close()
    }
}
