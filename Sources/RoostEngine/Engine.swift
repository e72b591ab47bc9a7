import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// The embedded engine: shards over one log and each shard's snapshots.
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
    package let hashSeed: HashSeed
    package let clock: ExpiryClock
    let shards: [Shard]
    let shardPlaces: ShardPlaces
    let log: LogWriter?
    let syncer: LogSyncer?
    let compactor: Compactor
    let condition: EngineCondition
    let publication = Mutex<Void>(())
    let feed: ChangeFeed
    let behind: WriteBehind
    let intervals: IntervalSync
    let liveViews = LiveViews()
    /// What commits enqueued writes behind the call.
    let taskExecutor: (any TaskExecutor)?
    private let closing = Mutex<Task<Void, any Error>?>(nil)

    init(parts: Recovery.Parts, configuration: EngineConfiguration) {
        self.configuration = configuration
        directory = parts.directory
        recovery = parts.report
        hashSeed = parts.manifest.hashSeed
        clock = parts.clock
        shards = parts.shards
        shardPlaces = ShardPlaces(shards)
        let order = KeyOrder()
        for shard in parts.shards { shard.published.withLock { $0.active.takeOrder(order) } }
        feed = parts.feed
        behind = parts.behind
        log = parts.log
        condition = parts.condition
        syncer = parts.syncer
        taskExecutor = parts.scheduling.taskExecutor
        intervals = IntervalSync(syncer: parts.syncer, scheduling: parts.scheduling)
        compactor = Compactor(
            directory: parts.directory, manifest: parts.manifest, shards: parts.shards,
            log: parts.log, syncer: parts.syncer, condition: parts.condition,
            clock: parts.clock, configuration: configuration, tailSizeBytes: parts.tailSizeBytes,
            scheduling: parts.scheduling)
        // Not the engine, weakly: an object that was ever referred to so takes a slower way at each
        // retain, and every call retains the engine.
        let durability = enqueuedDurability
        behind.setOnAppend { [intervals, compactor] appended in
            if case .interval(let duration) = durability {
                intervals.noteWrite(
                    within: duration, isUsual: durability == configuration.durability)
            }
            if appended.totalBytes >= compactor.schedule.nextFlushBytes {
                compactor.noteGrowth(appended)
            }
        }
    }

    deinit {
        feed.end()
        failures.end()
        // The compactor knows the shards, and they know `behind`.
        behind.setOnAppend(nil)
        shardPlaces.deallocate()
    }

    /// Opens the workspace in the directory at `path`, which is created where it is missing,
    /// unless the opening is for reading only.
    package static func open(
        at path: String, fileSystem: any FileSystem, configuration: EngineConfiguration
    ) async throws -> Engine {
        let parts = try await Recovery.open(
            at: path, fileSystem: fileSystem, configuration: configuration)
        return Engine(parts: parts, configuration: configuration)
    }

    @inline(__always)
    func shard(of hash: UInt64) -> Shard {
        shards[shardIndex(of: hash, shardCount: shards.count)]
    }

    /// What went wrong where no caller waited.
    package var failures: WriteFailures { behind.failures }

    /// Returns once all that was written or enqueued before the call is on disk; throws where an
    /// enqueued write failed and nobody was told yet.
    package func synchronize() async throws {
        try condition.checkOpen()
        guard let log, let syncer else { return try failures.throwUnreported() }
        for shard in shards where shard.hasEnqueued.load(ordering: .relaxed) {
            await shard.drainAll()
        }
        try condition.checkWritable()
        try await syncer.sync(through: log.lastSequence)
        try failures.throwUnreported()
    }

    /// Writes the log's records to snapshots and merges each shard's snapshots into one.
    package func compact() async throws {
        try condition.checkOpen()
        try condition.checkWritable()
        try await compactor.compactAll()
    }

    /// Brings everything to disk, seals the log and gives the directory back. Later calls throw
    /// `.closed`; a second close does nothing.
    package func close() async throws {
        // Whoever closes second waits for the first, and gets its outcome.
        let closing = closing.withLock { closing in
            if let closing { return closing }
            let begun = Task.detached(executorPreference: compactor.taskExecutor) {
                try await self.closeOnce()
            }
            closing = begun
            return begun
        }
        try await closing.value
    }

    private func closeOnce() async throws {
        guard condition.beginClosing() else { return }
        for shard in shards { await shard.drainForGood() }
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
            }
        } catch { failure = error }
        feed.end()
        // Before they end: what was lost is told here if it was not told yet.
        let unreported = Result { try failures.throwUnreported() }
        failures.end()
        try directory.unlock()
        if let failure { throw failure }
        try unreported.get()
    }
}
