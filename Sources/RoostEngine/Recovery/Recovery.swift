import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

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
        /// How many segments of earlier openings the log has, where this one appends to it.
        var tailSegmentCount = 0
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
        // Its own thread may wait until a disk that is busy has taken what an earlier opening left.
        try Opening(patience: .seconds(30)).open(path, fileSystem, configuration)
    }
}

/// The steps of an opening, on whatever thread they are called.
struct Opening {
    /// How long it waits for an opening of this process that nobody refers to any more.
    var patience = Duration.seconds(2)

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
            parts.tailSegmentCount = recovered.segmentCount
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
            try directory.lock(exclusive: true, patience: patience)
            // A repair that held the lock may have put another directory here since this one was opened: what is
            // written to this one would be moved away with it.
            guard try directory.isReplaced() else { return directory }
            try directory.unlock()
        }
        throw RoostError(
            .locked, "other directories take this one's place again and again: open it later",
            file: path)
    }

    func shards(
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

    private func manifest(
        in directory: any Directory, _ entries: [DirectoryEntry],
        _ configuration: EngineConfiguration, _ report: inout RecoveryReport
    ) throws -> ManifestRecord {
        if let record = try ManifestFile.read(in: directory, entries: entries) { return record }
        try Self.refuseData(entries, withoutManifestIn: directory.path)
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
            minimumUnawaitedCallSizeBytes: configuration.minimumUnawaitedCallSizeBytes,
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
