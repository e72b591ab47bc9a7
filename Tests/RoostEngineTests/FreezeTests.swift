import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine
@testable import RoostLog

/// A log in memory: hands out sequence numbers and keeps the frames.
private final class MemoryStorage: Storage {
    private let region = MappedRegion.anonymous(sizeBytes: 1 << 16)
    private let state = Mutex((offset: 0, sequence: UInt64(0)))

    func append(
        payloadCount: Int, isAwaited: Bool, fill: (UnsafeMutableRawPointer) -> Void
    ) throws -> LogWriter.Appended {
        state.withLock { state in
            let start = region.base + state.offset
            fill(start + Frame.headerSizeBytes)
            state.sequence += 1
            Frame.finish(
                at: start, payloadCount: payloadCount, sequence: state.sequence,
                durableSequence: 0, flags: .none, seed: ChecksumSeed(1))
            state.offset += Frame.sizeBytes(payloadCount: payloadCount)
            return .init(
                sequence: state.sequence, location: UInt(bitPattern: start), region: region,
                totalBytes: UInt64(state.offset))
        }
    }
}

private struct Fixture {
    let storage = MemoryStorage()
    let seed = HashSeed(first: 3, second: 4)
    let name = DictionaryName("d")!
    let shard: Shard

    init() {
        shard = Shard(hashSeed: seed, residentBudgetBytes: 1 << 20, storage: storage)
    }

    func hash(_ key: String) -> UInt64 { name.withRecordKey(key) { seed.hash($0) } }

    func value(_ number: Int) -> EncodedValue {
        EncodedValue(kind: ValueKind.uint8.rawValue, payload: .inline(UInt64(number), count: 1))
    }

    func write(_ number: Int, _ key: String) async throws {
        _ = try await shard.writeWaiting(value(number), key: key, name: name, hash: hash(key))
    }

    func read(_ key: String) throws -> UInt8? {
        try name.withRecordKey(key) { bytes in
            try shard.find(bytes, seed.wideHash(bytes), isResidentAllowed: true)?.bytes.last
        }
    }

    /// A batch of one put, laid out for the log.
    func batch(_ number: Int, _ key: String) -> EncodedBatch {
        var batch = EncodedBatch(hashSeed: seed)
        batch.put(value(number), forKey: key, in: name)
        return batch
    }
}

@Suite struct FreezeTests {
    /// The story: a synced write waits for its sync; an ordinary write of the same key overtakes
    /// it; a flush that began before both freezes the newer one. When the sync returns, the older
    /// record must not come to stand above the newer one.
    @Test func aWriteThatOvertookAStagedOneStaysTheNewest() async throws {
        let fixture = Fixture()
        try await fixture.write(0, "other")
        let token = BatchToken()
        _ = try await fixture.shard.stageWrite(
            fixture.value(1), key: "k", name: fixture.name, hash: fixture.hash("k"), token: token)
        try await fixture.write(2, "k")
        #expect(try fixture.read("k") == 2)
        async let frozen = fixture.shard.freeze(through: 1)
        // Commits as `Engine.settle` does, whether the freeze has begun to wait or not.
        for _ in 0..<100 { await Task.yield() }
        token.commit()
        #expect(try fixture.read("k") == 2)
        await fixture.shard.foldResolved()
        _ = await frozen
        #expect(try fixture.read("k") == 2)
        await fixture.shard.install(SnapshotList([]), dropsFrozen: false)
        #expect(try fixture.read("k") == 2)
    }

    /// The story: a batch is in the log, and its thread is held up before it could say so; a
    /// flush must not call everything up to it flushed, for its segment is then removed.
    @Test func aBatchThatIsBeingAppendedIsWaitedFor() async throws {
        let fixture = Fixture()
        let batch = fixture.batch(7, "k")
        let token = BatchToken()
        await fixture.shard.prepare(
            StagedBatch(
                token: token, changes: batch.changes, dictionaries: batch.dictionaries, clears: [],
                isSingle: false))
        let appended = try fixture.storage.append(batch, isAwaited: false)
        async let frozen = fixture.shard.freeze(through: appended.sequence)
        for _ in 0..<100 { await Task.yield() }
        token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        await fixture.shard.hold(appended)
        token.commit()
        await fixture.shard.foldResolved()
        let table = try #require(await frozen.table)
        #expect(table.count == 1)
        #expect(try fixture.read("k") == 7)
    }

    @Test func aBatchPreparedAfterTheFreezeBeganDoesNotHoldItUp() async throws {
        let fixture = Fixture()
        try await fixture.write(1, "k")
        let table = await fixture.shard.freeze(through: 1).table
        #expect(table?.count == 1)
        let batch = fixture.batch(2, "k")
        await fixture.shard.prepare(
            StagedBatch(
                token: BatchToken(), changes: batch.changes, dictionaries: batch.dictionaries,
                clears: [], isSingle: false))
        #expect(try fixture.read("k") == 1)
    }

    @Test func aThawedTableStandsUnderNewerWrites() async throws {
        let fixture = Fixture()
        try await fixture.write(1, "a")
        try await fixture.write(1, "b")
        _ = await fixture.shard.freeze(through: 2)
        try await fixture.write(2, "b")
        try await fixture.write(2, "c")
        await fixture.shard.thaw()
        #expect(try fixture.read("a") == 1)
        #expect(try fixture.read("b") == 2)
        #expect(try fixture.read("c") == 2)
        let again = await fixture.shard.freeze(through: 4).table
        #expect(again?.count == 3)
    }
}
