import RoostFormat
import RoostIO
import RoostLog

// A batch is checked and committed while the turns of all shards that it rests on are held, so nothing is
// staged and nobody has to be waited for. docs/decisions/0202.
//
// - The turns are taken in ascending order of the shards, one within the other; nobody else takes a turn
//   while holding one.
// - Under the turns nobody changes a key of these shards but who has staged a batch of it, or has a place in
//   the queue for it, before. Where one of those conflicts, nothing is done.
// - The batch enters the tables while the mutexes of all shards that it changes are held, in the order in
//   which a view takes them. So nobody sees it by half.
// - The whole is under the mutex of `ChangeFeed`, so who begins to watch meanwhile sees it or is told of it.

extension Engine {
    /// What came of `commitAtOnce`.
    package enum AtOnceOutcome: Sendable {
        /// Under this sequence number.
        case committed(UInt64)
        /// Nothing is changed: something comes first that may soon be over.
        case blocked
        /// Nothing is changed: what was read is not so any more, or others are guarded by now.
        case overtaken
    }

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
        let indices = batch.shardIndices(count: shards.count)
        var work = AtOnceWork()
        defer { for call in work.afterwards.calls { call() } }
        try commit(batch, indices, at: 0, &work)
        guard let appended = work.appended else { return work.outcome }
        noteAppended(appended, durability ?? configuration.durability)
        return .committed(appended.sequence)
    }

    /// What is known of a commit while its turns are taken.
    private struct AtOnceWork {
        var outcome = AtOnceOutcome.overtaken
        var appended: LogWriter.Appended?
        var afterwards = ShardTurn.Afterwards()
    }

    /// Takes the turns of the shards, and once it has all of them commits the batch.
    private func commit(
        _ batch: borrowing CheckedBatch, _ indices: [Int], at place: Int,
        _ work: inout AtOnceWork
    ) throws {
        guard place < indices.count else { return try appendAndEnter(batch, indices, &work) }
        let index = indices[place]
        try shards[index].turn.withLock { turn in
            if isBlocked(batch, index, turn) {
                work.outcome = .blocked
                return
            }
            guard isGuarded(batch, turn), areCurrent(batch, index) else { return }
            try commit(batch, indices, at: place + 1, &work)
        }
    }

    /// Whether something comes before the batch in a shard.
    private func isBlocked(
        _ batch: borrowing CheckedBatch, _ index: Int, _ turn: borrowing ShardTurn
    ) -> Bool {
        guard turn.hasStaged || !turn.queue.isEmpty,
            !configuration.plantedFaults.contains(.ignoredTurns)
        else { return false }
        let shard = shards[index]
        for read in batch.reads where isOf(index, read.hash) {
            let isBlocked = read.recordKey.withUnsafeBytes { key in
                shard.isBlocked(key, hash: read.hash, rests: true, turn)
            }
            if isBlocked { return true }
        }
        for change in batch.changes where isOf(index, change.hash) {
            if shard.isBlocked(batch.key(of: change), hash: change.hash, rests: true, turn) {
                return true
            }
        }
        return false
    }

    /// Whether the batch brings with it what its dictionaries ask for, as the shard knows it.
    private func isGuarded(
        _ batch: borrowing CheckedBatch, _ turn: borrowing ShardTurn
    ) -> Bool {
        turn.guardGeneration <= batch.generation
            || configuration.plantedFaults.contains(.ignoredGuards)
    }

    /// Whether what the batch read in a shard is still so. Called with the turn.
    private func areCurrent(_ batch: borrowing CheckedBatch, _ index: Int) -> Bool {
        if configuration.plantedFaults.contains(.ignoredReads) { return true }
        return shards[index].published.withLock { state in
            for read in batch.reads where isOf(index, read.hash) {
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
            return areReadable(batch, index, state)
        }
    }

    /// Whether the log's records of what the batch read in a shard can be read. They say their keys, and one that
    /// cannot be read says none.
    private func areReadable(
        _ batch: borrowing CheckedBatch, _ index: Int, _ state: borrowing ShardState
    ) -> Bool {
        if MappedRegion.faultCount == 0 { return true }
        for read in batch.reads where isOf(index, read.hash) {
            do {
                try read.recordKey.withUnsafeBytes { try state.checkLogRead($0, hash: read.hash) }
            } catch { return false }
        }
        return true
    }

    /// Appends the batch and makes it visible. Called with the turns of all its shards.
    private func appendAndEnter(
        _ batch: borrowing CheckedBatch, _ indices: [Int], _ work: inout AtOnceWork
    ) throws {
        work.appended = try feed.publishAtOnce(&work.afterwards) { isWatched in
            let appended = try append(batch)
            if configuration.plantedFaults.contains(.tornEntries) {
                enterTorn(batch, appended, indices)
            } else {
                enter(batch, appended, indices, at: 0)
            }
            return (appended, isWatched ? Commit(appended, changes: batch.changes) : nil)
        }
    }

    private func append(_ batch: borrowing CheckedBatch) throws -> LogWriter.Appended {
        guard let log else {
            throw RoostError(.readOnly, "the workspace was opened for reading only")
        }
        return try log.append(batch.payload, isAwaited: false)
    }

    /// Enters the batch in the tables of the shards from `place` on, one mutex within the other.
    private func enter(
        _ batch: borrowing CheckedBatch, _ appended: LogWriter.Appended, _ indices: [Int],
        at place: Int
    ) {
        guard place < indices.count else { return }
        let index = indices[place]
        shards[index].published.withLock { state in
            enter(batch, appended, index, &state)
            enter(batch, appended, indices, at: place + 1)
        }
    }

    private func enter(
        _ batch: borrowing CheckedBatch, _ appended: LogWriter.Appended, _ index: Int,
        _ state: inout ShardState
    ) {
        state.active.hold(appended.region)
        for change in batch.changes where isOf(index, change.hash) {
            let operation = Operation(location: appended.location + UInt(change.frameOffset))
            if state.layers.isNoting {
                state.layers.note(operation, hash: change.hash, in: state.active)
            }
            state.active.insert(operation, hash: change.hash, sequence: appended.sequence)
            state.residents.remove(change.hash)
        }
    }

    /// What the batch would be that did not take all mutexes at once.
    @inline(never)
    private func enterTorn(
        _ batch: borrowing CheckedBatch, _ appended: LogWriter.Appended, _ indices: [Int]
    ) {
        for index in indices {
            shards[index].published.withLock { enter(batch, appended, index, &$0) }
            let next = ContinuousClock.now + .microseconds(30)
            while ContinuousClock.now < next {}
        }
    }

    @inline(__always)
    private func isOf(_ index: Int, _ hash: UInt64) -> Bool {
        shardIndex(of: hash, shardCount: shards.count) == index
    }
}
