import RoostFormat
import RoostLog

extension ShardState {
    private static let slotsAhead = 12
    /// Nearer, as a value is found by its slot.
    private static let valuesAhead = 6

    /// Enters a batch's changes, in their order.
    mutating func apply(_ changes: [EncodedBatch.Change], frameLocation: UInt, sequence: UInt64) {
        // Where the keys stand is far from each other: asked for well before each one's turn.
        for index in changes.indices {
            let ahead = index + Self.slotsAhead
            if ahead < changes.count {
                active.prefetchSlot(changes[ahead].hash)
                residents.prefetchSlot(changes[ahead].hash)
            }
            let valueAhead = index + Self.valuesAhead
            if valueAhead < changes.count { residents.prefetchValue(changes[valueAhead].hash) }
            let change = changes[index]
            let operation = Operation(location: frameLocation + UInt(change.frameOffset))
            if layers.isNoting { layers.note(operation, hash: change.hash, in: active) }
            active.insert(operation, hash: change.hash, sequence: sequence)
            residents.remove(change.hash)
        }
    }

    /// Whether the table has a newer record of the staged batch's key. The table must not be
    /// frozen then: the batch, once resolved, would enter the next one and stand above it.
    func isOvertaken(_ batch: StagedBatch) -> Bool {
        batch.isSingle
            && batch.changes.contains { change in
                let operation = Operation(
                    location: batch.token.frameLocation + UInt(change.frameOffset))
                guard let found = active.find(operation.key, hash: change.hash) else {
                    return false
                }
                return found.sequence > batch.token.sequence
            }
    }

    /// Whether a batch is committed and not in the table yet.
    var hasUnfolded: Bool { staged.contains { $0.token.isCommitted } }

    /// Moves committed batches into the table, in the order of their sequence numbers, and forgets
    /// those that are aborted; returns how many there were of both. For the turn's holder: it takes
    /// `staged` and the tables for unchanged between two looks.
    mutating func foldResolved() -> Int {
        if staged.allSatisfy(\.token.isPending) { return 0 }
        let committed = staged.filter { $0.token.isCommitted }
        for batch in committed.sorted(by: { $0.token.sequence < $1.token.sequence }) {
            for prefix in batch.clears {
                noteClear(prefix, sequence: batch.token.sequence)
                // Residents do not say their dictionary.
                residents.removeAll()
            }
            apply(
                batch.changes, frameLocation: batch.token.frameLocation,
                sequence: batch.token.sequence)
        }
        // By identity: a batch may be committed between the two looks.
        let before = staged.count
        staged.removeAll { batch in
            committed.contains { $0.token === batch.token }
                || (!batch.token.isPending && !batch.token.isCommitted)
        }
        return before - staged.count
    }
}

extension LogTable {
    mutating func hold(all other: LogTable) {
        for region in other.regions.all { hold(region) }
    }
}
