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
        /// How long it was.
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
        /// `nil` for reading only.
        var manifestGuard: ManifestGuard?
        var cold: ColdStorage
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
        let publication = Publication()
        var follower: Follower?
    }

    static func open(
        at path: String, fileSystem: any FileSystem, configuration: EngineConfiguration
    ) async throws -> Parts {
        let thread = fileSystem.scheduling.thread(named: "roost-open")
        return try await OpeningThread(thread: thread).open(path, fileSystem, configuration)
    }

    /// As `open`, on the caller's thread, which it blocks.
    static func openBlocking(
        at path: String, fileSystem: any FileSystem, configuration: EngineConfiguration
    ) throws -> Parts {
        try Opening().open(path, fileSystem, configuration)
    }
}

/// A thread for the opening, as it blocks.
private actor OpeningThread {
    private let thread: WorkerThread

    init(thread: WorkerThread) { self.thread = thread }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func open(
        _ path: String, _ fileSystem: any FileSystem, _ configuration: EngineConfiguration
    ) throws -> Recovery.Parts {
        try Opening().open(path, fileSystem, configuration)
    }
}

/// The steps of an opening, on whatever thread they are called.
private struct Opening {
    func open(
        _ path: String, _ fileSystem: any FileSystem, _ configuration: EngineConfiguration
    ) throws -> Recovery.Parts {
        let writable = !configuration.isReadOnly
        let directory =
            writable
            ? try lockForWriting(path, fileSystem)
            : try fileSystem.openDirectory(at: path, create: false)
        if !writable {
            guard case .unknown(let kind) = try directory.sharing else {
                return try openFollowing(directory, fileSystem, configuration)
            }
            try lockForReading(directory, kind)
        }
        var report = RecoveryReport()
        let entries = try directory.entries()
        try refuseIrregular(entries, path)
        if writable, !configuration.isMirror { try refuseFollowed(entries, path) }
        let manifest = try manifest(in: directory, entries, configuration, &report)
        // An opening that was killed may have left a manifest whose new name is not on disk yet:
        // nothing may be removed because of it before it is.
        if writable && !isAtRest(entries, manifest) { try directory.sync() }
        let cold = try ColdStorage(manifest, in: directory)
        var replay = Replay(shardCount: configuration.shardCount, hashSeed: manifest.hashSeed)
        let segmentNumbers = entries.compactMap { entry -> UInt64? in
            if case .segment(let number) = FileName(entry.name) { number } else { nil }
        }
        var recovered = try LogRecovery(
            segmentNumbers: segmentNumbers, manifest: manifest, directory: directory,
            writable: writable
        ) { frame, reader in try replay.add(frame, reader.region, path: reader.file.path) }
        report.note(recovered, operationCount: replay.operationCount)
        let condition = EngineCondition(
            isReadOnly: !writable, isMirror: configuration.isMirror,
            observer: configuration.observer)
        var parts = Recovery.Parts(
            directory: directory, manifest: manifest, cold: cold, shards: [], feed: ChangeFeed(),
            behind: WriteBehind(condition: condition), condition: condition,
            clock: ExpiryClock(configuration.wallClock), report: report,
            tailSizeBytes: replay.sizeBytes, scheduling: fileSystem.scheduling)
        if writable {
            try refuseSpent(recovered, manifest, path)
            try refuseNewer(entries, manifest, lastSequence: recovered.lastSequence, directory)
            parts.manifestGuard = try ManifestGuard(directory)
            let signals = try SignalPage.forWriter(FileName.signals.text, in: directory)
                .map(LogSignals.init)
            try recovered.cut(in: directory)
            parts.report.noteTails(recovered)
            try removeLeftovers(entries, manifest, directory, &parts.report)
            try startLog(&parts, recovered, signals, configuration)
        }
        parts.shards = shards(of: parts, configuration)
        replay.apply(to: parts.shards)
        return parts
    }

    /// The directory at `path`, made where there is none, and locked.
    private func lockForWriting(
        _ path: String, _ fileSystem: any FileSystem
    ) throws -> any Directory {
        for _ in 0..<10 {
            let directory = try fileSystem.openOrMakeDirectory(at: path)
            try directory.lock(exclusive: true)
            // A repair that held the lock may have put another directory here since this one was opened: what is
            // written to this one would be moved away with it.
            guard try directory.isReplaced() else { return directory }
            try directory.unlock()
        }
        throw RoostError(
            .locked, "other directories take this one's place again and again: open it later",
            file: path)
    }

    private func shards(
        of parts: Recovery.Parts, _ configuration: EngineConfiguration
    ) -> [Shard] {
        (0..<configuration.shardCount).map { _ in
            let shard = Shard(
                hashSeed: parts.manifest.hashSeed,
                residentBudgetBytes: configuration.memoryBudgetBytes / configuration.shardCount,
                feed: parts.feed, behind: parts.behind, clock: parts.clock, storage: parts.log)
            shard.restore(parts.cold, clears: parts.manifest.clears)
            return shard
        }
    }

    /// Whether there is nothing but what the manifest lists, and it lists something: then nothing
    /// will be removed because of it, and it was on disk before what it replaced was removed. A new
    /// workspace's manifest may not be; it must not be lost with a segment after it.
    private func isAtRest(_ entries: [DirectoryEntry], _ manifest: ManifestRecord) -> Bool {
        let live = Set(manifest.snapshots.map(\.number))
        return !live.isEmpty
            && entries.allSatisfy { entry in
                switch FileName(entry.name) {
                case .manifest, .signals, nil: true
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
            guard entries.contains(where: { FileName($0.name) != nil }) else {
                throw RoostError(
                    .io,
                    "there is no workspace here, and one has a directory of its own: give another path",
                    file: path)
            }
            throw RoostError(
                .io, "the directory holds something that is not a regular file: move it elsewhere",
                file: "\(path)/\(entry.name)")
        }
    }

    /// No program has counted so far: such a number is a file's that somebody has made.
    private func refuseSpent(
        _ recovered: LogRecovery, _ manifest: ManifestRecord, _ path: String
    ) throws {
        let segment = FileName.segment(recovered.highestNumber).text
        let name =
            recovered.highestNumber >= Limits.openedNumber
                && recovered.highestNumber >= manifest.firstSegment
            ? segment : FileName.manifest.text
        let numbers = [
            recovered.highestNumber, recovered.lastSequence, manifest.durableSequence,
            manifest.generation, manifest.nextSnapshotNumber,
        ]
        guard numbers.allSatisfy({ $0 < Limits.openedNumber }) else {
            throw RoostError(
                .corrupt,
                "a number is so high that none comes after it. Restore a backup, or salvage what can be read",
                file: "\(path)/\(name)")
        }
    }

    /// A flush writes no batch that is not on disk in the log first, so what a crash has left of one holds nothing that the
    /// log has not. A snapshot with later batches says that the manifest is an older one that was put back without
    /// its files: to remove the snapshot, as a leftover, would lose them.
    private func refuseNewer(
        _ entries: [DirectoryEntry], _ manifest: ManifestRecord, lastSequence: UInt64,
        _ directory: any Directory
    ) throws {
        let live = Set(manifest.snapshots.map(\.number))
        for case .snapshot(let number)? in entries.map({ FileName($0.name) })
        where !live.contains(number) {
            let reader: SnapshotReader
            do { reader = try SnapshotReader(number: number, in: directory) } catch let error
                as RoostError
                where [.corrupt, .unsupportedVersion, .wrongKey].contains(error.code)
            { continue }
            guard reader.footer.workspace == manifest.workspace,
                reader.footer.maximumSequence > lastSequence
            else { continue }
            throw RoostError(
                .corrupt,
                "the manifest is older than this snapshot, which has batches after \(lastSequence), the last that the "
                    + "manifest and the log have. Restore a backup, or salvage what can be read",
                file: "\(directory.path)/\(FileName.snapshot(number).text)")
        }
    }

    private func refuseFollowed(_ entries: [DirectoryEntry], _ path: String) throws {
        guard entries.contains(where: { $0.name == followedMarkName }) else { return }
        throw RoostError(
            .readOnly,
            "the directory follows a copy, and what is written here would be mixed into it: open it for "
                + "reading, or promote its follower; to go on alone from this state, remove this file",
            file: "\(path)/\(followedMarkName)")
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
            hashSeed: .init(first: directory.randomNumber(), second: directory.randomNumber()))
        // Whoever made the directory may not have synced its name, or was killed before. From here on
        // there is something in it to lose.
        try directory.syncAncestors()
        try ManifestFile.replace(with: record, in: directory)
        report.isNew = true
        return record
    }

    // MARK: For reading only

    /// Where a writer cannot be followed there is none beside.
    private func lockForReading(_ directory: any Directory, _ kind: String) throws {
        do { try directory.lock(exclusive: false) } catch let error as RoostError
            where error.code == .locked
        {
            throw RoostError(
                .locked,
                "another opening writes to this workspace, and on a file system of this kind "
                    + "(\(kind)) its memory is not known to be seen at once by others: close the "
                    + "writer first, or keep the workspace on a local file system",
                file: directory.path)
        }
    }

    /// Takes no lock, and reads what a writer may be changing.
    private func openFollowing(
        _ directory: any Directory, _ fileSystem: any FileSystem,
        _ configuration: EngineConfiguration
    ) throws -> Recovery.Parts {
        try refuseIrregular(try directory.entries(), directory.path)
        let page = try SignalPage.forReader(FileName.signals.text, in: directory)
        var state = try FollowedState.read(
            in: directory, page: page, shardCount: configuration.shardCount)
        var report = RecoveryReport()
        if let ending = state.ending { report.note(ending, operationCount: 0) }
        report.replayedBatchCount = state.frameCount
        report.replayedOperationCount = state.replay.operationCount
        report.lastSequence = state.tail.lastSequence
        let condition = EngineCondition(isReadOnly: true, observer: configuration.observer)
        var parts = Recovery.Parts(
            directory: directory, manifest: state.manifest, cold: .none, shards: [],
            feed: ChangeFeed(), behind: WriteBehind(condition: condition), condition: condition,
            clock: ExpiryClock(configuration.wallClock), report: report, tailSizeBytes: 0,
            scheduling: fileSystem.scheduling)
        parts.shards = shards(of: parts, configuration)
        for shard in parts.shards { shard.restore(state.cold, clears: state.manifest.clears) }
        state.replay.apply(to: parts.shards)
        let log = FollowedLog(
            lastSequence: state.tail.lastSequence, segments: state.tail.segments)
        parts.follower = Follower(
            state, page: page, directory: directory,
            shards: FollowedShards(
                shards: parts.shards, feed: parts.feed, publication: parts.publication,
                hashSeed: state.manifest.hashSeed, log: log),
            condition: condition, scheduling: fileSystem.scheduling)
        return parts
    }

    private func removeLeftovers(
        _ entries: [DirectoryEntry], _ manifest: ManifestRecord, _ directory: any Directory,
        _ report: inout RecoveryReport
    ) throws {
        let live = Set(manifest.snapshots.map(\.number))
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
        _ parts: inout Recovery.Parts, _ recovered: LogRecovery, _ signals: LogSignals?,
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
        let log = try LogWriter(
            directory: parts.directory, workspace: parts.manifest.workspace,
            number: recovered.highestNumber + 1, sizeBytes: configuration.segmentSizeBytes,
            lastSequence: recovered.lastSequence, durableSequence: durable,
            minimumSegmentSizeBytes: configuration.segmentSizeBytes,
            minimumCallSizeBytes: configuration.minimumCallSizeBytes,
            earlierSegments: earlier, history: LogHistory(recovered),
            ahead: LogAhead(scheduling: parts.scheduling), signals: signals,
            checksDirectory: { [manifestGuard = parts.manifestGuard] in
                try manifestGuard?.check()
            })
        signals?.begin(
            log, segmentNumber: recovered.highestNumber + 1, lastSequence: recovered.lastSequence,
            durableSequence: durable, manifestGeneration: parts.manifest.generation)
        parts.log = log
        let condition = parts.condition
        let thread = parts.scheduling.thread(named: "roost-sync")
        var onSync: (@Sendable (UInt64, Duration) -> Void)?
        if let observer = configuration.observer {
            onSync = { count, duration in observer.synced(batchCount: count, after: duration) }
        }
        parts.syncer = LogSyncer(log: log, thread: thread, onSync: onSync) {
            condition.setPoison($0)
        }
    }
}

extension RecoveryReport {
    fileprivate mutating func note(_ recovered: LogRecovery, operationCount: Int) {
        replayedBatchCount = recovered.frameCount
        replayedOperationCount = operationCount
        lastSequence = recovered.lastSequence
        noteTails(recovered)
    }

    fileprivate mutating func noteTails(_ recovered: LogRecovery) {
        tornTails = recovered.tornTails.map { tail in
            TornTail(
                file: FileName.segment(tail.segment).text, offset: UInt64(tail.offset),
                sizeBytes: UInt64(tail.sizeBytes), keptAs: tail.keptAs)
        }
    }
}
