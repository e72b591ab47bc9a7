import Foundation
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine
@testable import RoostLog

/// What whoever has a shard's turn may rest on, and what it must not do with it.
@Suite(.timeLimit(.minutes(5))) struct TurnRulesTests {
    /// The story: a holder of the turn looks which batches are staged, and once more later; between its
    /// looks a view began that folded a committed one, so that a later write passed an earlier one.
    @Test func aViewFoldsACommittedBatchOnlyUnderTheTurn() async throws {
        let engine = try await Engine.open(
            at: "/view", fileSystem: MemoryFileSystem(), configuration: EngineConfiguration())
        let name = DictionaryName("d")!
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        batch.put(
            EncodedValue(kind: ValueKind.uint8.rawValue, payload: .inline(7, count: 1)),
            forKey: "k", in: name)
        let shard = engine.shard(of: batch.changes[0].hash)
        let token = BatchToken()
        try await shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        let appended = try engine.log!.append(batch, isAwaited: false)
        token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        shard.hold(appended)
        let isHeld = DispatchSemaphore(value: 0)
        let seen = Mutex<Bool?>(nil)
        let viewer = taskOnItsOwnThread {
            isHeld.wait()
            let found = try engine.view().contains("k", name: name)
            seen.withLock { $0 = found }
        }
        shard.turn.withLock { _ in
            engine.publication.withLock { token.commit() }
            isHeld.signal()
            Thread.sleep(forTimeInterval: 0.05)
            #expect(shard.published.withLock { $0.staged.count } == 1)
            #expect(seen.withLock { $0 } == nil)
        }
        try await viewer.value
        #expect(seen.withLock { $0 } == true)
        #expect(shard.published.withLock { $0.staged.count } == 0)
        try await engine.close()
    }

    /// The story: `synchronize` found nothing enqueued any more and asked what was lost, and the loss was
    /// noted after that.
    @Test func whoSeesThatNothingIsEnqueuedFindsWhatWasLost() async throws {
        for _ in 0..<300 {
            let storage = MemoryStorage()
            let behind = WriteBehind(condition: EngineCondition(isReadOnly: false))
            let shard = Shard(
                hashSeed: HashSeed(first: 3, second: 4), residentBudgetBytes: 1 << 20,
                behind: behind, storage: storage)
            let name = DictionaryName("d")!
            var batch = EncodedBatch(hashSeed: HashSeed(first: 3, second: 4))
            batch.remove("k", in: name)
            let token = BatchToken()
            try await shard.prepare(
                StagedBatch(
                    token: token,
                    claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
            storage.hook.withLock { $0 = { throw RoostError(.outOfSpace, "the test says so") } }
            _ = try shard.enqueue(nil, key: "k", name: name, hash: batch.changes[0].hash)
            let watcher = taskOnItsOwnThread {
                await shard.waitForEnqueued()
                #expect(throws: RoostError.self) { try behind.failures.throwUnreported() }
            }
            token.abort()
            shard.foldResolved()
            try await watcher.value
        }
    }

    /// A clock may be anybody's code, and may ask the workspace something.
    @Test func theClockIsAskedWithNoLockHeld() async throws {
        let looked = Mutex<Engine?>(nil)
        let isAsked = Atomic(false)
        let isHeld = Atomic(false)
        var configuration = EngineConfiguration()
        configuration.durability = .process
        configuration.wallClock = {
            guard let engine = looked.withLock({ $0 }) else { return 1000 }
            isAsked.store(true, ordering: .relaxed)
            for shard in engine.shards {
                let isFree =
                    shard.turn.withLockIfAvailable { _ in true } != nil
                    && shard.published.withLockIfAvailable { _ in true } != nil
                if !isFree { isHeld.store(true, ordering: .relaxed) }
            }
            return 1000
        }
        let engine = try await Engine.open(
            at: "/clock", fileSystem: MemoryFileSystem(), configuration: configuration)
        let name = DictionaryName("d")!
        let value = EncodedValue(kind: ValueKind.uint8.rawValue, payload: .inline(7, count: 1))
        let mortal = value.with(deadline: Deadline(milliseconds: 5000))
        for key in ["a", "b", "c"] {
            _ = try await engine.write(mortal, key: key, name: name, durability: nil)
        }
        looked.withLock { $0 = engine }
        let version = try engine.findVersioned("a", name: name).version
        #expect(
            try await engine.write(
                mortal, key: "a", name: name, if: version, durability: nil) != nil)
        for durability in [Durability.process, .synced] {
            var attempt = EngineTransaction(engine)
            #expect(try attempt.contains("a", name: name))
            #expect(try attempt.contains("b", name: name))
            try attempt.put(mortal, forKey: "c", in: name)
            let (batch, reads) = (attempt.batch, attempt.reads!)
            let sequence = try await engine.commit(batch, reads: reads, durability: durability)
            #expect(sequence != nil)
            reads.view.close()
        }
        looked.withLock { $0 = nil }
        let (wasAsked, wasHeld) = (
            isAsked.load(ordering: .relaxed), isHeld.load(ordering: .relaxed)
        )
        #expect(wasAsked && !wasHeld)
        try await engine.close()
    }

    /// Who is resumed under a mutex may want that mutex, on the same thread.
    @Test func whoWaitedIsResumedWithoutTheTurn() async throws {
        let fixture = ShardFixture()
        let shard = fixture.shard
        let executor = LookingExecutor { shard.turn.withLockIfAvailable { _ in true } != nil }
        let batch = fixture.batch(1, "k")
        let token = BatchToken()
        try await shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        let writer = Task.detached(executorPreference: executor) {
            try await fixture.write(2, "k")
        }
        while shard.turn.withLock({ $0.queue.isEmpty }) { await Task.yield() }
        token.abort()
        shard.foldResolved()
        try await writer.value
        let wasAlwaysFree = executor.wasAlwaysFree.load(ordering: .relaxed)
        #expect(wasAlwaysFree)
        #expect(try fixture.read("k") == 2)
    }
}

/// Runs tasks on a thread, and looks at each job that is handed to it whether a lock is free.
private final class LookingExecutor: TaskExecutor {
    private let thread = WorkerThread(name: "test")
    private let isFree: @Sendable () -> Bool
    let wasAlwaysFree = Atomic(true)

    init(isFree: @escaping @Sendable () -> Bool) { self.isFree = isFree }

    func enqueue(_ job: consuming ExecutorJob) {
        if !isFree() { wasAlwaysFree.store(false, ordering: .relaxed) }
        thread.forTasks.enqueue(job)
    }
}
