import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// What an opening found and did.
public struct RecoveryReport: Sendable {
    /// A piece of the log that a crash had left unfinished.
    public struct TornTail: Sendable, Equatable {
        /// The segment's file name.
        public var file: String
        /// Where in it the tail began.
        public var offset: UInt64
        public var sizeBytes: UInt64
        /// The file that the tail's bytes were kept in; `nil` where there were none, or the
        /// opening was for reading only.
        public var keptAs: String?
    }

    /// Whether the workspace was made by this opening.
    public internal(set) var isNew = false
    /// Batches that were read back from the log.
    public internal(set) var replayedBatchCount = 0
    /// The puts and removals in them.
    public internal(set) var replayedOperationCount = 0
    /// What was cut off the log's end, the first first. Nothing in it had been promised to
    /// survive.
    public internal(set) var tornTails: [TornTail] = []
    /// Files that a crash had left over and that were removed.
    public internal(set) var removedFiles: [String] = []
    /// The sequence number of the last batch.
    public internal(set) var lastSequence: UInt64 = 0
}

/// Opens a workspace: locks it, reads the manifest, maps the snapshots, replays the log's tail.
///
/// It can be stopped anywhere and run again: every step leaves a state that the next opening
/// takes up. For reading only it changes nothing.
enum Recovery {
    /// What an engine is made of.
    struct Parts {
        var directory: any Directory
        var manifest: ManifestRecord
        var shards: [Shard]
        var feed: ChangeFeed
        var behind: WriteBehind
        var log: LogWriter?
        var syncer: LogSyncer?
        var condition: EngineCondition
        var clock: ExpiryClock
        var report: RecoveryReport
        var tailSizeBytes: UInt64
        var scheduling: any Scheduling
    }

    static func open(
        at path: String, fileSystem: any FileSystem, configuration: EngineConfiguration
    ) async throws -> Parts {
        let thread = fileSystem.scheduling.thread(named: "roost-open")
        return try await BlockingOpening(thread: thread).open(path, fileSystem, configuration)
    }
}

/// The opening's thread, as it blocks.
private actor BlockingOpening {
    private let thread: WorkerThread

    init(thread: WorkerThread) { self.thread = thread }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func open(
        _ path: String, _ fileSystem: any FileSystem, _ configuration: EngineConfiguration
    ) throws -> Recovery.Parts {
        let writable = !configuration.isReadOnly
        let directory = try fileSystem.openDirectory(at: path, create: writable)
        try directory.lock(exclusive: writable)
        var report = RecoveryReport()
        let entries = try directory.entries()
        try refuseIrregular(entries, path)
        let manifest = try manifest(in: directory, entries, configuration, &report)
        try refuseMissing(manifest, entries, directory)
        // An opening that was killed may have left a manifest whose new name is not on disk yet:
        // nothing may be removed because of it before it is.
        if writable && !isAtRest(entries, manifest) { try directory.sync() }
        let snapshots = try openSnapshots(manifest, directory)
        var replay = Replay(shardCount: snapshots.count, hashSeed: manifest.hashSeed)
        let segmentNumbers = entries.compactMap { entry -> UInt64? in
            if case .segment(let number) = FileName(entry.name) { number } else { nil }
        }
        var recovered = try LogRecovery(
            segmentNumbers: segmentNumbers, manifest: manifest, directory: directory,
            writable: writable
        ) { frame, reader in try replay.add(frame, reader) }
        report.note(recovered, operationCount: replay.operationCount, isCut: writable)
        let condition = EngineCondition(isReadOnly: !writable)
        var parts = Recovery.Parts(
            directory: directory, manifest: manifest, shards: [], feed: ChangeFeed(),
            behind: WriteBehind(condition: condition), condition: condition,
            clock: ExpiryClock(configuration.wallClock), report: report,
            tailSizeBytes: replay.sizeBytes, scheduling: fileSystem.scheduling)
        if writable {
            try recovered.cut(in: directory)
            try removeLeftovers(entries, manifest, directory, &parts.report)
            try startLog(&parts, recovered, configuration)
        }
        parts.shards = shards(of: parts, snapshots, configuration)
        replay.apply(to: parts.shards)
        return parts
    }

    private func shards(
        of parts: Recovery.Parts, _ snapshots: [SnapshotList], _ configuration: EngineConfiguration
    ) -> [Shard] {
        snapshots.map { list in
            let shard = Shard(
                hashSeed: parts.manifest.hashSeed,
                residentBudgetBytes: configuration.memoryBudgetBytes / snapshots.count,
                feed: parts.feed, behind: parts.behind, clock: parts.clock, storage: parts.log)
            shard.restore(snapshots: list, clears: parts.manifest.clears)
            return shard
        }
    }

    /// Whether there is nothing but what the manifest lists, and it lists something: then nothing
    /// will be removed because of it, and it was on disk before what it replaced was removed. A new
    /// workspace's manifest may not be; it must not be lost with a segment behind it.
    private func isAtRest(_ entries: [DirectoryEntry], _ manifest: ManifestRecord) -> Bool {
        let live = Set(manifest.snapshots.joined().map(\.number))
        return !live.isEmpty
            && entries.allSatisfy { entry in
                switch FileName(entry.name) {
                case .manifest, nil: true
                case .snapshot(let number): live.contains(number)
                default: false
                }
            }
    }

    private func refuseIrregular(_ entries: [DirectoryEntry], _ path: String) throws {
        for entry in entries where !entry.isRegularFile && FileName(entry.name) != nil {
            throw RoostError(
                .io, "not a regular file: a workspace holds no links, pipes or directories",
                file: "\(path)/\(entry.name)")
        }
        for entry in entries where !entry.isRegularFile {
            throw RoostError(
                .io, "the directory holds something that is not a regular file: move it elsewhere",
                file: "\(path)/\(entry.name)")
        }
    }

    private func manifest(
        in directory: any Directory, _ entries: [DirectoryEntry],
        _ configuration: EngineConfiguration, _ report: inout RecoveryReport
    ) throws -> ManifestRecord {
        if let record = try ManifestFile.read(in: directory, entries: entries) { return record }
        for entry in entries {
            switch FileName(entry.name) {
            case .segment, .snapshot:
                throw RoostError(
                    .corrupt,
                    "there are data files but no manifest. Restore a backup, or salvage what can be read",
                    file: "\(directory.path)/\(FileName.manifest.text)")
            default: continue
            }
        }
        guard !configuration.isReadOnly else {
            throw RoostError(.io, "there is no workspace here to read", file: directory.path)
        }
        let record = ManifestRecord(
            workspace: .init(first: directory.randomNumber(), second: directory.randomNumber()),
            hashSeed: .init(first: directory.randomNumber(), second: directory.randomNumber()),
            shardCount: configuration.shardCount)
        try ManifestFile.replace(with: record, in: directory)
        report.isNew = true
        return record
    }

    private func refuseMissing(
        _ manifest: ManifestRecord, _ entries: [DirectoryEntry], _ directory: any Directory
    ) throws {
        let names = Set(entries.map(\.name))
        for snapshot in manifest.snapshots.joined() {
            let name = FileName.snapshot(snapshot.number).text
            guard !names.contains(name) else { continue }
            throw RoostError(
                .corrupt,
                "a snapshot that the manifest lists is missing. Restore a backup, or salvage what can be read",
                file: "\(directory.path)/\(name)", offset: 0)
        }
    }

    private func openSnapshots(
        _ manifest: ManifestRecord, _ directory: any Directory
    ) throws -> [SnapshotList] {
        try manifest.snapshots.enumerated().map { shard, listed in
            SnapshotList(
                try listed.map { entry in
                    let reader = try SnapshotReader(number: entry.number, in: directory)
                    guard reader.footer.workspace == manifest.workspace,
                        reader.footer.shard == UInt32(shard), entry == .init(footer: reader.footer)
                    else {
                        throw RoostError(
                            .corrupt, "the snapshot is not the one that the manifest lists",
                            file: reader.path, offset: 0)
                    }
                    return reader
                })
        }
    }

    private func removeLeftovers(
        _ entries: [DirectoryEntry], _ manifest: ManifestRecord, _ directory: any Directory,
        _ report: inout RecoveryReport
    ) throws {
        let live = Set(manifest.snapshots.joined().map(\.number))
        for entry in entries {
            switch FileName(entry.name) {
            case .segment(let number) where number < manifest.firstSegment: break
            case .snapshot(let number) where !live.contains(number): break
            case .newManifest, .unfinishedSnapshot, .unfinishedTornTail: break
            default: continue
            }
            // A new workspace's manifest had this name before it was renamed, and a torn tail
            // that was finished now had too.
            guard try directory.entries().contains(where: { $0.name == entry.name }) else {
                continue
            }
            try directory.remove(entry.name)
            report.removedFiles.append(entry.name)
        }
        if !report.removedFiles.isEmpty { try directory.sync() }
    }

    /// Begins a new segment: an old one is never appended to.
    private func startLog(
        _ parts: inout Recovery.Parts, _ recovered: LogRecovery,
        _ configuration: EngineConfiguration
    ) throws {
        // Also where all batches are on disk: a seal, or the header of a segment without a frame, may
        // not be, and half of one before synced batches would look like damage.
        var earlier = recovered.earlierSegments
        var durable = recovered.durableSequence
        if recovered.lastSyncedSequence > durable {
            // Somebody waited for these and was never told: before a read shows them, they must
            // be what a crash cannot take back. Their names are: where there is a log, the opening
            // has begun with that.
            for segment in earlier { try segment.bringToDisk() }
            earlier = []
            durable = recovered.lastSequence
        }
        let tail = Int(min(parts.tailSizeBytes, UInt64(LogWriter.largestSegmentSizeBytes)))
        var size = configuration.segmentSizeBytes
        while size < tail { size *= 2 }
        let log = try LogWriter(
            directory: parts.directory, workspace: parts.manifest.workspace,
            number: recovered.highestNumber + 1, sizeBytes: size,
            lastSequence: recovered.lastSequence, durableSequence: durable,
            minimumSegmentSizeBytes: configuration.segmentSizeBytes,
            minimumCallSizeBytes: configuration.minimumCallSizeBytes,
            earlierSegments: earlier, history: LogHistory(recovered),
            ahead: LogAhead(scheduling: parts.scheduling))
        parts.log = log
        let condition = parts.condition
        let thread = parts.scheduling.thread(named: "roost-sync")
        parts.syncer = LogSyncer(log: log, thread: thread) { condition.setPoison($0) }
    }
}

extension RecoveryReport {
    fileprivate mutating func note(_ recovered: LogRecovery, operationCount: Int, isCut: Bool) {
        replayedBatchCount = recovered.frameCount
        replayedOperationCount = operationCount
        lastSequence = recovered.lastSequence
        tornTails = recovered.tornTails.map { tail in
            let kept = FileName.tornTail(segment: tail.segment, offset: UInt64(tail.offset)).text
            return TornTail(
                file: FileName.segment(tail.segment).text, offset: UInt64(tail.offset),
                sizeBytes: UInt64(tail.sizeBytes),
                keptAs: isCut && tail.sizeBytes > 0 ? kept : nil)
        }
    }
}
