import Foundation
import Hummingbird
import Logging
import Roost
import RoostServices
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite struct ServicesTests {
    @Test func aWorkspaceIsClosedAfterTheServicesThatUseIt() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-services-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let workspace = try await Workspace.open(at: directory)
        /// Writes until it is shut down, and once more then.
        struct Writer: Service {
            let workspace: Workspace
            func run() async throws {
                try await gracefulShutdown()
                try await workspace.dictionary("d").set("last", forKey: "word")
            }
        }
        try await testGracefulShutdown { trigger in
            let group = ServiceGroup(
                services: [workspace, Writer(workspace: workspace)], logger: Logger(label: "test"))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                trigger.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
        #expect(workspace.isClosed)
        let again = try await Workspace.open(at: directory)
        #expect(try again.dictionary("d")["word", as: String.self] == "last")
        #expect(again.recovery.tornTails.isEmpty)
        try await again.close()
    }

    @Test func thePersistDriverDoesAsHummingbirdSays() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let driver = WorkspacePersistDriver(workspace)
        try await driver.create(key: "a", value: ["x": 1], expires: nil)
        await #expect(throws: PersistError.duplicate) {
            try await driver.create(key: "a", value: ["x": 2], expires: nil)
        }
        #expect(try await driver.get(key: "a", as: [String: Int].self) == ["x": 1])
        await #expect(throws: PersistError.invalidConversion) {
            _ = try await driver.get(key: "a", as: Int.self)
        }
        try await driver.set(key: "b", value: "kept", expires: .seconds(60))
        time.advance(by: .seconds(30))
        // Without a time the value keeps the one that it has.
        try await driver.set(key: "b", value: "changed", expires: nil)
        let found = try await driver.getWithTTL(key: "b", as: String.self)
        #expect(found?.object == "changed" && found?.ttl == .seconds(30))
        time.advance(by: .seconds(30))
        #expect(try await driver.get(key: "b", as: String.self) == nil)
        try await driver.create(key: "b", value: "new", expires: nil)
        try await driver.remove(key: "a")
        #expect(try await driver.get(key: "a", as: [String: Int].self) == nil)
        try await workspace.close()
    }

    /// Two reads would give the value that stays the time of the one that does not, or the other way round.
    @Test func aValueComesWithItsOwnTime() async throws {
        let workspace = try await Workspace.inMemory()
        let driver = WorkspacePersistDriver(workspace)
        let writing = Task {
            while !Task.isCancelled {
                try await driver.set(key: "a", value: "expires", expires: .seconds(600))
                try await driver.remove(key: "a")
                try await driver.create(key: "a", value: "stays", expires: nil)
            }
        }
        var foundCount = 0
        while foundCount < 5000 {
            guard let found = try await driver.getWithTTL(key: "a", as: String.self) else {
                await Task.yield()
                continue
            }
            foundCount += 1
            #expect((found.object == "stays") == (found.ttl == nil))
        }
        writing.cancel()
        _ = await writing.result
        await #expect(throws: PersistError.invalidConversion) {
            try await driver.set(key: "b", value: "text", expires: nil)
            _ = try await driver.getWithTTL(key: "b", as: Int.self)
        }
        try await workspace.close()
    }

    @Test func oneOfManyCreatesWins() async throws {
        let workspace = try await Workspace.inMemory()
        let driver = WorkspacePersistDriver(workspace)
        let winners = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<20 {
                group.addTask {
                    do {
                        try await driver.create(key: "one", value: number, expires: nil)
                        return number
                    } catch { return nil }
                }
            }
            return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(winners.count == 1)
        #expect(try await driver.get(key: "one", as: Int.self) == winners[0])
        try await workspace.close()
    }

    @Test func aSessionEndsWhenItIsNotUsed() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let sessions = SessionStore<[String: String]>(workspace, idleLimit: .seconds(600))
        let token = try await sessions.begin(["user": "ada"])
        let other = try await sessions.begin(["user": "bob"])
        #expect(token.count == 64 && token != other)
        for _ in 0..<5 {
            time.advance(by: .seconds(500))
            #expect(try await sessions.session(of: token) == ["user": "ada"])
        }
        #expect(try await sessions.session(of: other) == nil)
        try await sessions.update(["user": "eve"], of: other)
        #expect(try await sessions.session(of: other) == nil)
        try await sessions.end(token)
        #expect(try await sessions.session(of: token) == nil)
        try await workspace.close()
    }

    @Test func aRateLimitLetsPassWhatItSays() async throws {
        let workspace = try await Workspace.inMemory()
        let now = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let limiter = RateLimiter(
            workspace, burstCount: 5, period: .seconds(10), now: { now.withLock { $0 } })
        let admitted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { try await limiter.admit("ada").isAllowed } }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(admitted == 5)
        #expect(try await limiter.admit("bob").isAllowed)
        let refused = try await limiter.admit("ada")
        #expect(!refused.isAllowed && refused.retryAfter == .seconds(2))
        now.withLock { $0 += 4 }
        #expect(try await limiter.admit("ada").remainingCount == 1)
        now.withLock { $0 -= 3600 }
        #expect(try await limiter.admit("ada").isAllowed)
        #expect(try await !limiter.admit("ada").isAllowed)
        try await workspace.close()
    }

    /// Of two calls that meet, the one that asked for the time first may be counted last.
    @Test func aRateLimitFillsNothingForATimeThatWentBack() async throws {
        let workspace = try await Workspace.inMemory()
        let now = Mutex(Date(timeIntervalSince1970: 101))
        let limiter = RateLimiter(
            workspace, burstCount: 5, period: .seconds(1), now: { now.withLock { $0 } })
        for _ in 0..<5 { #expect(try await limiter.admit("ada").isAllowed) }
        now.withLock { $0 -= 1 }
        let refused = try await limiter.admit("ada")
        #expect(!refused.isAllowed && refused.retryAfter == .milliseconds(1200))
        now.withLock { $0 += 1 }
        #expect(try await !limiter.admit("ada").isAllowed)
        now.withLock { $0 += 0.25 }
        #expect(try await limiter.admit("ada").isAllowed)
        try await workspace.close()
    }

    @Test func aCacheMakesAValueOnceForAllWhoWait() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let cache = Cache<String>(workspace, lifetime: .seconds(60))
        let maker = Maker()
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask { try await cache.value(forKey: "a") { try await maker.make() } }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(values == ["value 1"])
        time.advance(by: .seconds(60))
        #expect(try await cache.value(forKey: "a") { try await maker.make() } == "value 2")
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            _ = try await cache.value(forKey: "b") { throw Failure() }
        }
        #expect(try await cache.value(forKey: "b") { "made" } == "made")
        try await cache.remove("a")
        #expect(try await cache.value(forKey: "a") { try await maker.make() } == "value 3")
        try await workspace.close()
    }
}

/// Makes values, slowly, and counts them.
private final class Maker: Sendable {
    private let count = Atomic<Int>(0)

    func make() async throws -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        try await Task.sleep(for: .milliseconds(50))
        return "value \(number)"
    }
}
