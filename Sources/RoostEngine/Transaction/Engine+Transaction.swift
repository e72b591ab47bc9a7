import RoostFormat
import RoostIO
import RoostLog

extension Engine {
    /// Commits a transaction: the batch, if all that was read is still as it was read. Returns its
    /// sequence number once `durability` holds, or `nil`, with nothing changed, where another
    /// writer was there first.
    ///
    /// In one shard the check and the append are made in one turn. In several each shard is
    /// made ready in ascending order: it waits for what is staged on the keys read and written,
    /// checks the reads, and from then on no other write of those keys comes between, until the
    /// batch is visible. docs/decisions/0010.
    package func commit(
        _ batch: EncodedBatch, reads: TransactionReads, durability: Durability?
    ) async throws -> UInt64? {
        if let failure = batch.failure { throw failure }
        // All reads were of one moment; with nothing to write that is the transaction's moment.
        if batch.isEmpty { return log?.lastSequence ?? 0 }
        if try condition.checkWritable() { try await waitForRoom() }
        let durability = durability ?? configuration.durability
        let involved = involvedShards(batch, reads)
        if involved.count == 1, batch.clears.isEmpty, durability != .synced {
            let appended = try await shards[involved[0].index].write(
                batch, if: involved[0].reads)
            guard let appended else { return nil }
            noteAppended(appended, durability)
            return appended.sequence
        }
        return try await commit(batch, involved, durability)
    }

    private func involvedShards(_ batch: EncodedBatch, _ reads: TransactionReads) -> [Part] {
        let readsByShard = reads.byShard(count: shards.count)
        var changes = Array(repeating: [EncodedBatch.Change](), count: shards.count)
        for change in batch.changes {
            changes[shardIndex(of: change.hash, shardCount: shards.count)].append(change)
        }
        return shards.indices.compactMap { index in
            let reads = readsByShard[index]
            if changes[index].isEmpty, batch.clears.isEmpty, reads == nil { return nil }
            return Part(index: index, changes: changes[index], reads: reads)
        }
    }
}
