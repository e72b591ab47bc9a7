import RoostFormat
import RoostIO
import RoostLog

// A batch of a few keys is checked and committed while the turns of all shards that it rests on are held, so
// nothing is staged and nobody has to be waited for. docs/decisions/0202, 0217.
//
// - The turns are taken in ascending order of the shards, one within the other; nobody else takes a turn
//   while holding one.
// - Under the turns nobody changes a key of these shards but who has staged a batch of it, or has a place in
//   the queue for it, before. Where one of those conflicts, nothing is done.
// - The batch enters the tables while the mutexes of all shards that it touches are held, in the order in
//   which a view takes them. So nobody sees it by half.
// - The whole is under the mutex of `ChangeFeed`, so who begins to watch meanwhile sees it or is told of it.

/// What is committed at once.
protocol AtOnceBatch: ~Copyable {
    /// All of it, in the order of the calls.
    var changes: [EncodedBatch.Change] { get }

    /// Whether something that conflicts comes first in a shard.
    func isBlocked(in shard: Shard, _ index: Int, _ turn: borrowing ShardTurn) -> Bool

    /// Whether the batch brings with it what its dictionaries ask for, as the shard knows it, and what it
    /// read there is still so.
    func isCurrent(in shard: Shard, _ index: Int, _ turn: borrowing ShardTurn) throws -> Bool

    func append(to storage: any Storage) throws -> LogWriter.Appended

    /// Enters its changes of a shard.
    func enter(_ appended: LogWriter.Appended, _ index: Int, _ state: inout ShardState)
}

extension Engine {
    /// What came of a batch.
    package enum AtOnceOutcome: Sendable {
        /// Under this sequence number.
        case committed(UInt64)
        /// Nothing is changed: something comes first that may soon be over.
        case blocked
        /// Nothing is changed: what was read is not so any more, or others are guarded by now.
        case overtaken
    }

    /// Commits a batch that touches the shards with these numbers, in ascending order, if all that it read
    /// is still so. Does not suspend, and waits for nothing but others' turns.
    ///
    /// - Throws: what an append throws, with nothing changed.
    func commitAtOnce(
        _ batch: borrowing some AtOnceBatch & ~Copyable, on indices: [Int],
        durability: Durability?
    ) throws -> AtOnceOutcome {
        var work = AtOnceWork()
        defer { for call in work.afterwards.calls { call() } }
        try commit(batch, on: indices, at: 0, &work)
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
        _ batch: borrowing some AtOnceBatch & ~Copyable, on indices: [Int], at place: Int,
        _ work: inout AtOnceWork
    ) throws {
        guard place < indices.count else { return try appendAndEnter(batch, indices, &work) }
        let index = indices[place]
        let shard = shards[index]
        try shard.turn.withLock { turn in
            if !configuration.plantedFaults.contains(.ignoredTurns),
                batch.isBlocked(in: shard, index, turn)
            {
                work.outcome = .blocked
                return
            }
            guard try batch.isCurrent(in: shard, index, turn) else { return }
            try commit(batch, on: indices, at: place + 1, &work)
        }
    }

    /// Appends the batch and makes it visible. Called with the turns of all its shards.
    private func appendAndEnter(
        _ batch: borrowing some AtOnceBatch & ~Copyable, _ indices: [Int], _ work: inout AtOnceWork
    ) throws {
        guard let log else {
            throw RoostError(.readOnly, "the workspace was opened for reading only")
        }
        work.appended = try feed.publishAtOnce(&work.afterwards) { isWatched in
            let appended = try batch.append(to: log)
            if configuration.plantedFaults.contains(.tornEntries) {
                enterTorn(batch, appended, indices)
            } else {
                enter(batch, appended, indices, at: 0)
            }
            return (appended, isWatched ? Commit(appended, changes: batch.changes) : nil)
        }
    }

    /// Enters the batch in the tables of the shards from `place` on, one mutex within the other.
    private func enter(
        _ batch: borrowing some AtOnceBatch & ~Copyable, _ appended: LogWriter.Appended,
        _ indices: [Int], at place: Int
    ) {
        guard place < indices.count else { return }
        shards[indices[place]].published.withLock { state in
            state.active.hold(appended.region)
            batch.enter(appended, indices[place], &state)
            enter(batch, appended, indices, at: place + 1)
        }
    }

    /// What the batch would be that did not take all mutexes at once.
    @inline(never)
    private func enterTorn(
        _ batch: borrowing some AtOnceBatch & ~Copyable, _ appended: LogWriter.Appended,
        _ indices: [Int]
    ) {
        for index in indices {
            shards[index].published.withLock { state in
                state.active.hold(appended.region)
                batch.enter(appended, index, &state)
            }
            let next = ContinuousClock.now + .microseconds(30)
            while ContinuousClock.now < next {}
        }
    }
}
