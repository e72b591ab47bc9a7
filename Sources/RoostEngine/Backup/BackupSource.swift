import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// The files that hold all of a workspace at one moment.
///
/// - What is copied of them changes no more: the log's segments are sealed, or another process writes
///   after `endOffset`.
/// - They are held open: a merge may remove their names while they are copied.
struct BackupSource: Sendable {
    /// What the copy's manifest is to be.
    let manifest: ManifestRecord
    /// What the manifest lists, in its order.
    let cold: ColdStorage
    let segments: [Segment]
    let lastSequence: UInt64

    struct Segment: Sendable {
        let number: UInt64
        /// Of the whole file, of which only what is before `endOffset` may be looked at.
        let region: MappedRegion
        /// After it are zeros, in the copy at least.
        let endOffset: Int
    }

    /// Of all that is to be copied or shared.
    var sizeBytes: UInt64 {
        cold.snapshots.reduce(0) { $0 + $1.footer.fileSizeBytes }
            + segments.reduce(0) { $0 + UInt64($1.region.sizeBytes) }
    }
}

extension Compactor {
    /// All that the workspace holds now. Flushes first, so that what is new since the last backup stands
    /// in snapshots, which the next backup shares, and not in the log, which is copied each time.
    ///
    /// - Parameter recoveredSequence: The last batch that the opening found, which is the last where none is written.
    func backupSource(recoveredSequence: UInt64) async throws -> BackupSource {
        await beginWork()
        defer { endWork() }
        try condition.checkOpen()
        var lastSequence = recoveredSequence
        var currentSegment = UInt64.max
        if let log {
            lastSequence = log.lastSequence
            if let syncer, condition.poison == nil {
                try await flush()
                condition.release()
                // A frozen table may hold a part of a batch that came while shard after shard was
                // frozen. The log has the whole of it.
                let boundary = try await log.rotateWithoutWaiters()
                try await syncer.sync(through: boundary.lastSequence)
                lastSequence = boundary.lastSequence
                currentSegment = boundary.segmentNumber
            }
        }
        var copied = manifest
        copied.durableSequence = max(lastSequence, manifest.durableSequence)
        return BackupSource(
            manifest: copied, cold: cold, segments: try segments(before: currentSegment),
            lastSequence: lastSequence)
    }

    /// All that can be read now of a workspace that another process may be writing to.
    func backupSource(beside page: SignalPage?) throws -> BackupSource {
        try condition.checkOpen()
        let state = try FollowedState.read(
            in: directory, page: page, shardCount: shards.count, known: cold)
        let tail = state.tail
        var copied = state.manifest
        copied.durableSequence = max(tail.lastSequence, copied.durableSequence)
        let segments = tail.segments.map { segment in
            let region = segment.region
            let isLast = segment.number == tail.place.segmentNumber
            return BackupSource.Segment(
                number: segment.number, region: region,
                endOffset: isLast
                    ? tail.place.offset : region.sizeBytes - trailingZeroCount(region.bytes))
        }
        return BackupSource(
            manifest: copied, cold: state.cold, segments: segments,
            lastSequence: tail.lastSequence)
    }

    private func segments(before end: UInt64) throws -> [BackupSource.Segment] {
        try directory.entries().compactMap { entry -> UInt64? in
            guard case .segment(let number) = FileName(entry.name) else { return nil }
            return number >= manifest.firstSegment && number < end ? number : nil
        }
        .sorted()
        .map { number in
            let reader = try LogReader(number: number, in: directory, writable: false)
            return BackupSource.Segment(
                number: number, region: reader.region, endOffset: reader.contentEnd(from: 0))
        }
    }
}

extension Engine {
    /// Throws `.closed` where the workspace is.
    package func checkOpen() throws { try condition.checkOpen() }

    /// Copies all that the workspace holds at one moment, not before the call, into `target`, which is
    /// locked. What `target` holds of an earlier call that did not end is used; what `earlier` holds of
    /// the same snapshots is shared with it. On disk and checked when the call returns. Readers, writers
    /// and compaction go on meanwhile. The observer is told by who gives the backup its name.
    ///
    /// - Parameters:
    ///   - verifiesShared: Whether what is shared is read before, and copied where it is damaged.
    ///   - thread: Where it blocks.
    ///   - progress: Told the bytes that are done, and all of them.
    package func backup(
        to target: any Directory, sharing earlier: (any Directory)?,
        verifiesShared: Bool, on thread: WorkerThread,
        progress: @escaping @Sendable (_ doneBytes: UInt64, _ sizeBytes: UInt64) -> Void
    ) async throws -> BackupReport {
        try condition.checkOpen()
        for shard in shards { await shard.waitForEnqueued() }
        let source: BackupSource
        do {
            if let follower {
                source = try await compactor.backupSource(beside: follower.shared.page)
            } else {
                source = try await compactor.backupSource(recoveredSequence: recovery.lastSequence)
            }
        } catch let error as RoostError where error.code == .poisoned {
            condition.hearPoison()
            throw error
        }
        let writer = BackupWriter(
            source: source, target: target, earlier: earlier, verifiesShared: verifiesShared,
            progress: progress)
        return try await BackupThread(thread: thread).run(writer)
    }
}

/// A thread for the copying, as it blocks.
private actor BackupThread {
    private let thread: WorkerThread

    init(thread: WorkerThread) { self.thread = thread }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func run(_ writer: BackupWriter) throws -> BackupReport {
        var writer = writer
        return try writer.run()
    }
}
