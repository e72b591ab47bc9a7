import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// The embedded engine: shards over one log and one cold storage.
///
/// - A put goes `Engine+Write` → `Shard` → `LogWriter`, and from there, in the background,
///   `Compactor` → `SnapshotWriter`.
/// - A get goes `Engine+Read` → the shard's published state → `SnapshotReader`.
/// - `publication` is held while a batch of several shards becomes visible, and by whoever looks
///   at all shards at once; single-key reads and writes do without it.
package final class Engine: Sendable {
    package let configuration: EngineConfiguration
    package let directory: any Directory
    package let recovery: RecoveryReport
    package let workspaceIdentifier: WorkspaceIdentifier
    package let hashSeed: HashSeed
    package let clock: ExpiryClock
    package let expiryTimer: ExpiryTimer
    /// What runs tasks of the engine's that no actor claims; the cooperative pool where `nil`.
    package let taskExecutor: (any TaskExecutor)?
    /// Where indexes are built, one piece after another: a thread of its own shares the processor with
    /// writers as they do with each other. It begins with the first building.
    package let indexingThread: WorkerThread
    let shards: [Shard]
    let shardPlaces: ShardPlaces
    let log: LogWriter?
    let syncer: LogSyncer?
    /// Of an opening for reading only that follows a writer.
    package let follower: Follower?
    let compactor: Compactor
    let condition: EngineCondition
    let publication: Publication
    let feed: ChangeFeed
    let behind: WriteBehind
    let intervals: IntervalSync
    let liveViews = LiveViews()
    let turnWatch: TurnWatch
    package let guards = WriteGuards()
    private let closing = Mutex<Task<Void, any Error>?>(nil)

    init(parts: Recovery.Parts, configuration: EngineConfiguration) {
        self.configuration = configuration
        directory = parts.directory
        recovery = parts.report
        workspaceIdentifier = parts.manifest.workspace
        hashSeed = parts.manifest.hashSeed
        clock = parts.clock
        expiryTimer = ExpiryTimer(parts.clock, parts.scheduling, configuration.clockMoves)
        taskExecutor = parts.scheduling.taskExecutor
        indexingThread = parts.scheduling.thread(named: "roost-indexing")
        shards = parts.shards
        shardPlaces = ShardPlaces(shards)
        let order = KeyOrder()
        for shard in parts.shards { shard.published.withLock { $0.active.takeOrder(order) } }
        feed = parts.feed
        behind = parts.behind
        log = parts.log
        follower = parts.follower
        publication = parts.publication
        condition = parts.condition
        syncer = parts.syncer
        turnWatch = TurnWatch(
            scheduling: parts.scheduling, executor: parts.syncer?.taskExecutor,
            limit: configuration.turnLimit)
        intervals = IntervalSync(
            log: parts.log, syncer: parts.syncer, condition: parts.condition,
            scheduling: parts.scheduling)
        compactor = Compactor(
            directory: parts.directory, manifest: parts.manifest,
            manifestGuard: parts.manifestGuard, cold: parts.cold,
            shards: parts.shards, log: parts.log, syncer: parts.syncer, condition: parts.condition,
            clock: parts.clock, configuration: configuration, tailSizeBytes: parts.tailSizeBytes,
            tailSegmentCount: parts.tailSegmentCount, scheduling: parts.scheduling)
        // Not the engine, weakly: an object that was ever referred to so takes a slower way at each
        // retain, and every call retains the engine.
        let durability = enqueuedDurability
        behind.setOnAppend { [intervals, compactor] appended in
            if case .interval(let duration) = durability {
                intervals.noteWrite(
                    within: duration, isUsual: durability == configuration.durability,
                    totalBytes: appended.totalBytes)
            }
            if appended.totalBytes >= compactor.schedule.noticeBytes {
                compactor.noteGrowth(appended)
            }
        }
        compactor.restTimer.begin(for: compactor)
        compactor.flushTooManySegments()
        // An earlier opening may have emptied a dictionary and ended before it was at rest.
        if let shard = parts.shards.first, shard.published.withLock({ !$0.clears.isEmpty }) {
            compactor.noteClear()
        }
        follower?.start()
    }

    deinit {
        compactor.restTimer.stop()
        // Who opens the workspace again waits for what runs; the log holds all that a flush would have written.
        compactor.schedule.isStopping.store(true, ordering: .relaxed)
        expiryTimer.stop()
        feed.end()
        failures.end()
        follower?.stop()
        // A process that ends without a close leaves the lock to the kernel; one that drops its workspace
        // gives it back here, and there is nobody to tell of a failure.
        try? log?.signals?.stop()
        // The compactor knows the shards, and they know `behind`.
        behind.setOnAppend(nil)
        intervals.hurry()
        shardPlaces.deallocate()
    }

    /// Opens the workspace in the directory at `path`, which is created where it is missing,
    /// unless the opening is for reading only.
    package static func open(
        at path: String, fileSystem: any FileSystem, configuration: EngineConfiguration
    ) async throws -> Engine {
        let begin = ContinuousClock.now
        let parts = try await Recovery.open(
            at: path, fileSystem: fileSystem, configuration: configuration)
        return Engine(parts: parts, configuration: configuration, path, begin)
    }

    /// As `open`, on the caller's thread, which it blocks.
    package static func openBlocking(
        at path: String, fileSystem: any FileSystem, configuration: EngineConfiguration
    ) throws -> Engine {
        let begin = ContinuousClock.now
        let parts = try Recovery.openBlocking(
            at: path, fileSystem: fileSystem, configuration: configuration)
        return Engine(parts: parts, configuration: configuration, path, begin)
    }

    private convenience init(
        parts: Recovery.Parts, configuration: EngineConfiguration, _ path: String,
        _ begin: ContinuousClock.Instant
    ) {
        self.init(parts: parts, configuration: configuration)
        configuration.observer?.opened(path, recovery, after: ContinuousClock.now - begin)
    }

    /// The log that watchers look into: the writer's own, or the one that is followed.
    var committedLog: (any CommittedLog)? { log ?? follower?.shared.log }

    /// The last batch of the log, as far as this opening knows it.
    package var lastSequence: UInt64 { committedLog?.lastSequence ?? recovery.lastSequence }

    /// Whether the workspace was opened for writing, and follows no other.
    /// Throws what keeps every write from being made: `.closed`, `.readOnly`, `.poisoned`.
    package func checkWritable() throws { try condition.checkWritable() }

    package var isWritable: Bool { log != nil && !condition.isMirror }

    package var isClosed: Bool { condition.isClosed }

    /// Why a workspace that is open can be read no more, as its writer can be followed no more.
    package var readingFailure: RoostError? { condition.readingFailure }

    @inline(__always)
    func shard(of hash: UInt64) -> Shard {
        shards[shardIndex(of: hash, shardCount: shards.count)]
    }

    /// What went wrong where no caller waited.
    package var failures: WriteFailures { behind.failures }

    /// Returns once all that was written or enqueued before the call is on disk; throws where an
    /// enqueued write failed and nobody was told yet.
    package func synchronize() async throws {
        try await observe(.synchronize) { operation in
            operation.cause = .sync
            try await synchronizeNow()
        }
    }

    private func synchronizeNow() async throws {
        try condition.checkOpen()
        guard let log, let syncer, isWritable else { return try failures.throwUnreported() }
        for shard in shards { await shard.waitForEnqueued() }
        try condition.checkWritable()
        try await sync(syncer, through: log.lastSequence)
        try failures.throwUnreported()
    }

    /// Brings the log to disk for a call, which tells where that fails.
    nonisolated(nonsending) func sync(
        _ syncer: LogSyncer, through sequence: UInt64
    ) async throws {
        do { try await syncer.sync(through: sequence) } catch {
            condition.hearPoison()
            throw error
        }
    }

    /// Writes the log's records to snapshots and merges all snapshots.
    package func compact() async throws {
        try condition.checkOpen()
        try condition.checkWritable()
        do { try await compactor.compactAll() } catch {
            condition.hearPoison()
            throw error
        }
    }

    /// Brings everything to disk, seals the log and gives the directory back. Later calls throw
    /// `.closed`; a second close does nothing.
    package func close() async throws {
        // Whoever closes second waits for the first, and gets its outcome.
        let closing = closing.withLock { closing in
            if let closing { return closing }
            let begun = Task.detached(executorPreference: compactor.taskExecutor) {
                try await self.closeObserved()
            }
            closing = begun
            return begun
        }
        try await closing.value
    }

    private func closeObserved() async throws {
        let begin = ContinuousClock.now
        do { try await closeOnce() } catch {
            let failure = error as? RoostError ?? RoostError(.io, "closing failed", cause: error)
            configuration.observer?.closed(after: ContinuousClock.now - begin, failure)
            throw error
        }
        configuration.observer?.closed(after: ContinuousClock.now - begin, nil)
    }

    private func closeOnce() async throws {
        guard condition.beginClosing() else { return }
        follower?.stop()
        for shard in shards { await shard.waitForEnqueued(closes: true) }
        compactor.restTimer.stop()
        await compactor.stop()
        var failure: (any Error)?
        do {
            if let log, let syncer, condition.poison == nil {
                log.stopAppending()
                await log.ahead?.finish()
                try await syncer.sync(through: log.lastSequence)
                try await compactor.seal()
            } else {
                log?.abandon()
                await log?.ahead?.finish()
                // What was acknowledged since the last sync may not be on disk, and nobody was told so.
                failure = condition.unheardPoison
            }
        } catch { failure = error }
        expiryTimer.stop()
        feed.end()
        // Before they end: what was lost is told here if it was not told yet.
        let unreported = Result { try failures.throwUnreported() }
        failures.end()
        // Before the directory is another's, whose writer says so too.
        let told = Result { try log?.signals?.stop() }
        try directory.unlock()
        if let failure { throw failure }
        try told.get()
        try unreported.get()
    }
}
