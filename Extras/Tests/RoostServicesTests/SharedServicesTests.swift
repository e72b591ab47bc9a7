import Foundation
import Hummingbird
import Logging
import Roost
import RoostServices
import RoostShared
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

/// The services over an engine that several processes share, each with a connection of its own.
@Suite struct SharedServicesTests {
    private let engine = MemoryEngine()
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(engine), namespace: "test")
    }

    // MARK: Sessions and values

    @Test func aSessionThatOneBeganIsFoundByTheOthers() async throws {
        let (one, other) = (try await connect(), try await connect())
        let sessions = SessionStore<String>(one, idleLimit: .seconds(60))
        let token = try await sessions.begin("ada")
        #expect(try await SessionStore<String>(other).session(of: token) == "ada")
        try await SessionStore<String>(other, idleLimit: .seconds(600)).update("bob", of: token)
        #expect(try await sessions.session(of: token) == "bob")
        // The first one's limit holds again since it read the session.
        let left = try await one.dictionary("sessions").remainingTime(forKey: token)
        #expect(try #require(left) <= .seconds(60))
        try await sessions.end(token)
        #expect(try await SessionStore<String>(other).session(of: token) == nil)
    }

    @Test func ofTwoThatCreateAValueOneIsFirst() async throws {
        let drivers = [
            WorkspacePersistDriver(try await connect()),
            WorkspacePersistDriver(try await connect()),
        ]
        for round in 0..<20 {
            let made = await withTaskGroup(of: Bool.self) { group in
                for driver in drivers {
                    group.addTask {
                        do {
                            try await driver.create(key: "\(round)", value: 1, expires: nil)
                            return true
                        } catch { return false }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(made == 1)
        }
        try await drivers[0].set(key: "a", value: "x", expires: .seconds(60))
        try await drivers[1].set(key: "a", value: "y", expires: nil)
        let found = try #require(try await drivers[0].getWithTTL(key: "a", as: String.self))
        let left = try #require(found.ttl)
        #expect(found.object == "y" && left <= .seconds(60))
        try await drivers[1].remove(key: "a")
        #expect(try await drivers[0].get(key: "a", as: String.self) == nil)
    }

    @Test func aLimitIsThatOfAllTogether() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
        var limiters: [RateLimiter] = []
        for _ in 0..<3 {
            limiters.append(
                RateLimiter(
                    try await connect(), burstCount: 10, period: .seconds(10),
                    now: { time.withLock { $0 } }))
        }
        let passed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<30 {
                let limiter = limiters[number % 3]
                group.addTask { try await limiter.admit("ada").isAllowed }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(passed == 10)
        time.withLock { $0 += 1 }
        #expect(try await limiters[1].admit("ada").isAllowed)
        #expect(try await !limiters[2].admit("ada").isAllowed)
    }

    @Test func aValueThatOneHasMadeTheOthersDoNotMake() async throws {
        let one = Cache<Int>(try await connect(), lifetime: .seconds(60))
        let other = Cache<Int>(try await connect(), lifetime: .seconds(60))
        #expect(try await one.value(forKey: "k") { 7 } == 7)
        #expect(try await other.value(forKey: "k") { 8 } == 7)
        try await other.remove("k")
        #expect(try await one.value(forKey: "k") { 9 } == 9)
    }

    // MARK: Jobs

    /// Forty jobs, three processes of four workers each; one of the processes ends in the middle.
    @Test func workersOfAllProcessesDoEachJobOnce() async throws {
        let shared = try await connect()
        let queue = JobQueue<Int>(shared)
        for number in 0..<40 { try await queue.enqueue(number) }
        let done = shared.dictionary("done")
        let silent = silent
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    let workspace = try await connect()
                    let worker = JobWorker(
                        JobQueue<Int>(workspace), in: workspace,
                        pollInterval: .milliseconds(5), logger: silent,
                        completing: { lease, attempt in
                            let done = workspace.dictionary("done")
                            let key = "\(lease.payload)"
                            let count = try await attempt.load(key, as: Int.self, in: done) ?? 0
                            try attempt.set(count + 1, forKey: key, in: done)
                        })
                    group.addTask { try await worker.run() }
                }
                let end = ContinuousClock.now + .seconds(60)
                while try await queue.counts.pending > 0, ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(10))
                }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        var counts: [String: Int] = [:]
        for try await entry in done.entries(as: Int.self) { counts[entry.key] = entry.value }
        #expect(counts.count == 40 && counts.values.allSatisfy { $0 == 1 })
        #expect(try await queue.counts == (0, 0))
    }

    @Test func aJobIsEnqueuedWithTheOtherChangesOfATransaction() async throws {
        let shared = try await connect()
        let queue = JobQueue<String>(shared)
        let orders = shared.dictionary("orders")
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await shared.transaction { attempt in
                try attempt.set(1, forKey: "a", in: orders)
                try await queue.enqueue("a", id: "a", in: attempt)
                throw Refused()
            }
        }
        #expect(try await queue.counts == (0, 0))
        try await shared.transaction { attempt in
            try attempt.set(1, forKey: "a", in: orders)
            try await queue.enqueue("a", id: "a", in: attempt)
            try await queue.enqueue("again", id: "a", in: attempt)
            try await queue.enqueue("b", id: "b", in: attempt)
        }
        #expect(try await shared.transaction { try await queue.cancel("b", in: $0) })
        let lease = try #require(try await queue.lease())
        #expect(lease.payload == "a")
        // Its lease ends, and the one that has it then completes it; the first one does not.
        let other = JobQueue<String>(
            try await connect(), now: { Date().addingTimeInterval(60) })
        let second = try #require(try await other.lease())
        #expect(second.id == "a" && second.attempt == 2)
        await #expect(throws: LeaseLost.self) {
            try await queue.complete(lease, in: shared) { try $0.set(2, forKey: "a", in: orders) }
        }
        #expect(try await orders.load("a", as: Int.self) == 1)
        try await other.fail(second, reason: "no")
        #expect(try await other.deadLetters().isEmpty)
        #expect(try await queue.counts == (1, 0))
    }

    @Test func aJobOfAnotherVersionHoldsUpNoOther() async throws {
        let shared = try await connect()
        try await JobQueue<[String: Int]>(shared).enqueue(["new": 1])
        let older = JobQueue<String>(shared)
        try await older.enqueue("old")
        let lease = try #require(try await older.lease())
        #expect(lease.payload == "old")
        try await older.complete(lease)
        #expect(try await older.lease() == nil)
        #expect(try await older.counts == (1, 0))
    }

    // MARK: Groups

    @Test func aSharedWorkspaceIsClosedAfterTheServicesThatUseIt() async throws {
        let open = OpenEngine(engine)
        let shared = try await SharedWorkspace.connect(to: .engine(open), namespace: "test")
        let queue = JobQueue<Int>(shared)
        try await queue.enqueue(1)
        let begun = AsyncStream<Void>.makeStream()
        let worker = JobWorker(queue, pollInterval: .milliseconds(5), logger: silent) { _ in
            begun.continuation.yield()
            // Does not care that it is cancelled.
            let pause = Task { try await Task.sleep(for: .milliseconds(50)) }
            _ = await pause.result
        }
        let silent = silent
        let group = Task {
            try await ServiceGroup(services: [shared, worker], logger: silent).run()
        }
        for await _ in begun.stream { break }
        group.cancel()
        _ = await group.result
        #expect(open.isClosed)
        // The job was ended before.
        #expect(try await JobQueue<Int>(try await connect()).counts == (0, 0))
    }
}

/// An engine that others use too: closing it is noted.
private final class OpenEngine: SharedEngine {
    private let engine: MemoryEngine
    private let closed = Mutex(false)

    init(_ engine: MemoryEngine) { self.engine = engine }

    var isClosed: Bool { closed.withLock { $0 } }

    var limits: SharedLimits { engine.limits }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage { try await engine.read(read, before: deadline) }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        if isClosed { throw RoostError(.closed, "closed") }
        return try await engine.commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        engine.watch(range, after: revision)
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    func close() async { closed.withLock { $0 = true } }
}
