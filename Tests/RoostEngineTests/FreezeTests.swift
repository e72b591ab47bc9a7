import RoostFormat
import RoostTestSupport
import Testing

@testable import RoostEngine
@testable import RoostLog

@Suite struct FreezeTests {
    /// The story: a synced write waits for its sync; an ordinary write of the same key overtakes
    /// it; a flush that began before both freezes the newer one. When the sync returns, the older
    /// record must not come to stand above the newer one.
    @Test func aWriteThatOvertookAStagedOneStaysTheNewest() async throws {
        let fixture = ShardFixture()
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
        fixture.shard.foldResolved()
        _ = await frozen
        #expect(try fixture.read("k") == 2)
        _ = await fixture.shard.install(.none, dropsFrozen: false)
        #expect(try fixture.read("k") == 2)
    }

    /// The story: a batch is in the log, and its thread is held up before it could say so; a
    /// flush must not call everything up to it flushed, for its segment is then removed.
    @Test func aBatchThatIsBeingAppendedIsWaitedFor() async throws {
        let fixture = ShardFixture()
        let batch = fixture.batch(7, "k")
        let token = BatchToken()
        try await fixture.shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        let appended = try fixture.storage.append(batch, isAwaited: false)
        async let frozen = fixture.shard.freeze(through: appended.sequence)
        for _ in 0..<100 { await Task.yield() }
        token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        fixture.shard.hold(appended)
        token.commit()
        fixture.shard.foldResolved()
        let table = try #require(await frozen.table)
        #expect(table.count == 1)
        #expect(try fixture.read("k") == 7)
    }

    @Test func aBatchPreparedAfterTheFreezeBeganDoesNotHoldItUp() async throws {
        let fixture = ShardFixture()
        try await fixture.write(1, "k")
        let table = await fixture.shard.freeze(through: 1).table
        #expect(table?.count == 1)
        let batch = fixture.batch(2, "k")
        try await fixture.shard.prepare(
            StagedBatch(
                token: BatchToken(),
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        #expect(try fixture.read("k") == 1)
    }

    @Test func aThawedTableStandsUnderNewerWrites() async throws {
        let fixture = ShardFixture()
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
