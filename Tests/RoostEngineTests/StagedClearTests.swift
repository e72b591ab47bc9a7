import RoostFormat
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine
@testable import RoostLog

@Suite(.timeLimit(.minutes(5))) struct StagedClearTests {
    /// The story: a batch empties a dictionary and sets it anew, and is committed while somebody reads a key. Who looked for
    /// what it has written before it was committed, and for what it has emptied after that, found nothing there.
    @Test func aDictionaryThatIsSetAnewIsNeverEmptyForAMoment() async throws {
        let fixture = ShardFixture()
        try await fixture.write(0, "k")
        let next = Mutex<BatchToken?>(nil)
        let isOver = Mutex(false)
        let committing = taskOnItsOwnThread {
            while !isOver.withLock({ $0 }) {
                let token = next.withLock { next -> BatchToken? in
                    defer { next = nil }
                    return next
                }
                token?.commit()
            }
        }
        var missedCount = 0
        do {
            defer { isOver.withLock { $0 = true } }
            for number in 1...250 {
                let token = try await stage(number, fixture)
                next.withLock { $0 = token }
                while token.isPending {
                    if try fixture.read("k") == nil { missedCount += 1 }
                }
                fixture.shard.foldResolved()
            }
        }
        try await committing.value
        #expect(missedCount == 0)
        #expect(try fixture.read("k") == 250)
    }

    /// A batch that empties the dictionary and sets `k`, and is in the log.
    private func stage(_ number: Int, _ fixture: ShardFixture) async throws -> BatchToken {
        var batch = EncodedBatch(hashSeed: fixture.seed)
        batch.clear(fixture.name)
        batch.put(fixture.value(number), forKey: "k", in: fixture.name)
        let token = BatchToken()
        try await fixture.shard.prepare(
            StagedBatch(
                token: token,
                claim: Claim(.batch(batch), changes: batch.changes, clears: batch.clears)))
        let appended = try fixture.storage.append(batch, isAwaited: false)
        token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        fixture.shard.hold(appended)
        return token
    }
}
