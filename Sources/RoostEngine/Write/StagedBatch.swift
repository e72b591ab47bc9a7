import RoostFormat
import Synchronization

/// The outcome of one batch, shared by every shard that it touches: whoever reads it sees the
/// batch whole or not at all, because one store decides for all shards.
///
/// - `frame` and `appended` are set before `outcome`, once.
/// - `outcome` goes from pending to committed or aborted, once.
final class BatchToken: Sendable {
    private enum Outcome {
        static let pending: UInt8 = 0
        static let committed: UInt8 = 1
        static let aborted: UInt8 = 2
    }

    private let outcome = Atomic<UInt8>(Outcome.pending)
    private let frame = Atomic<UInt>(0)
    private let appended = Atomic<UInt64>(0)

    var isCommitted: Bool { outcome.load(ordering: .acquiring) == Outcome.committed }
    var isPending: Bool { outcome.load(ordering: .acquiring) == Outcome.pending }
    /// The address of the batch's frame, once it has one.
    var frameLocation: UInt { frame.load(ordering: .relaxed) }
    /// The batch's sequence number; zero before it is in the log.
    var sequence: UInt64 { appended.load(ordering: .acquiring) }

    func noteAppended(sequence: UInt64, frameLocation: UInt) {
        frame.store(frameLocation, ordering: .relaxed)
        appended.store(sequence, ordering: .releasing)
    }

    func commit() { outcome.store(Outcome.committed, ordering: .releasing) }
    func abort() { outcome.store(Outcome.aborted, ordering: .releasing) }
}

/// One shard's part of a batch that is not in its table yet: it waits for a sync, or for the
/// other shards. A class, as each look at what is staged would else copy a whole claim.
final class StagedBatch: Sendable {
    let token: BatchToken
    let claim: Claim

    init(token: BatchToken, claim: Claim) {
        self.token = token
        self.claim = claim
    }

    var changes: [EncodedBatch.Change] { claim.changes }
    var clears: [[UInt8]] { claim.clears }
    var isSingle: Bool { claim.isSingle }

    /// The batch's operation on `key`, the last where there are several.
    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Operation? {
        for change in changes.reversed() where change.hash == hash {
            let operation = Operation(location: token.frameLocation + UInt(change.frameOffset))
            if equalBytes(operation.key, key) { return operation }
        }
        return nil
    }
}
