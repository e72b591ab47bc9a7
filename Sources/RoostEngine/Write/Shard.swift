import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// The part of all keys that one actor guards.
///
/// - Every change of the shard's keys is made by whoever has the shard's `turn`, and nothing comes
///   between what it checks and what it changes. So the order of the frames in the log is, for
///   each key, the order in which its changes become visible.
/// - A change of one key takes the turn on the caller's thread; every other change, and one that has
///   to wait for something else than the turn, is a task of the actor. docs/decisions/0065.
/// - `published` is written by the turn's holder alone, but for the residents that reads fill in
///   and for enqueued writes; reads take its mutex for the look-up and never suspend.
/// - A batch that must not be seen yet stands in `staged`. A later write of one of its keys waits
///   until the batch is resolved, except where nobody could tell (`StagedBatch.isSingle`).
package actor Shard {
    nonisolated let published: Mutex<ShardState>
    nonisolated let turn = Mutex(ShardTurn())
    /// `nil` in a workspace opened for reading only.
    private let storage: (any Storage)?
    let hashSeed: HashSeed
    nonisolated let clock: ExpiryClock
    nonisolated let feed: ChangeFeed
    /// Whether `published.enqueued` holds anything, so that a put can tell without the mutex.
    nonisolated let hasEnqueued = Atomic<Bool>(false)
    nonisolated let behind: WriteBehind?

    init(
        hashSeed: HashSeed, residentBudgetBytes: Int, feed: ChangeFeed = .init(),
        behind: WriteBehind? = nil, clock: ExpiryClock = .init(), storage: (any Storage)? = nil
    ) {
        self.hashSeed = hashSeed
        self.storage = storage
        self.feed = feed
        self.behind = behind
        self.clock = clock
        published = Mutex(ShardState(residentBudgetBytes: residentBudgetBytes))
    }

    // MARK: Writing one key

    /// A put, or with no value a removal, of one key, on the caller's thread. `nil`, with nothing
    /// done, where something may come first: the caller calls `write`.
    @inline(__always)
    nonisolated func writeAtOnce(
        _ value: EncodedValue?, _ recordKey: UnsafeRawBufferPointer, hash: UInt64
    ) throws -> LogWriter.Appended? {
        if hasEnqueued.load(ordering: .relaxed) { return nil }
        return try turn.withLock { turn in
            if turn.hasStaged { return nil }
            return try write(value, recordKey, hash: hash, in: &turn)
        }
    }

    /// As `writeAtOnce`, behind whatever comes first.
    func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) async throws -> LogWriter.Appended {
        try await inTurns { turn in
            bringUpToDate(&turn)
            if isBlocked(hash: hash, prefix: name.prefix, turn) { return turn.blocked() }
            return .done(try write(value, key: key, name: name, hash: hash, in: &turn))
        }
    }

    /// As `write`, of a key that is known to wait for nothing. Commits nothing else: what the
    /// caller has checked still holds.
    @inline(never)
    nonisolated func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        in turn: inout ShardTurn
    ) throws -> LogWriter.Appended {
        try name.withRecordKey(key) { try write(value, $0, hash: hash, in: &turn) }
    }

    @inline(__always)
    private nonisolated func write(
        _ value: EncodedValue?, _ recordKey: UnsafeRawBufferPointer, hash: UInt64,
        in turn: inout ShardTurn
    ) throws -> LogWriter.Appended {
        try commit(recordKey, hash: hash, in: &turn) {
            try append(value, recordKey, isAwaited: false)
        }
    }

    /// As `write`, but the change stays invisible until `token` is committed.
    func stageWrite(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64, token: BatchToken
    ) async throws -> LogWriter.Appended {
        try await inTurns { turn in
            bringUpToDate(&turn)
            if isBlocked(hash: hash, prefix: name.prefix, turn) { return turn.blocked() }
            return .done(
                try stageWrite(value, key: key, name: name, hash: hash, token: token, in: &turn))
        }
    }

    /// As the other, of a key that is known to wait for nothing.
    @inline(never)
    nonisolated func stageWrite(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        token: BatchToken, in turn: inout ShardTurn
    ) throws -> LogWriter.Appended {
        try name.withRecordKey(key) { recordKey in
            let appended = try feed.stage { try append(value, recordKey, isAwaited: true) }
            token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
            stage(
                StagedBatch(
                    token: token, changes: [.init(hash: hash, frameOffset: Frame.headerSizeBytes)],
                    dictionaries: [name.prefix], clears: [], isSingle: true), appended, &turn)
            return appended
        }
    }

    private nonisolated func append(
        _ value: EncodedValue?, _ key: UnsafeRawBufferPointer, isAwaited: Bool
    ) throws -> LogWriter.Appended {
        let valueCount = value?.count ?? 0
        // Not of `writableStorage`: what is unwrapped is counted.
        let appended = try storage?.append(
            payloadCount: Operation.headerSizeBytes + key.count + valueCount, isAwaited: isAwaited
        ) { Operation.write(value, key, to: $0) }
        guard let appended else { throw Self.readOnly }
        return appended
    }

    /// Appends an operation that is laid out as the only one of its frame.
    nonisolated func appendLaidOut(_ operation: Operation) throws -> LogWriter.Appended {
        try writableStorage().append(
            payloadCount: operation.sizeBytes, isAwaited: false
        ) { $0.copyMemory(from: operation.address, byteCount: operation.sizeBytes) }
    }

    nonisolated func regionIfNew(
        _ appended: LogWriter.Appended, _ turn: inout ShardTurn
    ) -> MappedRegion? {
        if appended.region === turn.heldRegion { return nil }
        turn.heldRegion = appended.region
        return appended.region
    }

    // MARK: Writing a batch

    /// Commits a batch all of whose changes, and `reads`, are this shard's; `nil`, with nothing
    /// changed, where what was read has changed.
    func write(
        _ batch: EncodedBatch, if reads: ShardReads? = nil
    ) async throws -> LogWriter.Appended? {
        try await inTurns { turn in
            bringUpToDate(&turn)
            if isBlocked(batch, reads, turn) { return turn.blocked() }
            guard areCurrent(reads) else { return .done(nil) }
            return .done(
                try commit(batch, in: &turn) {
                    try writableStorage().append(batch, isAwaited: false)
                })
        }
    }

    @inline(__always)
    private nonisolated func writableStorage() throws -> any Storage {
        guard let storage else { throw Self.readOnly }
        return storage
    }

    private static var readOnly: RoostError {
        RoostError(.readOnly, "the workspace was opened for reading only")
    }

    /// Makes this shard's part of a batch ready: from here on no other write of its keys comes
    /// between. The batch gets its sequence number once every shard is ready. `false`, and nothing
    /// is staged, where something that the batch rests on has changed.
    @discardableResult
    func prepare(_ staged: StagedBatch) async -> Bool {
        await inTurns { turn in
            bringUpToDate(&turn)
            if isBlocked(staged, turn) { return turn.blocked() }
            guard areCurrent(staged.reads) else { return .done(false) }
            stage(staged, nil, &turn)
            return .done(true)
        }
    }

    /// Keeps the memory of a prepared batch that was appended.
    func hold(_ appended: LogWriter.Appended) {
        turn.withLock { turn in
            guard let region = regionIfNew(appended, &turn) else { return }
            published.withLock { $0.active.hold(region) }
        }
    }

    private nonisolated func stage(
        _ staged: StagedBatch, _ appended: LogWriter.Appended?, _ turn: inout ShardTurn
    ) {
        turn.hasStaged = true
        let region = appended.flatMap { regionIfNew($0, &turn) }
        published.withLock { state in
            if let region { state.active.hold(region) }
            state.staged.append(staged)
        }
    }

    // MARK: Resolving staged batches

    /// Moves what is committed into the table, forgets what is aborted, and wakes who waited.
    func foldResolved() { turn.withLock { foldResolved(&$0) } }

    nonisolated func foldResolved(_ turn: inout ShardTurn) {
        guard turn.hasStaged else { return }
        let (resolved, remaining) = published.withLock { state in
            state.foldResolved()
            return (state.resolvedCount, state.staged.count)
        }
        turn.hasStaged = remaining > 0
        // Two that wait would else wake each other without end, each by looking.
        guard resolved != turn.seenResolvedCount else { return }
        turn.seenResolvedCount = resolved
        turn.resolutionCount += 1
        let woken = turn.waiters
        turn.waiters.removeAll()
        for waiter in woken { waiter.resume() }
    }

    /// What `step` has done in one turn. It is tried again each time that it is blocked, once a
    /// staged batch was resolved since.
    func inTurns<Result: Sendable, Failure: Error>(
        _ step: (inout ShardTurn) throws(Failure) -> ShardTurn.Outcome<Result>
    ) async throws(Failure) -> Result {
        while true {
            let outcome = try turn.withLock { turn throws(Failure) in try step(&turn) }
            switch outcome {
            case .done(let result): return result
            case .blocked(let count): await waitForResolution(since: count)
            }
        }
    }

    /// Returns once a batch was resolved since `resolutionCount` was `count`: between a caller's
    /// look and this call others may have run.
    func waitForResolution(since count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = turn.withLock { turn in
                if turn.resolutionCount == count { turn.waiters.append(continuation) }
                return turn.resolutionCount != count
            }
            if isOver { continuation.resume() }
        }
    }

    /// Commits first what comes first: what is resolved, and what is enqueued.
    nonisolated func bringUpToDate(_ turn: inout ShardTurn) {
        foldResolved(&turn)
        drainEnqueued(&turn)
    }

    nonisolated func isBlocked(hash: UInt64, prefix: [UInt8], _ turn: borrowing ShardTurn) -> Bool {
        turn.hasStaged
            && published.withLock { state in
                state.staged.contains { $0.blocks(hash: hash, prefix: prefix) }
            }
    }

    private nonisolated func isBlocked(_ staged: StagedBatch, _ turn: borrowing ShardTurn) -> Bool {
        turn.hasStaged
            && published.withLock { state in state.staged.contains { $0.blocks(staged) } }
    }

    private nonisolated func isBlocked(
        _ batch: EncodedBatch, _ reads: ShardReads?, _ turn: borrowing ShardTurn
    ) -> Bool {
        guard turn.hasStaged else { return false }
        return isBlocked(
            StagedBatch(
                token: BatchToken(), changes: batch.changes, dictionaries: batch.dictionaries,
                clears: batch.clears, isSingle: false, reads: reads), turn)
    }

    nonisolated func areCurrent(_ reads: ShardReads?) -> Bool {
        guard let reads else { return true }
        guard clock.isLive(reads.earliestDeadline) else { return false }
        return published.withLock { reads.areCurrent(in: $0) }
    }
}
