import Foundation
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine
@testable import RoostLog

@Suite struct ShardTurnTests {
    private let fixture = ShardFixture()

    private static func writeAtOnce(
        _ number: Int, _ key: String, _ fixture: ShardFixture,
        behind signal: DispatchSemaphore? = nil
    ) throws -> UInt64? {
        signal?.wait()
        return try fixture.name.withRecordKey(key) { recordKey in
            try fixture.shard.writeAtOnce(
                fixture.value(number), recordKey, hash: fixture.hash(key))
        }?.sequence
    }

    private func writeAtOnce(_ number: Int, _ key: String) throws -> UInt64? {
        try Self.writeAtOnce(number, key, fixture)
    }

    private enum Replacement: Equatable {
        case made(UInt64)
        case refused, somethingComesFirst
    }

    private func replaceAtOnce(
        _ number: Int, _ key: String, at sequence: UInt64
    ) throws -> Replacement {
        let outcome = try fixture.shard.writeAtOnce(
            fixture.value(number), key: key, name: fixture.name, hash: fixture.hash(key),
            if: RecordVersion(sequence: sequence))
        guard case .some(let appended) = outcome else { return .somethingComesFirst }
        return appended.map { .made($0.sequence) } ?? .refused
    }

    @Test func aFreeShardIsWrittenToOnTheCallersThread() throws {
        #expect(try writeAtOnce(1, "k") == 1)
        #expect(try writeAtOnce(2, "k") == 2)
        #expect(try fixture.read("k") == 2)
    }

    @Test func aConditionIsCheckedOnTheCallersThread() throws {
        #expect(try writeAtOnce(1, "k") == 1)
        #expect(try replaceAtOnce(2, "k", at: 1) == .made(2))
        #expect(try replaceAtOnce(3, "k", at: 1) == .refused)
        #expect(try fixture.read("k") == 2)
    }

    /// Its outcome is not known yet.
    @Test func aKeyOfAStagedBatchIsNotWrittenAtOnceAndOthersAre() async throws {
        let batch = fixture.batch(1, "k")
        let token = BatchToken()
        try await fixture.shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        #expect(try writeAtOnce(2, "k") == nil)
        #expect(try writeAtOnce(2, "other") == 1)
        #expect(try replaceAtOnce(2, "k", at: 0) == .somethingComesFirst)
        #expect(try fixture.read("k") == nil)
        token.abort()
        fixture.shard.foldResolved()
        #expect(try writeAtOnce(3, "k") == 2)
        #expect(try fixture.read("k") == 3)
    }

    @Test func whatIsEnqueuedIsWrittenAtOnceWhereNothingComesFirst() throws {
        let enqueued = try fixture.shard.enqueue(
            fixture.value(1), key: "k", name: fixture.name, hash: fixture.hash("k"))
        #expect(enqueued?.sequence == 1)
        #expect(try fixture.read("k") == 1)
        #expect(fixture.shard.published.withLock { $0.enqueued == nil })
    }

    @Test func whatIsEnqueuedComesBeforeAWriteThatCameLater() async throws {
        let batch = fixture.batch(1, "k")
        let token = BatchToken()
        try await fixture.shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        let (fixture, hash) = (fixture, fixture.hash("k"))
        for value in 2...3 {
            let enqueued = try fixture.shard.enqueue(
                fixture.value(value), key: "k", name: fixture.name, hash: hash)
            #expect(enqueued == nil)
            #expect(try fixture.read("k") == UInt8(value))
        }
        async let write: Void = fixture.write(4, "k")
        while fixture.shard.turn.withLock({ $0.queue.count }) < 2 { await Task.yield() }
        _ = try fixture.shard.enqueue(fixture.value(5), key: "k", name: fixture.name, hash: hash)
        #expect(try writeAtOnce(6, "k") == nil)
        #expect(fixture.storage.lastSequence == 0)
        token.abort()
        fixture.shard.foldResolved()
        try await write
        #expect(try fixture.read("k") == 5)
        #expect(fixture.storage.lastSequence == 4)
        #expect(fixture.shard.published.withLock { $0.enqueued == nil })
        #expect(try writeAtOnce(6, "k") == 5)
    }

    @Test func whoHasTheTurnIsNotDisturbed() async throws {
        let fixture = fixture
        let isHeld = DispatchSemaphore(value: 0)
        let writer = taskOnItsOwnThread {
            let sequence = try Self.writeAtOnce(1, "k", fixture, behind: isHeld)
            #expect(sequence == 1)
        }
        fixture.shard.turn.withLock { _ in
            isHeld.signal()
            Thread.sleep(forTimeInterval: 0.05)
            #expect(fixture.storage.lastSequence == 0)
        }
        try await writer.value
        #expect(try fixture.read("k") == 1)
    }

    /// The story: a put on another thread is in the log and not yet in the table; a flush that counts
    /// its frame as flushed must not miss it, for the frame's segment is then removed.
    @Test func aFreezeWaitsForAPutOnAnotherThread() async throws {
        let fixture = fixture
        let gate = Gate()
        gate.close()
        fixture.storage.hook.withLock { $0 = { gate.pass() } }
        let writer = taskOnItsOwnThread { _ = try Self.writeAtOnce(1, "k", fixture) }
        await gate.waitForArrival()
        let isFrozen = Mutex(false)
        // On a thread of its own: the freeze holds one of the pool's, which may have no other.
        let opener = taskOnItsOwnThread {
            try await Task.sleep(for: .milliseconds(50))
            #expect(isFrozen.withLock { !$0 })
            gate.open()
        }
        let table = await fixture.shard.freeze(through: fixture.storage.lastSequence).table
        isFrozen.withLock { $0 = true }
        #expect(table?.count == 1)
        try await opener.value
        try await writer.value
    }

    // MARK: Places

    @Test func placesAreHeldOneAfterAnotherAndACancelledOneIsGivenBack() async throws {
        let (shard, hash) = (fixture.shard, fixture.hash("k"))
        let claim = shard.claim("k", fixture.name, hash: hash, rests: true)
        let first = try await shard.takePlace(claim)
        let second = Task { try await shard.takePlace(claim) }
        while shard.turn.withLock({ $0.queue.count }) < 2 { await Task.yield() }
        let third = Task { try await shard.takePlace(claim) }
        while shard.turn.withLock({ $0.queue.count }) < 3 { await Task.yield() }
        #expect(try writeAtOnce(1, "k") == nil)
        #expect(try writeAtOnce(1, "other") == 1)
        second.cancel()
        await #expect(throws: RoostError.self) { try await second.value }
        #expect(shard.turn.withLock { $0.queue.count } == 2)
        shard.giveBack(first)
        let number = try await third.value
        #expect(shard.turn.withLock { $0.holdsPlace(number) })
        shard.giveBack(number)
        #expect(try writeAtOnce(2, "k") == 2)
    }

    /// The story: a conditional write had its place and its task was cancelled before it went on. Its place went to
    /// others, and it made its change all the same.
    @Test func whoIsCancelledBeforeItGoesOnDoesNotActOnThePlaceThatItLost() async throws {
        let (fixture, shard) = (fixture, fixture.shard)
        let claim = shard.claim("k", fixture.name, hash: fixture.hash("k"), rests: true)
        let first = try await shard.takePlace(claim)
        let executor = HeldExecutor()
        let isChanged = Atomic(false)
        let change = Task(executorPreference: executor) {
            try await shard.inOwnPlace(claim, until: .never) { _ in
                isChanged.store(true, ordering: .relaxed)
            }
        }
        while shard.turn.withLock({ $0.queue.count }) < 2 { executor.runAll() }
        // Goes on once the executor lets it.
        shard.giveBack(first)
        change.cancel()
        let batch = fixture.batch(1, "k")
        let token = BatchToken()
        try await shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        executor.open()
        let error = await #expect(throws: RoostError.self) { try await change.value }
        #expect(error?.code == .cancelled)
        let wasChanged = isChanged.load(ordering: .relaxed)
        #expect(!wasChanged)
        token.abort()
        shard.foldResolved()
        #expect(shard.turn.withLock { $0.queue.isEmpty })
    }

    /// The story: a transaction had its turn and waited for room in the log; the flush that was to make
    /// room waited for a batch that was staged in one shard, and that waited for the transaction in another.
    @Test(.timeLimit(.minutes(10))) func whoHasItsTurnWaitsForNoRoom() async throws {
        let engine = try await Engine.open(
            at: "/room", fileSystem: MemoryFileSystem(), configuration: EngineConfiguration())
        var first = EngineTransaction(engine)
        #expect(try !first.contains("k", name: fixture.name))
        try first.put(fixture.value(1), forKey: "k", in: fixture.name)
        let reads = first.reads!
        var turn = TransactionTurn(engine)
        try await turn.take(for: reads, first.batch, longest: .zero)
        engine.condition.stall()
        let places = turn.places(for: reads, first.batch)
        let batch = first.batch
        let sequence = try await engine.commit(
            batch, reads: reads, durability: .process, places: places)
        #expect(sequence == 1)
        first.close()
        engine.condition.release()
        try await engine.close()
    }
}

/// Runs jobs when a test says so, on its thread; from `open` on at once.
private final class HeldExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isOpen = false
    }

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let runsNow = state.withLock { state in
            if !state.isOpen { state.jobs.append(job) }
            return state.isOpen
        }
        if runsNow { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs those that are there.
    func runAll() {
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    func open() {
        state.withLock { $0.isOpen = true }
        runAll()
    }
}
