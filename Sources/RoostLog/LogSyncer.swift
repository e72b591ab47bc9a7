import RoostFormat
import RoostIO
import Synchronization

/// Brings the log to disk, on a thread of its own, because `fdatasync` blocks.
///
/// Group commit: each durable writer waits by a call to `sync(through:)`. The calls queue on the
/// actor while one `fdatasync` runs; the next one serves all that queued, who find their sequence
/// number durable and return. Writers that were served together tend to come again together, so
/// the next sync waits for as many, though never for longer than a third of a sync.
///
/// - After one failed sync nothing is ever reported durable again: the kernel may have dropped
///   the pages that it could not write, and a later sync would succeed without them. Nor is anything appended.
package actor LogSyncer {
    private let log: LogWriter
    private let thread: WorkerThread
    private var failure: RoostError?
    private let onFailure: @Sendable (RoostError) -> Void
    private let onSync: (@Sendable (_ batchCount: UInt64, _ duration: Duration) -> Void)?
    /// How many batches the last sync brought to disk and how many came meanwhile, and how long it
    /// took.
    private var last = (count: UInt64(0), duration: Duration.zero)
    /// More writers than this are not waited for.
    private static let largestGroupCount: UInt64 = 256
    /// How often the disk was asked, for the statistics.
    private let syncs = Atomic<UInt64>(0)

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// The same thread, for tasks that have to run whatever the cooperative pool does.
    package nonisolated var taskExecutor: WorkerTaskExecutor { thread.forTasks }

    package nonisolated var syncCount: UInt64 { syncs.load(ordering: .relaxed) }

    /// `onFailure` is called once, at the first failed sync, before anybody hears of it; `onSync` after
    /// each that did not fail.
    package init(
        log: LogWriter, thread: WorkerThread,
        onSync: (@Sendable (_ batchCount: UInt64, _ duration: Duration) -> Void)? = nil,
        onFailure: @escaping @Sendable (RoostError) -> Void
    ) {
        self.log = log
        self.thread = thread
        self.onSync = onSync
        self.onFailure = onFailure
    }

    /// Returns once every batch up to `sequence` is on disk.
    package func sync(through sequence: UInt64) throws {
        if log.durableSequence >= sequence { return }
        if let failure { throw failure }
        try syncAll()
    }

    /// Returns once every batch appended before the call is on disk.
    package func sync() throws { try sync(through: log.lastSequence) }

    /// Gives those whom the last sync served the time to append again.
    private func gather() {
        let durable = log.durableSequence
        let wanted = min(last.count, Self.largestGroupCount)
        guard wanted > 1, log.lastSequence - durable < wanted else { return }
        thread.yield(upTo: min(last.duration / 3, .microseconds(200))) {
            log.lastSequence - durable >= wanted
        }
    }

    private func syncAll() throws {
        gather()
        let begin = ContinuousClock.now
        let before = log.durableSequence
        let work = log.state.withLock { state in
            defer { state.hasNewEntries = false }
            return (
                segments: state.unsynced, current: state.segment.number,
                sequence: state.lastSequence, hasNewEntries: state.hasNewEntries,
                earlierSegments: state.earlierSegments
            )
        }
        syncs.wrappingAdd(1, ordering: .relaxed)
        do {
            for segment in work.earlierSegments { try segment.bringToDisk() }
            for segment in work.segments {
                if segment.number != work.current, segment.isMapped { segment.region.dropPages() }
                try segment.file.syncData()
            }
            if work.hasNewEntries { try log.directory.sync() }
        } catch {
            let poison = RoostError(
                .poisoned,
                "a sync failed: whether the last writes are on disk is unknown. Reopen the workspace",
                file: (error as? RoostError)?.file, cause: error)
            failure = poison
            onFailure(poison)
            log.end(with: poison)
            throw poison
        }
        log.state.withLock { state in
            state.earlierSegments = []
            state.unsynced.removeAll { segment in
                segment.number != work.current && work.segments.contains { $0 === segment }
            }
        }
        log.noteDurable(work.sequence)
        last = (log.lastSequence - min(before, log.lastSequence), ContinuousClock.now - begin)
        onSync?(work.sequence - min(before, work.sequence), last.duration)
    }
}
