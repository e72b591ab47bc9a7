import Foundation
import Logging
import Roost
import RoostShared
import Synchronization
import Testing

@testable import RoostServices

/// A job is with one worker for as long as it is being done, however its worker ends.
@Suite(.timeLimit(.minutes(5))) struct JobWorkerLeaseTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Whether `condition` holds within a minute.
    private func holds(_ condition: () throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while try !condition() {
            if ContinuousClock.now > end { return false }
            try await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// Where a lease is extended, its job has another.
    private func dueKeys(
        _ queue: JobQueue<Int>, in workspace: Workspace
    ) throws -> [String] {
        try workspace.dictionary(queue.due.name).page(as: String.self, limit: 10).map(\.key)
    }

    /// The end of a group's grace cancels the worker, and not every job looks at that.
    @Test func aJobThatIgnoresItsCancellationKeepsItsLease() async throws {
        // It goes on only once the lease was extended, so that no pause of this machine ends one.
        let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Int>(workspace, now: { time.withLock { $0 } })
        let results = workspace.dictionary("results")
        try await queue.enqueue(1)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (ended, ending) = AsyncStream.makeStream(of: Void.self)
        let worker = JobWorker(
            queue, width: 1, leaseDuration: .milliseconds(30), logger: silent
        ) { _ in
            beginning.yield()
            // The job's own task is cancelled, and this one is not.
            await Task { for await _ in ended {} }.value
        } completing: { lease, transaction in
            let count = try transaction.value(forKey: "done", as: Int.self, in: results) ?? 0
            try transaction.set(count + 1, forKey: "done", in: results)
            try transaction.set(lease.attempt, forKey: "attempt", in: results)
        }
        let running = Task { try await worker.run() }
        for await _ in begun { break }
        running.cancel()
        // More than two leases.
        for step in 1...5 {
            let lastEnd = try dueKeys(queue, in: workspace)
            time.withLock { $0 += 0.02 }
            #expect(try await queue.lease() == nil, "another worker has the job, step \(step)")
            let isExtended = try await holds { try dueKeys(queue, in: workspace) != lastEnd }
            #expect(isExtended, "nobody extends the lease, step \(step)")
            if !isExtended { break }
        }
        ending.finish()
        _ = await running.result
        #expect(try results["done", as: Int.self] == 1)
        #expect(try results["attempt", as: Int.self] == 1)
        #expect(try await queue.counts == (0, 0))
        try await workspace.close()
    }

    /// A pause behind each extension would have the next come too late.
    @Test func aJobWhoseLeaseTakesMoreThanAThirdOfItToExtendIsKept() async throws {
        var isKept = false
        // A machine that stands still until the lease ends takes the job from it, rightly, and one that is late with everything
        // does so with each short lease: then the next round counts, whose lease is longer.
        for seconds in [5, 10, 20, 40] where !isKept {
            isKept = try await keepsJob(leaseFor: .seconds(seconds))
        }
        #expect(isKept)
    }

    /// Whether no other worker gets a job that is being done for longer than its first lease, where each commit takes more
    /// than a third of that.
    private func keepsJob(leaseFor duration: Duration) async throws -> Bool {
        let memory = MemoryEngine()
        let engine = RefusingEngine(memory)
        let slow = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let quick = try await SharedWorkspace.connect(to: .memory(memory), namespace: "test")
        let (own, others) = (JobQueue<Int>(slow), JobQueue<Int>(quick))
        try await others.enqueue(1)
        engine.setCommitDuration(duration * 36 / 100)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let worker = JobWorker(own, width: 1, leaseDuration: duration, logger: silent) { _ in
            beginning.yield()
            try await Task.sleep(for: .seconds(600))
        }
        let running = Task { try await worker.run() }
        for await _ in begun { break }
        let end = ContinuousClock.now + duration * 3 / 2
        var isTaken = false
        while !isTaken, ContinuousClock.now < end {
            isTaken = try await others.lease() != nil
            try await Task.sleep(for: .milliseconds(20))
        }
        running.cancel()
        _ = await running.result
        await slow.close()
        await quick.close()
        return !isTaken
    }

    /// The engine says nothing: another worker may get the job, and this one is told before.
    @Test func aJobThatMayBeAnothersIsCancelled() async throws {
        var isCancelledFirst = false
        // A machine that stands still at the lease's end has the other one come first, rightly: then the next round counts,
        // whose lease is longer.
        for seconds in [5, 10, 20, 40] where !isCancelledFirst {
            let end = try await endsOfALease(of: .seconds(seconds))
            isCancelledFirst = try #require(end.ofTheJob) <= end.ofTheLease
        }
        #expect(isCancelledFirst)
    }

    /// When a job was cancelled whose worker's engine does not answer, and when another worker got it.
    private func endsOfALease(
        of duration: Duration
    ) async throws -> (
        ofTheJob: ContinuousClock.Instant?, ofTheLease: ContinuousClock.Instant
    ) {
        let memory = MemoryEngine()
        let engine = RefusingEngine(memory)
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let other = try await SharedWorkspace.connect(to: .memory(memory), namespace: "test")
        let (own, others) = (JobQueue<Int>(shared), JobQueue<Int>(other))
        try await others.enqueue(1)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let cancellation = Mutex<ContinuousClock.Instant?>(nil)
        let worker = JobWorker(own, width: 1, leaseDuration: duration, logger: silent) { _ in
            beginning.yield()
            do { try await Task.sleep(for: .seconds(600)) } catch {
                cancellation.withLock { $0 = .now }
                throw error
            }
        }
        let running = Task { try await worker.run() }
        for await _ in begun { break }
        engine.setRefusing(true)
        while try await others.lease() == nil { try await Task.sleep(for: .milliseconds(20)) }
        let end = ContinuousClock.now
        // It is told by itself, and not by what the engine says then.
        let cancelled = cancellation.withLock { $0 }
        running.cancel()
        engine.setRefusing(false)
        _ = await running.result
        await shared.close()
        await other.close()
        return (cancelled ?? cancellation.withLock { $0 }, end)
    }

    /// A job may do those of another queue, and lose one of them.
    @Test func aLostLeaseOfAnotherQueueIsAFailure() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Int>(workspace, retries: .init(attemptLimit: 1))
        try await queue.enqueue(1, id: "job")
        let worker = JobWorker(
            queue, width: 1, leaseDuration: .seconds(3600), pollInterval: .milliseconds(5),
            logger: silent
        ) { _ in throw LeaseLost() }
        let running = Task { try await worker.run() }
        let isDead = try await holds { try workspace.dictionary("jobs.dead").count == 1 }
        running.cancel()
        _ = await running.result
        #expect(isDead)
        #expect(try await queue.counts == (0, 1))
        try await workspace.close()
    }
}
