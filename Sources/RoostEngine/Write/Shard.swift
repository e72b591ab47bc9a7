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
    /// `nil` in a workspace opened for reading only, and until the log has begun.
    private var storage: (any Storage)?
    let hashSeed: HashSeed
    nonisolated let clock: ExpiryClock
    /// Calls that wait for some staged batch to be resolved.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// How often staged batches were resolved.
    private(set) var resolutionCount = 0
    /// Whether anything is staged, so that a put can tell without the mutex.
    private(set) var hasStaged = false
    /// The count of resolved batches at which waiters were last woken: a read view that begins
    /// folds too, and wakes nobody.
    private var seenResolvedCount: UInt64 = 0
    /// The last segment that `published.active` was told to hold.
    private var heldRegion: MappedRegion?

    init(hashSeed: HashSeed, residentBudgetBytes: Int, clock: ExpiryClock = .init()) {
        self.hashSeed = hashSeed
        self.clock = clock
        published = Mutex(ShardState(residentBudgetBytes: residentBudgetBytes))
    }

    // MARK: Writing one key

    /// A put, or with no value a removal, of one key. `nil` where the key must wait for a staged
    /// batch: the caller calls `writeWaiting` instead.
    @inline(never)
    func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) throws -> LogWriter.Appended? {
        if hasStaged {
            foldResolved()
            if isBlocked(hash: hash, prefix: name.prefix) { return nil }
        }
        // The slot is on its way from memory while the frame is written.
        published.withLock { $0.active.prefetchSlot(hash) }
        return try name.withRecordKey(key) { recordKey in
            let appended = try append(value, recordKey, isAwaited: false)
            let operation = Operation(location: appended.location + UInt(Frame.headerSizeBytes))
            let region = regionIfNew(appended)
            published.withLock { state in
                if let region { state.active.hold(region) }
                if state.layers.isNoting {
                    state.layers.note(operation, hash: hash, in: state.active)
                }
                state.active.insert(operation, hash: hash, sequence: appended.sequence)
                state.residents.remove(hash)
            }
            return appended
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
            foldResolved()
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
            let appended = try append(value, recordKey, isAwaited: true)
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
        ) { target in
            Operation.writeHeader(
                to: target, kind: value?.operationKind ?? .remove, keyCount: key.count,
                valueCount: valueCount, frameOffset: Frame.headerSizeBytes)
            (target + Operation.headerSizeBytes).copyMemory(
                from: key.baseAddress!, byteCount: key.count)
            value?.write(to: target + Operation.headerSizeBytes + key.count)
        }
    }

    private func regionIfNew(_ appended: LogWriter.Appended) -> MappedRegion? {
        if appended.region === heldRegion { return nil }
        heldRegion = appended.region
        return appended.region
    }

    // MARK: Writing a batch

    /// Commits a batch all of whose changes are this shard's. `nil` as in `write`.
    func write(_ batch: EncodedBatch) throws -> LogWriter.Appended? {
        if hasStaged {
            foldResolved()
            let staged = StagedBatch(
                token: BatchToken(), changes: batch.changes, dictionaries: batch.dictionaries,
                clears: batch.clears, isSingle: false)
            if isBlocked(staged) { return nil }
        }
        let appended = try append(batch, isAwaited: false)
        let region = regionIfNew(appended)
        published.withLock { state in
            if let region { state.active.hold(region) }
            state.apply(
                batch.changes, frameLocation: appended.location, sequence: appended.sequence)
        }
        return appended
    }

    func writeWaiting(_ batch: EncodedBatch) async throws -> LogWriter.Appended {
        while true {
            if let appended = try write(batch) { return appended }
            await waitForResolution(since: resolutionCount)
        }
    }

    private func append(_ batch: EncodedBatch, isAwaited: Bool) throws -> LogWriter.Appended {
        try writableStorage().append(payload: batch.payload, isAwaited: isAwaited)
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
            foldResolved()
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

    func isBlocked(hash: UInt64, prefix: [UInt8]) -> Bool {
        hasStaged
            && published.withLock { state in
                state.staged.contains { $0.blocks(hash: hash, prefix: prefix) }
            }
    }

    func isBlocked(_ staged: StagedBatch) -> Bool {
        hasStaged && published.withLock { state in state.staged.contains { $0.blocks(staged) } }
    }

    // MARK: Compaction

    /// Takes the table of all that was appended up to `sequence` out of the writers' way, for a
    /// snapshot to be written from it; what waits for a sync is waited for.
    func freeze(
        through sequence: UInt64
    ) async -> (table: LogTable?, clears: [ManifestRecord.Clear]) {
        // A batch without a sequence number may be in the log already, and not have said so.
        let unnumbered = published.withLock { state in
            state.staged.map(\.token).filter { $0.sequence == 0 }
        }
        while true {
            foldResolved()
            let isWaiting = published.withLock { state in
                state.staged.contains { staged in
                    if staged.token.sequence == 0 {
                        return staged.isSingle || unnumbered.contains { $0 === staged.token }
                    }
                    return staged.token.sequence <= sequence || state.isOvertaken(staged)
                }
            }
            if !isWaiting { break }
            await waitForResolution(since: resolutionCount)
        }
        heldRegion = nil
        return published.withLock { state in
            precondition(state.frozen == nil, "one table is frozen at a time")
            let clears = state.clears.map { ManifestRecord.Clear(prefix: $0, sequence: $1) }
            guard !state.active.isEmpty else {
                // Its old segments are not needed any more.
                if state.staged.isEmpty {
                    state.layers.endTable(state.active)
                    state.active = LogTable()
                }
                return (nil, clears)
            }
            let frozen = state.active
            state.layers.endTable(frozen)
            state.frozen = frozen
            state.active = LogTable(capacity: min(frozen.capacity, 1 << 12))
            // What is staged will enter the new table, and may point into segments that only
            // the old one holds.
            if !state.staged.isEmpty { state.active.hold(all: frozen) }
            return (frozen, clears)
        }
    }

    /// Puts a frozen table that could not be written back under the writers' changes.
    func thaw() {
        published.withLock { state in
            guard let frozen = state.frozen else { return }
            let newer = state.active
            state.layers.endTable(newer)
            state.active = frozen
            state.active.hold(all: newer)
            newer.forEach { operation in
                state.active.insert(
                    operation, hash: hashSeed.hash(operation.key), sequence: operation.sequence)
            }
            state.frozen = nil
        }
        heldRegion = nil
    }

    /// Makes `snapshots` the shard's cold storage. With `dropsFrozen` they hold all that the
    /// frozen table held. `clears` that nothing older needs any more are forgotten.
    func install(_ snapshots: SnapshotList, dropsFrozen: Bool) {
        published.withLock { state in
            state.snapshots = snapshots
            state.epoch += 1
            if dropsFrozen { state.frozen = nil }
        }
    }

    func forget(_ clears: [ManifestRecord.Clear]) {
        published.withLock { state in
            for clear in clears where state.clears[clear.prefix] == clear.sequence {
                state.clears[clear.prefix] = nil
            }
        }
    }

    // MARK: Recovery

    /// From here on the shard takes writes.
    func begin(on storage: any Storage) { self.storage = storage }

    /// What an earlier opening left; called before the shard is shared.
    func restore(snapshots: SnapshotList, clears: [ManifestRecord.Clear]) {
        published.withLock { state in
            state.snapshots = snapshots
            for clear in clears { state.clears[clear.prefix] = clear.sequence }
        }
    }

    /// Applies a replayed operation.
    func replay(_ operations: [(location: UInt, hash: UInt64)], regions: [MappedRegion]) {
        published.withLock { state in
            for region in regions { state.active.hold(region) }
            for (location, hash) in operations {
                let operation = Operation(location: location)
                state.active.insert(operation, hash: hash, sequence: operation.sequence)
            }
        }
    }

    func replayClear(_ prefix: [UInt8], sequence: UInt64) {
        published.withLock { $0.clears[prefix] = sequence }
    }
}

extension Storage {
    /// Appends a batch that is laid out already.
    func append(payload: [UInt8], isAwaited: Bool) throws -> LogWriter.Appended {
        try payload.withUnsafeBytes { bytes in
            try append(payloadCount: bytes.count, isAwaited: isAwaited) { target in
                guard let base = bytes.baseAddress else { return }
                target.copyMemory(from: base, byteCount: bytes.count)
            }
        }
    }
}

extension ShardState {
    /// Enters a batch's changes, in their order.
    mutating func apply(_ changes: [EncodedBatch.Change], frameLocation: UInt, sequence: UInt64) {
        for change in changes {
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

    /// Moves committed batches into the table, in the order of their sequence numbers.
    mutating func foldResolved() {
        let committed = staged.filter { $0.token.isCommitted }
        for batch in committed.sorted(by: { $0.token.sequence < $1.token.sequence }) {
            for prefix in batch.clears {
                clears[prefix] = max(clears[prefix] ?? 0, batch.token.sequence)
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
        resolvedCount &+= UInt64(before - staged.count)
    }
}

extension LogTable {
    mutating func hold(all other: LogTable) {
        for region in other.regions.all { hold(region) }
    }
}
