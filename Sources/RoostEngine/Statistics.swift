import RoostFormat
import RoostLog

/// Figures of an open workspace, taken one after another while it goes on.
public struct WorkspaceStatistics: Sendable {
    /// The sequence number of the last batch in the log.
    public var lastSequence: UInt64 = 0
    /// Every batch up to this one is known to be on disk.
    public var durableSequence: UInt64 = 0
    /// How many batches the writer is known to be ahead, of a workspace that is opened for reading only;
    /// 0 for any other.
    public var batchesBehindWriter: UInt64 = 0
    /// How long ago the oldest write of `.interval` durability came that is not on disk yet; `nil` where
    /// there is none. Beyond twice the interval the disk is slower than a sync of 2 MiB in half of it.
    public var oldestUnsyncedWriteAge: Duration?
    /// Bytes appended to the log in this opening.
    public var logBytesAppended: UInt64 = 0
    /// Bytes of the log that are in no snapshot yet, of this opening: the next flush begins, and writers wait,
    /// by these.
    public var logBacklogBytes: UInt64 = 0
    /// At so many backlog bytes writers wait for compaction; where it fails, at twice as many writes are refused.
    public var logBacklogLimitBytes: UInt64 = 0
    /// Bytes written to snapshots in this opening, by flushes and merges.
    public var snapshotBytesWritten: UInt64 = 0
    /// How often the disk was asked to sync the log.
    public var syncCount: UInt64 = 0
    /// Flushes of the log into snapshots, in this opening.
    public var flushCount: UInt64 = 0
    /// Merges of snapshots, in this opening.
    public var mergeCount: UInt64 = 0
    /// Snapshots that are read now.
    public var snapshotCount = 0
    /// Tiers of snapshots: a look-up of a key that is in none of them asks each.
    public var snapshotTierCount = 0
    /// Records in snapshots, tombstones and overwritten ones included.
    public var snapshotRecordCount: UInt64 = 0
    /// What the snapshots take on disk.
    public var snapshotSizeBytes: UInt64 = 0
    /// Keys whose newest record is in the log.
    public var logKeyCount = 0
    /// As many of them as one shard has at the most: much more than its share would say that keys
    /// do not spread.
    public var fullestShardLogKeyCount = 0
    /// Memory of the tables that find them.
    public var logTableSizeBytes = 0
    /// Values that are kept in memory.
    public var residentCount = 0
    /// Memory of the resident values, as counted against the budget.
    public var residentSizeBytes = 0
    /// Reads answered by a resident value.
    public var residentReadCount: UInt64 = 0
    /// Reads answered from the log.
    public var logReadCount: UInt64 = 0
    /// Reads answered by looking into snapshots, that a key has no value included.
    public var coldReadCount: UInt64 = 0
    /// Read views that are open. Each keeps the log's segments and the snapshots that it began on,
    /// and what has been overwritten since.
    public var liveReadViewCount = 0
    /// How long the oldest of them has been open; `nil` where there is none. One that grows
    /// without end was forgotten.
    public var oldestReadViewAge: Duration?
    /// Watchers of keys, ranges and changes, with those of subscriptions and observed values.
    public var watcherCount = 0
    /// Results of queries that are kept live.
    public var liveQueryCount = 0
    /// Events that wait for the reader of the watcher that is furthest behind.
    public var furthestWatcherEventCount = 0
    /// The last thing that went wrong in the background and is tried again.
    public var compactionFailure: String?

    /// Bytes written to files for each byte appended by writers, in this opening.
    public var writeAmplification: Double {
        logBytesAppended == 0
            ? 0 : Double(logBytesAppended + snapshotBytesWritten) / Double(logBytesAppended)
    }

    /// Figures of nothing: all zero.
    public init() {}
}

extension Engine {
    /// Takes each shard's mutex once; does not suspend.
    package var statistics: WorkspaceStatistics {
        var figures = WorkspaceStatistics()
        figures.lastSequence = lastSequence
        figures.durableSequence =
            log?.durableSequence ?? follower?.durableSequence ?? recovery.lastSequence
        figures.batchesBehindWriter = following?.batchesBehind ?? 0
        figures.oldestUnsyncedWriteAge = intervals.oldestAge
        figures.logBytesAppended = log?.totalBytes ?? 0
        let (total, flushed) = (figures.logBytesAppended, compactor.schedule.flushedBytes)
        figures.logBacklogBytes = total - min(flushed, total)
        figures.logBacklogLimitBytes = configuration.backlogLimitBytes
        (figures.watcherCount, figures.furthestWatcherEventCount) = feed.figures
        figures.snapshotBytesWritten = compactor.schedule.snapshotBytesWritten.load(
            ordering: .relaxed)
        figures.syncCount = syncer?.syncCount ?? 0
        figures.flushCount = compactor.schedule.flushCount.load(ordering: .relaxed)
        figures.mergeCount = compactor.schedule.mergeCount.load(ordering: .relaxed)
        (figures.liveReadViewCount, figures.oldestReadViewAge) = liveViews.figures
        figures.compactionFailure = compactor.schedule.failure.withLock { $0?.description }
        let cold = shards[0].published.withLock { $0.cold.storage }
        figures.snapshotTierCount = cold.tiers.count
        for snapshot in cold.snapshots {
            figures.snapshotCount += 1
            figures.snapshotRecordCount += snapshot.footer.recordCount
            figures.snapshotSizeBytes += snapshot.footer.fileSizeBytes
        }
        for shard in shards {
            shard.published.withLock { state in
                let tables = [state.active, state.frozen].compactMap { $0 }
                let keyCount = tables.reduce(0) { $0 + $1.count }
                figures.logKeyCount += keyCount
                figures.fullestShardLogKeyCount = max(figures.fullestShardLogKeyCount, keyCount)
                figures.logTableSizeBytes += tables.reduce(0) { $0 + $1.sizeBytes }
                figures.residentCount += state.residents.count
                figures.residentSizeBytes += state.residents.sizeBytes
                figures.residentReadCount += state.counters.residentCount
                figures.logReadCount += state.counters.logCount
                figures.coldReadCount += state.counters.coldCount
            }
        }
        return figures
    }
}
