import Foundation
import Roost
import RoostServices
import Synchronization
import Testing

/// What stands at the borders: other versions of a service, clocks that are set, what a client makes up.
@Suite struct ServiceBordersTests {
    private struct Old: Codable, Sendable { var name: String }
    private struct New: Codable, Sendable { var name: String, size: Int }

    private final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    @Test func aSessionOfAnotherVersionCountsAsNone() async throws {
        let workspace = try await Workspace.inMemory()
        let (older, newer) = (SessionStore<Old>(workspace), SessionStore<New>(workspace))
        let token = try await older.begin(Old(name: "ada"))
        #expect(try await newer.session(of: token) == nil)
        // A service that is put back reads it again.
        #expect(try await older.session(of: token)?.name == "ada")
        try await newer.update(New(name: "ada", size: 1), of: token)
        #expect(try await newer.session(of: token)?.size == 1)
        try await newer.end(token)
        #expect(try await older.session(of: token) == nil)
        try await workspace.close()
    }

    /// Of a client's cookie nothing is known.
    @Test(arguments: [
        "", "no token", String(repeating: "a", count: 64), String(repeating: "a", count: 70_000),
    ])
    func whatIsNoTokenHasNoSession(token: String) async throws {
        let workspace = try await Workspace.inMemory()
        let sessions = SessionStore<String>(workspace)
        #expect(try await sessions.session(of: token) == nil)
        try await sessions.update("ada", of: token)
        try await sessions.end(token)
        #expect(try await sessions.session(of: token) == nil)
        try await workspace.close()
    }

    /// Within an opening no clock goes back.
    @Test func aSessionDoesNotOutlastItsLimitWhereTheClockIsSetBack() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-services-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let time = SettableTime()
        func open() async throws -> (Workspace, SessionStore<String>) {
            let workspace = try await Workspace.open(
                at: directory, configuration: .init(clock: .settable(time)))
            return (workspace, SessionStore<String>(workspace, idleLimit: .seconds(600)))
        }
        let (first, early) = try await open()
        let token = try await early.begin("ada")
        try await first.close()
        time.advance(by: .seconds(-86_400))
        let (second, late) = try await open()
        #expect(try await late.session(of: token) == "ada")
        time.advance(by: .seconds(601))
        #expect(try await late.session(of: token) == nil)
        try await second.close()
    }

    @Test(arguments: [(3, 1.0), (7, 60), (10, 60), (999, 3600), (13, 0.1), (1, 7)])
    func whoWaitsAsLongAsALimitSaysPasses(burstCount: Int, seconds: Double) async throws {
        let time = Time()
        // By the same time values expire, whatever this machine takes for the calls.
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: WallClock { time.now }))
        let limiter = RateLimiter(
            workspace, burstCount: burstCount, period: .seconds(seconds), now: { time.now })
        for _ in 0..<burstCount { #expect(try await limiter.admit("ada").isAllowed) }
        let begin = time.now
        for _ in 0..<200 {
            let refused = try await limiter.admit("ada")
            #expect(!refused.isAllowed && refused.remainingCount == 0)
            time.advance(refused.retryAfter / .seconds(1))
            #expect(try await limiter.admit("ada").isAllowed)
        }
        #expect(time.now.timeIntervalSince(begin) > 199 * seconds / Double(burstCount))
        try await workspace.close()
    }

    @Test func aLimitMayBeAsGoodAsForEver() async throws {
        let workspace = try await Workspace.inMemory()
        let limiter = RateLimiter(workspace, burstCount: 1, period: .seconds(Int64.max))
        #expect(try await limiter.admit("ada").isAllowed)
        let refused = try await limiter.admit("ada")
        #expect(!refused.isAllowed && refused.retryAfter > .seconds(1 << 40))
        try await workspace.close()
    }

    @Test func howeverManyJobsCannotBeReadTheyHoldUpNoOther() async throws {
        let time = Time()
        let workspace = try await Workspace.inMemory()
        // Without a delay they would be due again at once.
        let retries = JobRetries(firstDelay: .zero, longestDelay: .zero)
        let older = JobQueue<Old>(workspace, retries: retries, now: { time.now })
        let newer = JobQueue<New>(workspace, retries: retries, now: { time.now })
        for number in 0..<50 { try await older.enqueue(Old(name: "\(number)")) }
        time.advance(1)
        try await newer.enqueue(New(name: "new", size: 1))
        #expect(try await newer.lease()?.payload.name == "new")
        #expect(try await newer.lease() == nil)
        time.advance(2)
        var names: Set<String> = []
        for _ in 0..<50 { names.insert(try #require(try await older.lease()).payload.name) }
        #expect(names.count == 50)
        try await workspace.close()
    }

    /// Its identifier is a key, and none behind its time: who catches that and goes on has no job that is never due.
    @Test func aJobThatIsRefusedIsNotThere() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Int>(workspace)
        let id = String(repeating: "i", count: (64 << 10) - 8)
        try await workspace.transaction { (transaction: inout Transaction) in
            do {
                try queue.enqueue(1, id: id, in: &transaction)
                Issue.record("it has no key")
            } catch let error as RoostError { #expect(error.code == .keyTooLarge) }
        }
        #expect(try await queue.counts == (0, 0))
        func enqueue(in workspace: some KeyValueWorkspace) async throws {
            try await workspace.transaction { attempt in
                do {
                    try await queue.enqueue(1, id: id, in: attempt)
                    Issue.record("it has no key")
                } catch let error as RoostError { #expect(error.code == .keyTooLarge) }
            }
        }
        try await enqueue(in: workspace)
        #expect(try await queue.counts == (0, 0))
        try await workspace.close()
    }

    @Test func aDeadJobIsNotLostToAnotherOfItsIdentifier() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<String>(workspace, retries: .init(attemptLimit: 1))
        func enqueue(_ payload: String) async throws {
            _ = try await workspace.transaction { transaction in
                try queue.enqueue(payload, id: "report", in: &transaction)
            }
        }
        try await enqueue("first")
        try await queue.fail(try #require(try await queue.lease()), reason: "no luck")
        try await enqueue("second")
        #expect(try await !queue.revive("report"))
        #expect(try await queue.deadLetters().map(\.payload) == ["first"])
        let second = try #require(try await queue.lease())
        #expect(second.payload == "second")
        try await queue.complete(second)
        #expect(try await queue.revive("report"))
        #expect(try await queue.lease()?.payload == "first")
        try await workspace.close()
    }
}
