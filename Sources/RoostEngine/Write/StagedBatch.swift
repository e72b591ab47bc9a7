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
/// other shards.
struct StagedBatch: Sendable {
    let token: BatchToken
    let changes: [EncodedBatch.Change]
    let dictionaries: Set<[UInt8]>
    let clears: [[UInt8]]
    /// Whether the whole batch changes one key only: then a later write of that key need not
    /// wait for it, since nobody can tell that the batch was ever visible.
    let isSingle: Bool
    /// What its outcome rests on, and what nobody may change until it is resolved.
    var reads: ShardReads?

    /// The batch's operation on `key`, the last where there are several.
    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Operation? {
        for change in changes.reversed() where change.hash == hash {
            let operation = Operation(location: token.frameLocation + UInt(change.frameOffset))
            if equalBytes(operation.key, key) { return operation }
        }
        return nil
    }

    /// Whether a write of `hash` in the dictionary with `prefix` must wait for this batch.
    /// Keys are told apart by hash: two that collide wait for nothing, which harms nobody.
    func blocks(hash: UInt64, prefix: [UInt8]) -> Bool {
        if isSingle { return false }
        return clears.contains(prefix) || changes.contains { $0.hash == hash }
            || reads?.blocks(hash: hash, prefix: prefix) == true
    }

    /// Whether the batch, once it is committed, changes a key of this hash in the dictionary with
    /// `prefix`: what whoever rests on the key's state must wait for, even where a plain write
    /// need not.
    func touches(hash: UInt64, prefix: [UInt8]) -> Bool {
        clears.contains(prefix) || changes.contains { $0.hash == hash }
    }

    /// Whether `other`, coming later, must wait for this batch.
    func blocks(_ other: StagedBatch) -> Bool {
        // Whoever read a key comes behind what is staged on it, a single put included.
        if let reads = other.reads, reads.areChanged(by: self) { return true }
        if isSingle { return false }
        if let reads, reads.areChanged(by: other) { return true }
        if !clears.isEmpty,
            clears.contains(where: { other.dictionaries.contains($0) || other.clears.contains($0) })
        {
            return true
        }
        if other.clears.contains(where: { dictionaries.contains($0) }) { return true }
        if changes.isEmpty { return false }
        let hashes = Set(changes.lazy.map(\.hash))
        return other.changes.contains { hashes.contains($0.hash) }
    }
}
