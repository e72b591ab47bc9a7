import RoostIO

/// When a write's call returns, and what then survives.
public enum Durability: Sendable, Hashable {
    /// Survives the death of the process, at any instruction; a power cut may take it.
    case process
    /// As `process`, and a sync of it begins within that time; with the sync it is on disk within twice
    /// that time, where the disk can: writers wait as long as they bring more than the disk writes in
    /// half of it. A disk that needs longer for 2 MiB, or is late by itself, is waited for without
    /// an end. ``WorkspaceStatistics/oldestUnsyncedWriteAge`` says how old the oldest such write is.
    case interval(Duration)
    /// On disk when the call returns. Readers see it only then.
    case synced
}

/// How an engine is set up; the public configuration is made into this.
package struct EngineConfiguration: Sendable {
    package var isReadOnly = false
    /// Changes come from a workspace elsewhere alone, by `Engine.apply`, until `endMirroring`.
    package var isMirror = false
    package var shardCount = 16
    package var durability = Durability.interval(.milliseconds(50))
    package var memoryBudgetBytes = 64 << 20
    /// For the keys of objects that are put in order by pieces.
    package var sortBudgetBytes = 64 << 20
    package var compresses = true
    /// Log bytes since the last flush at which the next one begins at the latest.
    package var flushThresholdBytes: UInt64 = 128 << 20
    /// Below so many none begins, though all of them are of few keys.
    package var smallestFlushBytes: UInt64 = 32 << 20
    /// How long nobody has written where the log is made small.
    package var restDelay = Duration.milliseconds(300)
    /// So much the log's files may take at rest, whatever is live.
    package var restLogSizeBytes: UInt64 = 4 << 20
    /// Log bytes since the last flush at which writers wait.
    package var backlogLimitBytes: UInt64 = 512 << 20
    /// What a snapshot has, about, where there is enough to write.
    package var snapshotSizeBytes = 32 << 20
    /// Threads that write snapshots at the same time.
    package var compactionThreadCount = BuildThreads.usualCount
    /// For simulations: whether transactions suspend where, on real threads, others may come between.
    package var pausesBetweenSteps = false
    /// For tests: whether each batch of several shards is staged, and each change of one object a transaction, as
    /// where they cannot be made at once.
    package var declinesChangesAtOnce = false
    /// For tests of the tests.
    package var plantedFaults: PlantedFaults = []

    /// How long the first log segment of an opening is, and the next ones at least.
    package var segmentSizeBytes = 1 << 20
    /// A batch of this size or more, which waits for a sync, is written to the log by a call.
    package var minimumCallSizeBytes = 8 << 10
    /// So is one of this size or more that waits for nothing. docs/decisions/0277.
    package var minimumUnawaitedCallSizeBytes = 32 << 10

    /// At most so many objects get their entries in one step of the building of an index.
    package var indexPieceCount = 4096

    /// What the time is, in milliseconds since 1970, for values that expire.
    package var wallClock: @Sendable () -> UInt64 = { WallTime.milliseconds }

    /// Tells where that clock is set by hand.
    package var clockMoves: ClockMoves?

    /// How long a transaction that has its turn may hold up others, at least; longer where its body
    /// has taken longer before.
    package var turnLimit = Duration.seconds(5)

    /// Brings stored values up to date while compaction copies them.
    package var rewriter: (any ValueRewriter)?

    /// What is told of all that happens.
    package var observer: (any WorkspaceObserver)?

    package init() {}
}
