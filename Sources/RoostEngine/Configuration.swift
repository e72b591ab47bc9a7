import RoostIO

/// When a write's call returns, and what then survives.
public enum Durability: Sendable, Hashable {
    /// Survives the death of the process, at any instruction; a power cut may take it.
    case process
    /// As `process`, and on disk within that time.
    case interval(Duration)
    /// On disk when the call returns. Readers see it only then.
    case synced
}

/// How an engine is set up; the public configuration is made into this.
package struct EngineConfiguration: Sendable {
    package var isReadOnly = false
    package var shardCount = 16
    package var durability = Durability.interval(.milliseconds(50))
    package var memoryBudgetBytes = 64 << 20
    package var compresses = true
    /// Log bytes since the last flush at which the next one begins.
    package var flushThresholdBytes: UInt64 = 128 << 20
    /// Log bytes since the last flush at which writers wait.
    package var backlogLimitBytes: UInt64 = 512 << 20
    /// Threads that write snapshots at the same time.
    package var compactionThreadCount = BuildThreads.usualCount
    /// For tests of the tests.
    package var plantedFaults: PlantedFaults = []

    /// How long the first log segment of an opening is, and the next ones at least.
    package var segmentSizeBytes = 1 << 20
    /// A batch of this size or more, which waits for a sync, is written to the log by a call.
    package var minimumCallSizeBytes = 8 << 10

    /// What the time is, in milliseconds since 1970, for values that expire.
    package var wallClock: @Sendable () -> UInt64 = { WallTime.milliseconds }

    /// Brings stored values up to date while compaction copies them.
    package var rewriter: (any ValueRewriter)?

    package init() {}
}
