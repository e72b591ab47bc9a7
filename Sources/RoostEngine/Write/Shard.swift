import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// The part of all keys that one actor guards.
///
/// - Every change of the shard's keys happens on this actor, and none suspends between what it
///   checks and what it changes. So the order of the frames in the log is, for each key, the
///   order in which its changes become visible.
/// - `published` is written by the actor alone, but for the residents that reads fill in; reads
///   take its mutex for the look-up and never suspend.
/// - A batch that must not be seen yet stands in `staged`. A later write of one of its keys waits
///   until the batch is resolved, except where nobody could tell (`StagedBatch.isSingle`).
package actor Shard {
    nonisolated let published: Mutex<ShardState>
    /// `nil` in a workspace opened for reading only.
    private let storage: (any Storage)?
    let hashSeed: HashSeed
    nonisolated let clock: ExpiryClock
    nonisolated let feed: ChangeFeed
    /// Calls that wait for some staged batch to be resolved.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// How often staged batches were resolved.
    private(set) var resolutionCount = 0
    /// Whether anything is staged, so that a put can tell without the mutex.
    private(set) var hasStaged = false
    /// The count of resolved batches at which waiters were last woken: a read view that begins
    /// folds too, and wakes nobody.
    private var seenResolvedCount: UInt64 = 0
    /// Whether `published.enqueued` holds anything, so that a put can tell without the mutex.
    nonisolated let hasEnqueued = Atomic<Bool>(false)
    nonisolated let behind: WriteBehind?
    /// The last segment that `published.active` was told to hold.
    var heldRegion: MappedRegion?

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

    /// A put, or with no value a removal, of one key. `nil` where the key must wait for a staged
    /// batch: the caller calls `writeWaiting` instead.
    @inline(never)
    package func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) throws -> LogWriter.Appended? {
        if hasStaged || hasEnqueued.load(ordering: .relaxed) {
            bringUpToDate()
            if isBlocked(hash: hash, prefix: name.prefix) { return nil }
        }
        return try writeUnblocked(value, key: key, name: name, hash: hash)
    }

    /// As `write`, of a key that is known to wait for nothing. Commits nothing else: what the
    /// caller has checked still holds.
    @inline(__always)
    func writeUnblocked(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) throws -> LogWriter.Appended {
        return try name.withRecordKey(key) { recordKey in
            try commit(recordKey, hash: hash) { try append(value, recordKey, isAwaited: false) }
        }
    }

    /// As `write`, behind whatever blocks the key.
    func writeWaiting(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) async throws -> LogWriter.Appended {
        while true {
            if let appended = try write(value, key: key, name: name, hash: hash) { return appended }
            await waitForResolution(since: resolutionCount)
        }
    }

    /// As `writeWaiting`, but the change stays invisible until `token` is committed.
    func stageWrite(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64, token: BatchToken
    ) async throws -> LogWriter.Appended {
        while true {
            bringUpToDate()
            if !isBlocked(hash: hash, prefix: name.prefix) { break }
            await waitForResolution(since: resolutionCount)
        }
        return try stageNow(value, key: key, name: name, hash: hash, token: token)
    }

    @inline(never)
    func stageNow(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64, token: BatchToken
    ) throws -> LogWriter.Appended {
        try name.withRecordKey(key) { recordKey in
            let appended = try feed.stage { try append(value, recordKey, isAwaited: true) }
            token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
            stage(
                StagedBatch(
                    token: token, changes: [.init(hash: hash, frameOffset: Frame.headerSizeBytes)],
                    dictionaries: [name.prefix], clears: [], isSingle: true), appended)
            return appended
        }
    }

    private func append(
        _ value: EncodedValue?, _ key: UnsafeRawBufferPointer, isAwaited: Bool
    ) throws -> LogWriter.Appended {
        let valueCount = value?.count ?? 0
        return try writableStorage().append(
            payloadCount: Operation.headerSizeBytes + key.count + valueCount, isAwaited: isAwaited
        ) { Operation.write(value, key, to: $0) }
    }

    /// Appends an operation that is laid out as the only one of its frame.
    func appendLaidOut(_ operation: Operation) throws -> LogWriter.Appended {
        try writableStorage().append(
            payloadCount: operation.sizeBytes, isAwaited: false
        ) { $0.copyMemory(from: operation.address, byteCount: operation.sizeBytes) }
    }

    func regionIfNew(_ appended: LogWriter.Appended) -> MappedRegion? {
        if appended.region === heldRegion { return nil }
        heldRegion = appended.region
        return appended.region
    }

    // MARK: Writing a batch

    /// Commits a batch all of whose changes are this shard's. `nil` as in `write`.
    func write(_ batch: EncodedBatch) throws -> LogWriter.Appended? {
        if hasStaged || hasEnqueued.load(ordering: .relaxed) {
            bringUpToDate()
            let staged = StagedBatch(
                token: BatchToken(), changes: batch.changes, dictionaries: batch.dictionaries,
                clears: batch.clears, isSingle: false)
            if isBlocked(staged) { return nil }
        }
        return try writeUnblocked(batch)
    }

    /// As `write`, of a batch that is known to wait for nothing.
    func writeUnblocked(_ batch: EncodedBatch) throws -> LogWriter.Appended {
        try commit(batch) { try append(batch, isAwaited: false) }
    }

    func writeWaiting(_ batch: EncodedBatch) async throws -> LogWriter.Appended {
        while true {
            if let appended = try write(batch) { return appended }
            await waitForResolution(since: resolutionCount)
        }
    }

    private func append(_ batch: EncodedBatch, isAwaited: Bool) throws -> LogWriter.Appended {
        try writableStorage().append(batch, isAwaited: isAwaited)
    }

    @inline(__always)
    private func writableStorage() throws -> any Storage {
        guard let storage else {
            throw RoostError(.readOnly, "the workspace was opened for reading only")
        }
        return storage
    }

    /// Makes this shard's part of a batch ready: from here on no other write of its keys comes
    /// between. The batch gets its sequence number once every shard is ready. `false`, and nothing
    /// is staged, where something that the batch rests on has changed.
    @discardableResult
    func prepare(_ staged: StagedBatch) async -> Bool {
        while true {
            bringUpToDate()
            if !isBlocked(staged) { break }
            await waitForResolution(since: resolutionCount)
        }
        guard areCurrent(staged.reads) else { return false }
        stage(staged, nil)
        return true
    }

    /// Keeps the memory of a prepared batch that was appended.
    func hold(_ appended: LogWriter.Appended) {
        guard let region = regionIfNew(appended) else { return }
        published.withLock { $0.active.hold(region) }
    }

    private func stage(_ staged: StagedBatch, _ appended: LogWriter.Appended?) {
        hasStaged = true
        let region = appended.flatMap(regionIfNew)
        published.withLock { state in
            if let region { state.active.hold(region) }
            state.staged.append(staged)
        }
    }

    // MARK: Resolving staged batches

    /// Moves what is committed into the table, forgets what is aborted, and wakes who waited.
    func foldResolved() {
        guard hasStaged else { return }
        let (resolved, remaining) = published.withLock { state in
            state.foldResolved()
            return (state.resolvedCount, state.staged.count)
        }
        hasStaged = remaining > 0
        // Two that wait would else wake each other without end, each by looking.
        guard resolved != seenResolvedCount else { return }
        seenResolvedCount = resolved
        resolutionCount += 1
        let woken = waiters
        waiters.removeAll()
        for waiter in woken { waiter.resume() }
    }

    /// Returns once a batch was resolved since `resolutionCount` was `count`: between a caller's
    /// look and this call others may have run.
    func waitForResolution(since count: Int) async {
        await withCheckedContinuation { continuation in
            if resolutionCount == count {
                waiters.append(continuation)
            } else {
                continuation.resume()
            }
        }
    }

    /// Commits first what comes first: what is resolved, and what is enqueued.
    func bringUpToDate() {
        foldResolved()
        drainEnqueued()
    }

    func isBlocked(hash: UInt64, prefix: [UInt8]) -> Bool {
        hasStaged
            && published.withLock { state in
                state.staged.contains { $0.blocks(hash: hash, prefix: prefix) }
            }
    }

    func isBlocked(_ staged: StagedBatch) -> Bool {
        hasStaged && published.withLock { state in state.staged.contains { $0.blocks(staged) } }
    }
}
