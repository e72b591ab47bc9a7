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
///   until the batch is resolved, except where nobody could tell (`Claim.isSingle`).
package actor Shard {
    nonisolated let published: Mutex<ShardState>
    nonisolated let turn = Mutex(ShardTurn())
    /// `nil` in a workspace opened for reading only.
    private let storage: (any Storage)?
    let hashSeed: HashSeed
    nonisolated let clock: ExpiryClock
    nonisolated let feed: ChangeFeed
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
    /// done, where something comes first or has to come with it: the caller calls `write`.
    @inline(__always)
    nonisolated func writeAtOnce(
        _ value: EncodedValue?, _ recordKey: UnsafeRawBufferPointer, hash: UInt64
    ) throws -> LogWriter.Appended? {
        do {
            let appended: LogWriter.Appended? = try turn.withLock { turn in
                if turn.isContended { return nil }
                return try commitUnlessWatched(recordKey, hash: hash, in: &turn) {
                    try append(value, recordKey, isAwaited: false)
                }
            }
            return try appended ?? writeBesideOthers(value, recordKey, hash: hash)
        } catch let owed as OwesCalls {
            callOwed()
            return owed.appended
        } catch {
            // Where the append has failed, others may have been waiting for its end who began to watch meanwhile.
            callOwed()
            throw error
        }
    }

    @inline(never)
    private nonisolated func callOwed() { withTurn { _ in } }

    /// As `writeAtOnce`, where others wait or are staged, or the key is watched: whoever is to be told of the change is so
    /// once the turn is given back.
    @inline(never)
    private nonisolated func writeBesideOthers(
        _ value: EncodedValue?, _ recordKey: UnsafeRawBufferPointer, hash: UInt64
    ) throws -> LogWriter.Appended? {
        try withTurn { turn in
            foldResolved(&turn)
            if turn.isGuarded(recordKey) || isBlocked(recordKey, hash: hash, turn) { return nil }
            return try write(value, recordKey, hash: hash, in: &turn)
        }
    }

    /// As `writeAtOnce`, after whatever comes first.
    func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) async throws -> LogWriter.Appended {
        try await inTurn(claim(key, name, hash: hash)) { [self] turn in
            try name.withRecordKey(key) { try turn.checkUnguarded($0) }
            return try write(value, key: key, name: name, hash: hash, in: &turn)
        }
    }

    nonisolated func claim(
        _ key: String, _ name: DictionaryName, hash: UInt64, rests: Bool = false
    ) -> Claim {
        name.withRecordKey(key) { Claim($0, hash: hash, rests: rests) }
    }

    /// As `write`, of a key that is known to wait for nothing.
    @inline(never)
    nonisolated func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        in turn: inout ShardTurn
    ) throws -> LogWriter.Appended {
        try name.withRecordKey(key) { try write(value, $0, hash: hash, in: &turn) }
    }

    @inline(__always)
    nonisolated func write(
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
        let staged = try stageAtOnce(value, key: key, name: name, hash: hash, token: token)
        if let staged { return staged }
        return try await inTurn(claim(key, name, hash: hash)) { [self] turn in
            try stageWrite(value, key: key, name: name, hash: hash, token: token, in: &turn)
        }
    }

    /// As `stageWrite`; `nil`, with nothing done, where something comes first. Mostly nothing does, and no
    /// claim is made then.
    @inline(never)
    private nonisolated func stageAtOnce(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64, token: BatchToken
    ) throws -> LogWriter.Appended? {
        try withTurn { turn in
            foldResolved(&turn)
            let isFree = name.withRecordKey(key) { key in !isBlocked(key, hash: hash, turn) }
            guard isFree else { return nil }
            return try stageWrite(
                value, key: key, name: name, hash: hash, token: token, in: &turn)
        }
    }

    /// As the other, of a key that is known to wait for nothing.
    @inline(never)
    nonisolated func stageWrite(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        token: BatchToken, in turn: inout ShardTurn
    ) throws -> LogWriter.Appended {
        try name.withRecordKey(key) { recordKey in
            try turn.checkUnguarded(recordKey)
            let appended = try feed.stage { try append(value, recordKey, isAwaited: true) }
            token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
            var claim = Claim(recordKey, hash: hash)
            claim.isSingle = true
            stage(StagedBatch(token: token, claim: claim), appended, &turn)
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

    /// Commits a batch all of whose changes are this shard's; `claim` is of them.
    func write(_ batch: EncodedBatch, _ claim: Claim) async throws -> LogWriter.Appended {
        try await inTurn(claim) { [self] turn in try write(batch, in: &turn) }
    }

    nonisolated func write(
        _ batch: EncodedBatch, in turn: inout ShardTurn
    ) throws -> LogWriter.Appended {
        try turn.checkGuards(batch.guardGeneration)
        return try commit(batch, in: &turn) {
            try writableStorage().append(batch, isAwaited: false)
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
    /// between. The batch gets its sequence number once every shard is ready.
    ///
    /// - Throws: `GuardsChanged` where others are guarded than in this generation.
    func prepare(_ staged: StagedBatch, _ guardGeneration: UInt64 = 0) async throws {
        try await inTurn(staged.claim) { [self] turn in
            try turn.checkGuards(guardGeneration)
            stage(staged, nil, &turn)
        }
    }

    /// Keeps the memory of a prepared batch that was appended.
    nonisolated func hold(_ appended: LogWriter.Appended) {
        turn.withLock { turn in
            guard let region = regionIfNew(appended, &turn) else { return }
            published.withLock { $0.active.hold(region) }
        }
    }

    nonisolated func stage(
        _ staged: StagedBatch, _ appended: LogWriter.Appended?, _ turn: inout ShardTurn
    ) {
        turn.hasStaged = true
        let region = appended.flatMap { regionIfNew($0, &turn) }
        published.withLock { state in
            if let region { state.active.hold(region) }
            state.staged.append(staged)
        }
    }
}
