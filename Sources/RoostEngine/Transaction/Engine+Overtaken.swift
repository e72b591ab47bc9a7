import RoostFormat

extension Engine {
    /// The batch without what it says of keys that others have changed since the view began: what they
    /// say is newer. `nil` where it is not known any more which these are.
    ///
    /// Others may change more until the batch is committed, so it has to rest on what it changes:
    /// `TransactionReads.includesChanges`. It has puts and removals alone.
    package func withoutOvertaken(_ batch: EncodedBatch, since view: EngineView) -> EncodedBatch? {
        precondition(batch.clears.isEmpty, "a clear changes keys that nobody names")
        let changes = changesByShard(of: batch)
        return batch.withPayload { payload -> EncodedBatch? in
            let begin = payload.baseAddress.map { $0 - Frame.headerSizeBytes }
            var overtaken: Set<Int> = []
            for (shard, changes) in zip(shards, changes) {
                let isKnown = shard.published.withLock { state in
                    guard state.layers.isOnActiveTable(view.id) else { return false }
                    for change in changes {
                        guard let begin else { break }
                        let key = Operation(address: begin + change.frameOffset).key
                        if state.layers.isChanged(key, hash: change.hash, since: view.id) {
                            overtaken.insert(change.frameOffset)
                        }
                    }
                    return true
                }
                guard isKnown else { return nil }
            }
            return overtaken.isEmpty
                ? batch : batch.filtered { !overtaken.contains($0.frameOffset) }
        }
    }
}
