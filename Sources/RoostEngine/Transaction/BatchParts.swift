import RoostFormat
import RoostLog

/// A batch of several shards, in the parts that these have of it, as it is committed at once: a transaction's,
/// with what that has read, or one that was written. docs/decisions/0217.
struct BatchParts: AtOnceBatch {
    /// A batch of more changes is staged.
    private static let changeLimit = 32
    /// So is a larger one, as its shards are held while it is copied to the log.
    private static let payloadLimitBytes = 64 << 10
    /// So is one that rests on more keys: each is looked at while all turns are held.
    private static let readLimit = 64

    let batch: EncodedBatch
    /// In ascending order of the shards.
    let parts: [Engine.Part]
    /// The transaction's places, if it has its turn.
    var places: TransactionTurn.Places?

    /// `nil` where the batch is to be staged: it clears dictionaries, or is too large.
    init?(_ batch: EncodedBatch, _ parts: [Engine.Part], readCount: Int = 0) {
        guard batch.clears.isEmpty, batch.changes.count <= Self.changeLimit,
            batch.payloadCount <= Self.payloadLimitBytes, readCount <= Self.readLimit
        else { return nil }
        self.batch = batch
        self.parts = parts
    }

    var changes: [EncodedBatch.Change] { batch.changes }

    private func part(_ index: Int) -> Engine.Part {
        // A handful.
        guard let part = parts.first(where: { $0.index == index }) else {
            preconditionFailure("a shard without a part")
        }
        return part
    }

    func isBlocked(in shard: Shard, _ index: Int, _ turn: borrowing ShardTurn) -> Bool {
        guard turn.isContended, !isCovered(index, turn) else { return false }
        return shard.isBlocked(part(index).claim, own: places?[index].number ?? 0, turn)
    }

    func isCurrent(in shard: Shard, _ index: Int, _ turn: borrowing ShardTurn) throws -> Bool {
        guard turn.guardGeneration <= batch.guardGeneration else { return false }
        if isCovered(index, turn) { return true }
        return try part(index).reads.map { try shard.areCurrent($0) } ?? true
    }

    /// Whether nobody could change what the transaction rests on in a shard.
    private func isCovered(_ index: Int, _ turn: borrowing ShardTurn) -> Bool {
        guard let place = places?[index] else { return false }
        return place.covers && turn.holdsPlace(place.number)
    }

    func append(to storage: any Storage) throws -> LogWriter.Appended {
        try storage.append(batch, isAwaited: false)
    }

    func enter(_ appended: LogWriter.Appended, _ index: Int, _ state: inout ShardState) {
        state.apply(
            part(index).claim.changes, frameLocation: appended.location,
            sequence: appended.sequence)
    }
}

extension Engine {
    /// Commits a batch at once where it is small and clears nothing; `.blocked`, with nothing changed, where it
    /// is to be staged.
    func commitAtOnce(
        _ batch: EncodedBatch, _ parts: [Part], readCount: Int = 0, _ durability: Durability,
        _ places: TransactionTurn.Places? = nil
    ) throws -> AtOnceOutcome {
        guard durability != .synced, !configuration.declinesChangesAtOnce,
            var partsAtOnce = BatchParts(batch, parts, readCount: readCount)
        else { return .blocked }
        partsAtOnce.places = places
        return try commitAtOnce(
            partsAtOnce, on: parts.map(\.index), durability: durability)
    }
}
