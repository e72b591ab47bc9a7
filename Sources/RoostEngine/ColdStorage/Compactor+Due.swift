import RoostFormat
import RoostLog

// When the log is made to snapshots: by what it holds and takes, for what is live. docs/decisions/0175.

extension Compactor {
    /// Once the log holds so many times what is live, the most of it is overwritten.
    private static let fullLogShare: UInt64 = 3
    /// A log at rest may take this part of what the snapshots do.
    private static let restLogShare: UInt64 = 4
    /// Operations of a shard that tell how large one is.
    private static let sampleCount = 16

    /// How many bytes of log may be appended before it is looked at.
    static func firstLookBytes(_ configuration: EngineConfiguration) -> UInt64 {
        min(configuration.smallestFlushBytes, configuration.flushThresholdBytes)
    }

    // MARK: After openings that ended without a close

    /// Each of them has left a segment, however little it wrote. With so many of them the first write sets a flush off.
    static let manySegmentsCount = 16
    /// With so many the first write waits for it: a process that ends right after its write would end before
    /// the flush does, each time, until there are more files than a process may open.
    private static let tooManySegmentsCount = 32

    /// docs/decisions/0288.
    nonisolated func flushTooManySegments() {
        guard openedSegmentCount >= Self.tooManySegmentsCount else { return }
        condition.stall()
        start()
    }

    // MARK: While writers go on

    /// Whether the log is to be flushed; where it is not, it says when to look again.
    ///
    /// A log of keys that are all new is flushed at the threshold alone. One that holds the same
    /// keys over and over is flushed before, as that costs little and gives much back.
    func isFlushDue() -> Bool {
        guard let log else { return false }
        let totalBytes = log.totalBytes
        guard totalBytes >= schedule.nextFlushBytes else { return false }
        if tailSegmentCount >= Self.manySegmentsCount,
            log.lastSequence > manifest.flushedSequence
        {
            return true
        }
        let logBytes = totalBytes - schedule.flushedBytes + tailSizeBytes
        let threshold = configuration.flushThresholdBytes
        if logBytes >= threshold { return true }
        let wanted = max(snapshotSizeBytes, liveLogSizeBytes()) * Self.fullLogShare
        if logBytes >= wanted { return true }
        let step = Self.firstLookBytes(configuration) / 4
        schedule.postpone(
            to: totalBytes + max(min(threshold, wanted) - logBytes, min(step, threshold - logBytes))
        )
        return false
    }

    /// What all snapshots take on disk.
    var snapshotSizeBytes: UInt64 {
        cold.snapshots.reduce(0) { $0 + $1.footer.fileSizeBytes }
    }

    /// What the log would take if each of its keys stood in it once, about.
    private func liveLogSizeBytes() -> UInt64 {
        var keyCount = 0
        var samples = (count: 0, sizeBytes: 0)
        for shard in shards {
            shard.published.withLock { state in
                keyCount += state.active.count
                let end = samples.count + Self.sampleCount
                state.active.forEachUntil { operation in
                    samples.count += 1
                    samples.sizeBytes += Frame.sizeBytes(payloadCount: operation.sizeBytes)
                    return samples.count < end
                }
            }
        }
        return samples.count == 0 ? 0 : UInt64(keyCount * samples.sizeBytes / samples.count)
    }

    // MARK: At rest

    /// Nobody has written for a while: makes the log small where it takes much for what is live, and gives back
    /// what was emptied.
    ///
    /// Returns `false` where a compaction is under way: to be asked again.
    func rest() async -> Bool {
        guard !schedule.isRunning.exchange(true, ordering: .sequentiallyConsistent) else {
            return false
        }
        await runInBackground(isAtRest: true)
        return true
    }

    /// Flushes the log, and has it go on in the smallest segment.
    func shrinkLog() async throws {
        guard isRunning, let log, !condition.isClosed else { return }
        let limit = max(configuration.restLogSizeBytes, snapshotSizeBytes / Self.restLogShare)
        guard log.diskSizeBytes > limit || isClearToBeFlushed() else { return }
        try await flush(isAtRest: true)
        condition.release()
        try log.shrink()
    }
}
