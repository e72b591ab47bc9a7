import Foundation
import Logging
import Roost
import RoostShared
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@testable import RoostServices

@Suite struct JobQueueTests {
    private final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    private func makeQueue(
        _ time: Time, attemptLimit: Int = 3
    ) async throws -> (Workspace, JobQueue<String>) {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<String>(
            workspace,
            retries: .init(
                attemptLimit: attemptLimit, firstDelay: .seconds(10), longestDelay: .seconds(15)),
            now: { time.now })
        return (workspace, queue)
    }

    @Test func jobsAreTakenInTheOrderOfTheirTimes() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        try await queue.enqueue("late", delay: .seconds(5))
        try await queue.enqueue("first")
        time.advance(1)
        try await queue.enqueue("second")
        var taken: [String] = []
        while let lease = try await queue.lease() {
            taken.append(lease.payload)
            try await queue.complete(lease)
        }
        #expect(taken == ["first", "second"])
        time.advance(4)
        #expect(try await queue.lease()?.payload == "late")
        try await workspace.close()
    }

    /// Whole milliseconds as a date has them, of which many fall short by a fraction.
    @Test func aJobIsDueInTheMillisecondInWhichItWasEnqueued() async throws {
        let clock = SettableTime()
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(clock)))
        let queue = JobQueue<Int>(workspace)
        for number in 0..<500 {
            let milliseconds = 1_796_000_000_000 + number * 37
            clock.now = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            try await queue.enqueue(number)
            let lease = try #require(try await queue.lease(), "\(milliseconds)")
            try await queue.complete(lease)
        }
        try await workspace.close()
    }

    @Test func aJobOfAnIdentifierIsAddedOnceAlsoAlone() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        #expect(try await queue.enqueue("first", id: "a") == "a")
        #expect(try await queue.enqueue("second", id: "a", delay: .seconds(5)) == "a")
        let lease = try #require(try await queue.lease())
        #expect(lease.id == "a" && lease.payload == "first")
        try await queue.complete(lease)
        #expect(try await queue.counts == (0, 0))
        try await workspace.close()
    }

    @Test func aJobThatIsTakenBackIsNotDone() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        let results = workspace.dictionary("results")
        try await workspace.transaction { transaction in
            try queue.enqueue("waiting", id: "waiting", in: &transaction)
            try queue.enqueue("stays", id: "stays", delay: .seconds(1), in: &transaction)
        }
        #expect(try await queue.cancel("waiting"))
        #expect(try await !queue.cancel("waiting"))
        #expect(try await queue.counts == (1, 0))
        #expect(try await queue.lease() == nil)
        time.advance(1)
        var lease = try #require(try await queue.lease())
        #expect(lease.id == "stays")
        // While it is being done, with a transaction that fails, and with one that does not.
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await workspace.transaction { transaction in
                try queue.cancel("stays", in: &transaction)
                throw Refused()
            }
        }
        try await queue.extend(&lease, by: .seconds(30))
        #expect(try await queue.cancel("stays"))
        let held = lease
        await #expect(throws: LeaseLost.self) { try await queue.extend(&lease, by: .seconds(30)) }
        await #expect(throws: LeaseLost.self) {
            try await queue.complete(held) { try $0.set(1, forKey: "done", in: results) }
        }
        #expect(try results["done", as: Int.self] == nil)
        #expect(try await queue.counts == (0, 0))
        #expect(try await queue.due.count == 0)
        try await workspace.close()
    }

    @Test func aDeadLetterThatIsRemovedIsGone() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time, attemptLimit: 1)
        for id in ["a", "b"] {
            _ = try await workspace.transaction { try queue.enqueue(id, id: id, in: &$0) }
            try await queue.fail(try #require(try await queue.lease()), reason: "broken")
        }
        #expect(try await queue.removeDeadLetter("a"))
        #expect(try await !queue.removeDeadLetter("a"))
        #expect(try await queue.deadLetters().map(\.id) == ["b"])
        #expect(try await !queue.revive("a"))
        // What is dead is not to be done, and not taken back.
        #expect(try await !queue.cancel("b"))
        #expect(try await queue.counts == (0, 1))
        try await workspace.close()
    }

    @Test func aJobWhoseWorkerDiesIsTakenByAnother() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        try await queue.enqueue("job")
        var dead = try #require(try await queue.lease(for: .seconds(30)))
        #expect(try await queue.lease() == nil)
        time.advance(20)
        try await queue.extend(&dead, by: .seconds(30))
        time.advance(20)
        #expect(try await queue.lease() == nil)
        time.advance(11)
        let second = try #require(try await queue.lease())
        #expect(second.id == dead.id && second.attempt == 2)
        let lost = dead
        await #expect(throws: LeaseLost.self) { try await queue.complete(lost) }
        await #expect(throws: LeaseLost.self) { try await queue.fail(lost, reason: "late") }
        let results = workspace.dictionary("results")
        try await queue.complete(second) { try $0.set("done", forKey: "job", in: results) }
        await #expect(throws: LeaseLost.self) { try await queue.complete(second) }
        #expect(try results["job", as: String.self] == "done")
        #expect(try await queue.counts == (0, 0))
        try await workspace.close()
    }

    @Test func aJobThatFailsIsRetriedLaterAndThenDead() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        let id = try await queue.enqueue("job")
        for (attempt, delay) in [(1, 10.0), (2, 15.0)] {
            let lease = try #require(try await queue.lease())
            #expect(lease.attempt == attempt)
            try await queue.fail(lease, reason: "attempt \(attempt)")
            time.advance(delay - 1)
            #expect(try await queue.lease() == nil)
            time.advance(2)
        }
        let last = try #require(try await queue.lease())
        try await queue.fail(last, reason: "for good")
        #expect(try await queue.counts == (0, 1))
        let letter = try #require(try await queue.deadLetters().first)
        #expect(letter.id == id && letter.reason == "for good" && letter.attemptCount == 3)
        #expect(try await queue.revive(id))
        #expect(try await queue.lease()?.attempt == 1)
        #expect(try await !queue.revive(id))
        try await workspace.close()
    }

    @Test func aJobThatKillsItsWorkersIsDead() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        try await queue.enqueue("poison")
        for _ in 0..<3 {
            #expect(try await queue.lease() != nil)
            time.advance(31)
        }
        #expect(try await queue.lease() == nil)
        #expect(try await queue.deadLetters().map(\.payload) == ["poison"])
        try await workspace.close()
    }

    /// As after a deploy whose jobs have a property more.
    private struct Old: Codable { var name: String }
    /// A later version of it.
    private struct New: Codable {
        var name: String
        var size: Int
    }

    /// A worker of another version, which cannot read it, came by when its lease was over for a while.
    @Test func aJobIsWithOneWorkerThoughAnotherCouldNotReadIt() async throws {
        let time = Time()
        let workspace = try await Workspace.inMemory()
        let retries = JobRetries(longestDelay: .seconds(60))
        let older = JobQueue<Old>(workspace, retries: retries, now: { time.now })
        let newer = JobQueue<New>(workspace, retries: retries, now: { time.now })
        try await older.enqueue(Old(name: "job"))
        var lease = try #require(try await older.lease(for: .seconds(10)))
        time.advance(11)
        #expect(try await newer.lease() == nil)
        try await older.extend(&lease, by: .seconds(600))
        time.advance(61)
        #expect(try await older.lease() == nil)
        try await older.complete(lease)
        #expect(try await older.counts == (0, 0))
        time.advance(700)
        #expect(try await older.lease() == nil)
        try await workspace.close()
    }

    @Test func aJobThatCannotBeReadHoldsUpNoOther() async throws {
        let time = Time()
        let workspace = try await Workspace.inMemory()
        let retries = JobRetries(attemptLimit: 1, longestDelay: .seconds(60))
        let older = JobQueue<Old>(workspace, retries: retries, now: { time.now })
        let newer = JobQueue<New>(workspace, retries: retries, now: { time.now })
        try await older.enqueue(Old(name: "dead"))
        let dead = try #require(try await older.lease())
        try await older.fail(dead, reason: "no luck")
        try await older.enqueue(Old(name: "old"))
        time.advance(1)
        try await newer.enqueue(New(name: "new", size: 1))
        let lease = try #require(try await newer.lease())
        #expect(lease.payload.name == "new")
        #expect(try await newer.lease() == nil)
        try await newer.fail(lease, reason: "no luck either")
        #expect(try await newer.deadLetters().map(\.payload.name) == ["new"])
        #expect(try await newer.counts == (1, 2))
        // Who reads it does it.
        time.advance(61)
        #expect(try await older.lease()?.payload.name == "old")
        try await workspace.close()
    }

    @Test func ofManyWorkersOneGetsEachJob() async throws {
        let time = Time()
        let (workspace, queue) = try await makeQueue(time)
        for number in 0..<100 { try await queue.enqueue("\(number)") }
        let done = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var done: [String] = []
                    while let lease = try await queue.lease() {
                        done.append(lease.payload)
                        try await queue.complete(lease)
                    }
                    return done
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(done.count == 100 && Set(done).count == 100)
        try await workspace.close()
    }

    @Test func aWorkerEndsWhatItHasBegunAndTakesNoMore() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Int>(workspace)
        for number in 0..<10 { try await queue.enqueue(number) }
        let (begun, beginning) = AsyncStream.makeStream(of: Int.self)
        let doneCount = Atomic<Int>(0)
        try await testGracefulShutdown { trigger in
            let worker = JobWorker(
                queue, width: 2, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ) { lease in
                beginning.yield(lease.payload)
                try await Task.sleep(for: .milliseconds(100))
                doneCount.wrappingAdd(1, ordering: .relaxed)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.run() }
                var iterator = begun.makeAsyncIterator()
                _ = await iterator.next()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        let done = doneCount.load(ordering: .relaxed)
        #expect(done >= 1 && done < 10)
        // What is not done is there, and nobody holds it.
        #expect(try await queue.counts.pending == 10 - done)
        var leased = 0
        while try await queue.lease() != nil { leased += 1 }
        #expect(leased == 10 - done)
        try await workspace.close()
    }

    @Test func aWorkerThatIsCancelledGivesItsJobsBack() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Int>(workspace)
        try await queue.enqueue(1)
        let (begun, beginning) = AsyncStream.makeStream(of: Int.self)
        let worker = JobWorker(
            queue, width: 1, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { lease in
            beginning.yield(lease.payload)
            try await Task.sleep(for: .seconds(600))
        }
        let running = Task { try await worker.run() }
        var iterator = begun.makeAsyncIterator()
        _ = await iterator.next()
        running.cancel()
        _ = await running.result
        #expect(try await queue.lease()?.attempt == 1)
        try await workspace.close()
    }

    /// It returns as it always would: what it has done must not be done again.
    @Test func aJobThatIsDoneAsItsWorkerIsCancelledIsEnded() async throws {
        let workspace = try await Workspace.inMemory()
        // Its time stands still, so that no lease ends, however short it is.
        let queue = JobQueue<Int>(workspace, now: { Date(timeIntervalSince1970: 1_000_000) })
        let results = workspace.dictionary("results")
        for round in 1...100 {
            try await queue.enqueue(round)
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            let worker = JobWorker(
                queue, width: 1, leaseDuration: .milliseconds(1),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ) { _ in
                beginning.yield()
                // Ends where the task is cancelled; the lease is extended again and again until then.
                for await _ in AsyncStream(Void.self, { _ in }) {}
            } completing: { _, transaction in
                let count = try transaction.value(forKey: "done", as: Int.self, in: results) ?? 0
                try transaction.set(count + 1, forKey: "done", in: results)
            }
            let running = Task { try await worker.run() }
            for await _ in begun { break }
            try await Task.sleep(for: .microseconds(100 * round))
            running.cancel()
            _ = await running.result
            try #require(try await queue.counts == (0, 0), "round \(round)")
            try #require(try results["done", as: Int.self] == round)
        }
        try await workspace.close()
    }

    /// A page of HTML, say, that is larger than an engine takes at once.
    @Test func ofALongReasonTheBeginIsKept() async throws {
        func check(_ workspace: some KeyValueWorkspace, _ reason: String) async throws -> String {
            let queue = JobQueue<String>(workspace, retries: .init(attemptLimit: 1))
            try await queue.enqueue("payload", id: "job")
            try await queue.fail(try #require(try await queue.lease()), reason: reason)
            #expect(try await queue.counts == (0, 1))
            return try #require(try await queue.deadLetters().first).reason
        }
        let files = try await Workspace.inMemory()
        let engine = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine()), namespace: "test")
        // Of four bytes each, and begun so that the limit is within one.
        let long = "abc" + String(repeating: "🥚", count: 500_000)
        let kept = "abc" + String(repeating: "🥚", count: 1023) + "…"
        #expect(try await check(files, long) == kept)
        #expect(try await check(engine, long) == kept)
        let short = String(repeating: "e\u{301}", count: 1000)
        #expect(try await check(files, short) == short)
        #expect(try await check(engine, short) == short)
        try await files.close()
    }

    @Test func aDelayMayBeAsGoodAsForEver() async throws {
        let time = Time()
        let workspace = try await Workspace.inMemory()
        let always = Duration.seconds(Int64.max)
        let retries = JobRetries(firstDelay: always / 2, longestDelay: always)
        let older = JobQueue<Old>(workspace, retries: retries, now: { time.now })
        let newer = JobQueue<New>(workspace, retries: retries, now: { time.now })
        try await older.enqueue(Old(name: "never"), delay: always)
        try await older.enqueue(Old(name: "failing"))
        var failing = try #require(try await older.lease(for: always))
        #expect(failing.payload.name == "failing")
        try await older.extend(&failing, by: always)
        try await older.fail(failing, reason: "no luck")
        try await older.enqueue(Old(name: "unreadable"))
        // Unreadable ones stand back for the longest delay.
        #expect(try await newer.lease() == nil)
        time.advance(1_000_000_000)
        #expect(try await older.lease() == nil)
        #expect(try await older.counts == (3, 0))
        try await workspace.close()
    }

    @Test(arguments: [(1, 10), (2, 20), (3, 40), (4, 45), (1_000, 45)])
    func aDelayIsDoubledUpToTheLongest(_ attempt: Int, _ seconds: Int) {
        let retries = JobRetries(firstDelay: .seconds(10), longestDelay: .seconds(45))
        #expect(retries.delay(afterAttempt: attempt) == .seconds(seconds))
        let endless = JobRetries(firstDelay: .seconds(Int64.max), longestDelay: .seconds(Int64.max))
        #expect(endless.delay(afterAttempt: attempt) == .seconds(Int64.max))
    }
}
