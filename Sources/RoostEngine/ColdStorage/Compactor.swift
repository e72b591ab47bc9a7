import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// Moves the log's records into snapshots and merges snapshots, on a thread of its own, beside
/// readers and writers.
///
/// - It alone changes the manifest. A manifest names only files that are complete and synced;
///   what it no longer names is removed after it is on disk.
/// - Log segments before `manifest.firstSegment` are gone or about to be: all they held is in
///   snapshots.
package actor Compactor {
    let directory: any Directory
    private(set) var manifest: ManifestRecord
    /// What the manifest lists, opened.
    var cold: ColdStorage
    /// The merges that were begun and have not come to their last range, the newest last. Each is of
    /// tiers that are newer than those of the one before.
    var merges: [Merge] = []
    /// `nil` for reading only.
    let manifestGuard: ManifestGuard?
    let shards: [Shard]
    let log: LogWriter?
    let syncer: LogSyncer?
    let condition: EngineCondition
    private let clock: ExpiryClock
    let configuration: EngineConfiguration
    let policy = MergePolicy()
    private let thread: WorkerThread
    nonisolated let scheduling: any Scheduling
    nonisolated let restTimer: RestTimer
    let buildThreads: BuildThreads
    let keyRanges: KeyRanges
    /// What the rewriter's generation was when a snapshot was begun, of those begun in this
    /// opening while there was something to rewrite.
    var rewrittenGenerations: [UInt64: UInt64] = [:]
    /// One compaction at a time; the actor alone does not see to it, as a step suspends.
    private var isWorking = false
    /// What an earlier opening has left in the log, until it is flushed.
    var tailSizeBytes: UInt64
    /// In so many segments.
    var tailSegmentCount: Int
    /// `tailSegmentCount` as it was at the opening.
    nonisolated let openedSegmentCount: Int
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []

    nonisolated let schedule: CompactionSchedule

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// The same thread, for tasks that have to run whatever the cooperative pool does.
    nonisolated var taskExecutor: WorkerTaskExecutor { thread.forTasks }

    init(
        directory: any Directory, manifest: ManifestRecord, manifestGuard: ManifestGuard?,
        cold: ColdStorage, shards: [Shard],
        log: LogWriter?,
        syncer: LogSyncer?, condition: EngineCondition, clock: ExpiryClock,
        configuration: EngineConfiguration, tailSizeBytes: UInt64, tailSegmentCount: Int = 0,
        scheduling: any Scheduling
    ) {
        self.directory = directory
        self.manifest = manifest
        self.manifestGuard = manifestGuard
        self.cold = cold
        self.shards = shards
        self.log = log
        self.syncer = syncer
        self.condition = condition
        self.clock = clock
        self.configuration = configuration
        self.scheduling = scheduling
        thread = scheduling.thread(named: "roost-compact")
        buildThreads = BuildThreads(
            beside: thread, count: configuration.compactionThreadCount, scheduling: scheduling)
        keyRanges = KeyRanges(
            snapshotSizeBytes: configuration.snapshotSizeBytes, threadCount: buildThreads.count)
        self.tailSizeBytes = tailSizeBytes
        self.tailSegmentCount = tailSegmentCount
        openedSegmentCount = tailSegmentCount
        let firstLookBytes = Self.firstLookBytes(configuration)
        let restStepBytes = configuration.restLogSizeBytes / 8
        schedule = CompactionSchedule(
            firstFlushBytes: tailSegmentCount >= Self.manySegmentsCount
                ? 0 : firstLookBytes - min(firstLookBytes, tailSizeBytes),
            firstRestBytes: tailSizeBytes > restStepBytes ? 0 : restStepBytes)
        restTimer = RestTimer(
            schedule: schedule, thread: thread, scheduling: scheduling,
            delay: configuration.restDelay, stepBytes: restStepBytes)
    }

    // MARK: What sets it off

    /// The log has grown past `schedule.noticeBytes`.
    nonisolated func noteGrowth(_ appended: LogWriter.Appended) {
        if appended.totalBytes >= schedule.nextRestBytes {
            restTimer.noteGrowth(appended.totalBytes)
        }
        guard appended.totalBytes >= schedule.nextFlushBytes else { return }
        if appended.totalBytes >= schedule.flushedBytes + configuration.backlogLimitBytes {
            condition.stall()
            // Whatever runs may have ended between the two; a stalled writer must not wait for
            // nothing.
            if !schedule.isRunning.load(ordering: .sequentiallyConsistent) { start() }
            return
        }
        if !schedule.isRunning.load(ordering: .relaxed) { start() }
    }

    nonisolated func start() {
        guard !schedule.isRunning.exchange(true, ordering: .sequentiallyConsistent) else { return }
        // On the compactor's own thread from the first step: writers that never pause may hold
        // every thread of the pool.
        Task.detached(executorPreference: thread.forTasks) { await self.runInBackground() }
    }

    /// Whether the log is so long that no write makes it longer as long as flushes fail.
    nonisolated func isOverdue(_ totalBytes: UInt64) -> Bool {
        totalBytes >= schedule.flushedBytes + 2 * configuration.backlogLimitBytes
    }

    /// A writer was refused, so that nothing is appended that would set a flush off. Tries one, once in a while.
    nonisolated func retry() {
        if schedule.takesRetry(now: scheduling.now) { start() }
    }

    func runInBackground(isAtRest: Bool = false) async {
        await beginWork()
        do {
            if isAtRest { try await shrinkLog() }
            try await workUntilIdle()
            noteSuccess()
        } catch {
            noteFailure(error)
        }
        endWork()
        schedule.isRunning.store(false, ordering: .sequentiallyConsistent)
        condition.release()
    }

    /// Nothing is left of what went wrong before.
    private func noteSuccess() {
        // One that was given up, as the workspace is being closed, has not succeeded.
        if condition.isOverdue { return }
        schedule.failure.withLock { $0 = nil }
        schedule.hasFailed.store(false, ordering: .relaxed)
    }

    private func noteFailure(_ error: any Error) {
        let failure = error as? RoostError ?? RoostError(.io, "the compaction failed", cause: error)
        // Given up, as the workspace is being closed or nobody refers to it any more.
        if schedule.isStopping.load(ordering: .relaxed), failure.code == .closed { return }
        schedule.failure.withLock { $0 = failure }
        schedule.hasFailed.store(true, ordering: .relaxed)
        configuration.observer?.compactionFailed(failure)
        guard let log else { return }
        let totalBytes = log.totalBytes
        if isOverdue(totalBytes) {
            // From here on the log does not grow, and who is refused has it tried again.
            schedule.postpone(to: totalBytes)
            schedule.noteAttempt(now: scheduling.now)
            condition.setOverdue()
        } else {
            // Not again before the log has grown by a quarter of a flush.
            schedule.postpone(to: totalBytes + configuration.flushThresholdBytes / 4)
        }
    }

    func beginWork() async {
        while isWorking {
            await withCheckedContinuation { continuation in
                // Looked at again: a task with a preferred executor may be suspended by the call,
                // and who worked may be done by now.
                if isWorking { idleWaiters.append(continuation) } else { continuation.resume() }
            }
        }
        isWorking = true
    }

    func endWork() {
        isWorking = false
        let waiters = idleWaiters
        idleWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    /// Flushes, and merges all tiers into one.
    func compactAll() async throws {
        await beginWork()
        defer { endWork() }
        // Closed while this waited: the directory may have another owner by now. Poisoned: what it waited for may have left
        // either of two manifests, and nothing may build on one of them.
        try condition.checkOpen()
        if let poison = condition.poison { throw poison }
        try await flush()
        condition.release()
        try await dropCleared()
        let tierCount = cold.tiers.count
        if tierCount > 1 || (tierCount == 1 && hasGarbage) { try await merge(tierCount: tierCount) }
        try await forgetClears()
        try log?.shrink()
        noteSuccess()
    }

    var rewriterGeneration: UInt64 { configuration.rewriter?.generation ?? 0 }

    /// Whether the snapshots hold what was merged, was cleared or has expired, or what may have to be
    /// rewritten.
    private var hasGarbage: Bool {
        manifest.snapshots.contains { snapshot in
            snapshot.isTrimmed
                || manifest.clears.contains { snapshot.minimumSequence < $0.sequence }
                || rewriterGeneration > rewrittenGenerations[snapshot.number] ?? 0
        } || cold.snapshots.contains { !clock.isLive($0.footer.earliestDeadline) }
    }

    /// Waits for the running step and lets no further one begin.
    func stop() async {
        schedule.isStopping.store(true, ordering: .relaxed)
        await beginWork()
        endWork()
    }

    /// Notes in the manifest how much of the log is on disk and seals the log.
    func seal() throws {
        guard let log else { return }
        let sequence = log.lastSequence
        // Closing the log removes files by their names.
        try checkOwnership()
        try log.close()
        guard sequence > manifest.durableSequence else { return }
        var next = manifest
        next.durableSequence = sequence
        next.generation += 1
        try ManifestFile.replace(with: next, in: directory)
        manifest = next
        log.signals?.noteManifest(generation: next.generation)
    }

    func builder(
        _ clears: [ManifestRecord.Clear], dictionary: CompressionDictionary, dropsTombstones: Bool
    ) -> SnapshotBuilder {
        SnapshotBuilder(
            directory: directory, workspace: manifest.workspace, hashSeed: manifest.hashSeed,
            dictionary: configuration.compresses ? dictionary : nil,
            dropsTombstones: dropsTombstones,
            clears: Dictionary(uniqueKeysWithValues: clears.map { ($0.prefix, $0.sequence) }),
            clock: clock, rewriter: rewriterGeneration > 0 ? configuration.rewriter : nil,
            checksDirectory: { [manifestGuard] in try manifestGuard?.check() },
            isStopping: { [schedule] in schedule.isStopping.load(ordering: .relaxed) })
    }

    /// The numbers before `next` are taken.
    func noteNumbers(before next: UInt64) {
        manifest.nextSnapshotNumber = max(manifest.nextSnapshotNumber, next)
    }

    /// Makes `next` the manifest, on disk and here. Where it throws, `manifest` is the old one; where it is not known which
    /// of the two a crash would leave, the workspace is poisoned.
    func replaceManifest(_ next: ManifestRecord) throws {
        try checkOwnership()
        try ManifestFile.prepare(next, in: directory)
        try manifestGuard?.willReplace()
        do {
            try ManifestFile.publish(in: directory)
        } catch {
            // Which manifest a crash would leave is unknown, so nothing may build on either.
            condition.setPoison(
                RoostError(
                    .poisoned, "replacing the manifest failed: reopen the workspace",
                    file: directory.path, cause: error))
            throw error
        }
        // The new one counts: nothing that can fail comes from here on.
        manifest = next
        manifestGuard?.didReplace()
        log?.signals?.noteManifest(generation: next.generation)
    }

    /// Removes the segments and snapshots that the manifest does not need.
    func removeUnneeded() throws {
        log?.history.forget(before: manifest.firstSegment)
        let live = Set(manifest.snapshots.map(\.number))
        rewrittenGenerations = rewrittenGenerations.filter { live.contains($0.key) }
        var removed = false
        for entry in try directory.entries() {
            switch FileName(entry.name) {
            case .segment(let number) where number < manifest.firstSegment: break
            case .snapshot(let number)
            where !live.contains(number) && number < manifest.nextSnapshotNumber: break
            default: continue
            }
            try directory.remove(entry.name)
            removed = true
        }
        if removed { try directory.sync() }
    }
}
