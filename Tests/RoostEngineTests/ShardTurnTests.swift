import Foundation
import RoostFormat
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
        guard case .done(let appended) = outcome else { return .somethingComesFirst }
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

    /// Its outcome is not known yet, and it may be of this key.
    @Test func nothingIsWrittenAtOnceWhileABatchIsStaged() async throws {
        let batch = fixture.batch(1, "k")
        let token = BatchToken()
        await fixture.shard.prepare(
            StagedBatch(
                token: token, changes: batch.changes, dictionaries: batch.dictionaries, clears: [],
                isSingle: false))
        #expect(try writeAtOnce(2, "k") == nil)
        #expect(try writeAtOnce(2, "other") == nil)
        #expect(try replaceAtOnce(2, "k", at: 0) == .somethingComesFirst)
        #expect(try fixture.read("k") == nil)
        token.abort()
        await fixture.shard.foldResolved()
        #expect(try writeAtOnce(3, "k") == 1)
        #expect(try fixture.read("k") == 3)
    }

    @Test func whatIsEnqueuedComesBeforeAWrite() async throws {
        _ = try fixture.shard.enqueue(
            fixture.value(1), key: "k", name: fixture.name, hash: fixture.hash("k"))
        #expect(try writeAtOnce(2, "k") == nil)
        #expect(try replaceAtOnce(2, "k", at: 0) == .somethingComesFirst)
        try await fixture.write(2, "k")
        #expect(try fixture.read("k") == 2)
        // The enqueued write has the first number.
        #expect(try writeAtOnce(3, "k") == 3)
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
}
