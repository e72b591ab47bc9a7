import RoostFormat
import RoostIO
import RoostLog

// One object's change is committed at once. docs/decisions/0202.

extension Engine {
    /// Whether a change may be tried by `commitAtOnce`: the workspace takes writes, none of them have to wait,
    /// and no sync is waited for.
    @inline(__always)
    package func takesChangesAtOnce(_ durability: Durability?) -> Bool {
        condition.isWritableNow && (durability ?? configuration.durability) != .synced
            && !configuration.declinesChangesAtOnce
    }

    /// Commits a batch if all that it read is still so. Does not suspend, and waits for nothing but others'
    /// turns.
    ///
    /// - Throws: what an append throws, with nothing changed.
    package func commitAtOnce(
        _ batch: borrowing CheckedBatch, durability: Durability?
    ) throws -> AtOnceOutcome {
        precondition(!batch.isDeclined, "what is declined belongs into a transaction")
        if batch.changes.isEmpty { return .committed(lastSequence) }
        guard condition.isWritableNow else { return .blocked }
        return try commitAtOnce(
            batch, on: batch.shardIndices(count: shards.count), durability: durability)
    }
}

extension CheckedBatch: AtOnceBatch {
    func isBlocked(in shard: Shard, _ index: Int, _ turn: borrowing ShardTurn) -> Bool {
        guard turn.hasStaged || !turn.queue.isEmpty else { return false }
        for read in reads where isOf(index, read.hash) {
            let isBlocked = read.recordKey.withUnsafeBytes { key in
                shard.isBlocked(key, hash: read.hash, rests: true, turn)
            }
            if isBlocked { return true }
        }
        for change in changes where isOf(index, change.hash) {
            if shard.isBlocked(key(of: change), hash: change.hash, rests: true, turn) {
                return true
            }
        }
        return false
    }

    func isCurrent(in shard: Shard, _ index: Int, _ turn: borrowing ShardTurn) -> Bool {
        let isGuarded = turn.guardGeneration <= generation || faults.contains(.ignoredGuards)
        return isGuarded && areReadsCurrent(in: shard, index)
    }

    /// Whether what was read in a shard is still so. Called with the turn.
    private func areReadsCurrent(in shard: Shard, _ index: Int) -> Bool {
        if faults.contains(.ignoredReads) { return true }
        return shard.published.withLock { state in
            for read in reads where isOf(index, read.hash) {
                let place = read.recordKey.withUnsafeBytes { state.place(of: $0, hash: read.hash) }
                let isCurrent =
                    switch place {
                    case .absent: read.origin == nil
                    case .log(let operation): read.origin == .log(operation.location)
                    case .cold(let clearedSequence):
                        read.origin
                            == .cold(epoch: state.epoch, clearedSequence: clearedSequence)
                    }
                if !isCurrent { return false }
            }
            return areReadable(index, state)
        }
    }

    /// Whether the log's records of what was read in a shard can be read. They say their keys, and one that
    /// cannot be read says none.
    private func areReadable(_ index: Int, _ state: borrowing ShardState) -> Bool {
        if MappedRegion.faultCount == 0 { return true }
        for read in reads where isOf(index, read.hash) {
            do {
                try read.recordKey.withUnsafeBytes { try state.checkLogRead($0, hash: read.hash) }
            } catch { return false }
        }
        return true
    }

    func append(to storage: any Storage) throws -> LogWriter.Appended {
        try storage.append(payload, isAwaited: false)
    }

    func enter(_ appended: LogWriter.Appended, _ index: Int, _ state: inout ShardState) {
        for change in changes where isOf(index, change.hash) {
            let operation = Operation(location: appended.location + UInt(change.frameOffset))
            if state.layers.isNoting {
                state.layers.note(operation, hash: change.hash, in: state.active)
            }
            state.active.insert(operation, hash: change.hash, sequence: appended.sequence)
            state.residents.remove(change.hash)
        }
    }

    @inline(__always)
    private func isOf(_ index: Int, _ hash: UInt64) -> Bool {
        shardIndex(of: hash, shardCount: shardCount) == index
    }
}
