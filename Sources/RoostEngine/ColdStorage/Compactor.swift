import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// Moves the log's records into snapshots and merges snapshots, on a thread of its own, beside
/// readers and writers.
///
/// - It alone changes the manifest. A manifest names only files that are complete and synced;
///   what it no longer names is removed after it is on disk.
/// - Log segments before `manifest.firstSegment` are gone or about to be: all they held is in
///   snapshots.
package actor Compactor {
    let directory: any Directory
    private(set) var manifest: ManifestRecord
    private let shards: [Shard]
    let log: LogWriter?
    private let syncer: LogSyncer?
    let condition: EngineCondition
    private let clock: ExpiryClock
    private let configuration: EngineConfiguration
    private let policy = MergePolicy()
    private let thread: WorkerThread
    /// One compaction at a time; the actor alone does not see to it, as a step suspends.
    private var isWorking = false
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []

    nonisolated let schedule: CompactionSchedule

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    init(
        directory: any Directory, manifest: ManifestRecord, shards: [Shard], log: LogWriter?,
        syncer: LogSyncer?, condition: EngineCondition, clock: ExpiryClock,
        configuration: EngineConfiguration,
        tailSizeBytes: UInt64
    ) {
        self.directory = directory
        self.manifest = manifest
        self.shards = shards
        self.log = log
        self.syncer = syncer
        self.condition = condition
        self.clock = clock
        self.configuration = configuration
        thread = WorkerThread(name: "roost-compact")
        let threshold = configuration.flushThresholdBytes
        schedule = CompactionSchedule(firstFlushBytes: threshold - min(threshold, tailSizeBytes))
    }

    // MARK: What sets it off

    /// The log has grown past `schedule.nextFlushBytes`.
    nonisolated func noteGrowth(_ appended: LogWriter.Appended) {
        if appended.totalBytes >= schedule.flushedBytes + configuration.backlogLimitBytes {
            condition.stall()
            // Whatever runs may have ended between the two; a stalled writer must not wait for
            // nothing.
            if !schedule.isRunning.load(ordering: .sequentiallyConsistent) { start() }
            return
        }
        if !schedule.isRunning.load(ordering: .relaxed) { start() }
    }

    private nonisolated func start() {
        guard !schedule.isRunning.exchange(true, ordering: .sequentiallyConsistent) else { return }
        // On the compactor's own thread from the first step: writers that never pause may hold
        // every thread of the pool.
        Task.detached(executorPreference: thread.forTasks) { await self.runInBackground() }
    }

    private func runInBackground() async {
        await beginWork()
        do {
            while !schedule.isStopping.load(ordering: .relaxed), condition.poison == nil, let log,
                log.totalBytes >= schedule.nextFlushBytes
            {
                try await flush()
                condition.release()
                try await mergeWhatIsDue(isIdle: false)
            }
            try await mergeWhatIsDue(isIdle: true)
            schedule.failure.withLock { $0 = nil }
            schedule.hasFailed.store(false, ordering: .relaxed)
        } catch {
            noteFailure(error)
        }
        endWork()
        schedule.isRunning.store(false, ordering: .sequentiallyConsistent)
        condition.release()
    }

    private func noteFailure(_ error: any Error) {
        let failure = error as? RoostError ?? RoostError(.io, "the compaction failed", cause: error)
        schedule.failure.withLock { $0 = failure }
        schedule.hasFailed.store(true, ordering: .relaxed)
        // Not again before the log has grown by a quarter of a flush.
        if let log { schedule.postpone(to: log.totalBytes + configuration.flushThresholdBytes / 4) }
    }

    func beginWork() async {
        while isWorking { await withCheckedContinuation { idleWaiters.append($0) } }
        isWorking = true
    }

    func endWork() {
        isWorking = false
        let waiters = idleWaiters
        idleWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    /// Flushes, and merges each shard's snapshots into one.
    func compactAll() async throws {
        await beginWork()
        defer { endWork() }
        // Closed while this waited: the directory may have another owner by now.
        try condition.checkOpen()
        try await flush()
        condition.release()
        for shard in shards.indices {
            let count = manifest.snapshots[shard].count
            if count > 1 || (count == 1 && hasGarbage(shard)) {
                try await merge(shard, count: count)
            }
        }
        try await forgetClears()
    }

    /// Whether a shard's snapshots hold what was cleared or has expired.
    private func hasGarbage(_ shard: Int) -> Bool {
        let isCleared = manifest.snapshots[shard].contains { snapshot in
            manifest.clears.contains { snapshot.minimumSequence < $0.sequence }
        }
        let list = shards[shard].published.withLock { $0.snapshots }
        return isCleared || list.snapshots.contains { !clock.isLive($0.footer.earliestDeadline) }
    }

    /// Waits for the running step and lets no further one begin.
    func stop() async {
        schedule.isStopping.store(true, ordering: .relaxed)
        await beginWork()
        endWork()
    }

    /// Notes in the manifest how much of the log is on disk and seals the log.
    func seal() throws {
        guard let log else { return }
        let sequence = log.lastSequence
        try log.close()
        guard sequence > manifest.durableSequence else { return }
        var next = manifest
        next.durableSequence = sequence
        next.generation += 1
        try ManifestFile.replace(with: next, in: directory)
        manifest = next
    }

    // MARK: Flush

    /// Writes everything in the log to snapshots and frees the segments.
    private func flush() async throws {
        guard let log, let syncer, log.lastSequence > manifest.flushedSequence else { return }
        let totalBytes = log.totalBytes
        let boundary = try log.rotate()
        // Batches that wait for a sync get it, so that freezing need not wait for their timers.
        try await syncer.sync(through: boundary.lastSequence)
        var tables: [LogTable?] = []
        var clears: [ManifestRecord.Clear] = []
        for (index, shard) in shards.enumerated() {
            let frozen = await shard.freeze(through: boundary.lastSequence)
            tables.append(frozen.table)
            // Every shard has every clear; what the first has is, by the sync below, on disk.
            if index == 0 { clears = frozen.clears }
        }
        do {
            // What was appended while shard after shard was frozen may be in a table too. Once
            // it is on disk, no snapshot holds more than the log would give back after a crash.
            let frozenSequence = log.lastSequence
            try await syncer.sync(through: frozenSequence)
            try await writeTables(tables, clears, boundary, frozenSequence)
        } catch {
            for shard in shards { await shard.thaw() }
            throw error
        }
        schedule.noteFlushed(
            through: totalBytes, next: totalBytes + configuration.flushThresholdBytes)
        schedule.flushCount.wrappingAdd(1, ordering: .relaxed)
        try removeUnneeded()
        try await syncer.prepareStandby()
    }

    private func writeTables(
        _ tables: [LogTable?], _ clears: [ManifestRecord.Clear],
        _ boundary: (segmentNumber: UInt64, lastSequence: UInt64), _ frozenSequence: UInt64
    ) async throws {
        var next = manifest
        next.generation += 1
        next.firstSegment = boundary.segmentNumber
        next.flushedSequence = boundary.lastSequence
        next.durableSequence = max(frozenSequence, next.durableSequence)
        next.clears = clears
        var fresh: [Int: SnapshotReader] = [:]
        do {
            for (index, table) in tables.enumerated() {
                guard let table else { continue }
                let number = next.nextSnapshotNumber
                next.nextSnapshotNumber += 1
                guard let footer = try write(table, clears, shard: index, number: number) else { continue }
                next.snapshots[index].insert(.init(footer: footer), at: 0)
                fresh[index] = try SnapshotReader(number: number, in: directory)
            }
            if !fresh.isEmpty { try directory.sync() }
            try replaceManifest(next)
        } catch {
            // The files that no manifest names are removed at the next opening.
            manifest.nextSnapshotNumber = next.nextSnapshotNumber
            throw error
        }
        for (index, shard) in shards.enumerated() {
            let older = shard.published.withLock { $0.snapshots }
            let list = fresh[index].map { SnapshotList([$0] + older.snapshots) } ?? older
            await shard.install(list, dropsFrozen: true)
        }
    }

    private func write(
        _ table: LogTable, _ clears: [ManifestRecord.Clear], shard: Int, number: UInt64
    ) throws -> SnapshotFooter? {
        let older = shards[shard].published.withLock { $0.snapshots.snapshots }
        let sorted = SortedTable(table)
        var dictionary = older.last?.dictionary ?? .init()
        if configuration.compresses, dictionary.isOutgrown(byRecordCount: sorted.operations.count) {
            dictionary = SnapshotBuilder.trainDictionary(sorted)
        }
        let footer = try builder(clears).build(
            .init(
                runs: [RecordRun(sorted)], expectedRecordCount: sorted.operations.count,
                dropsTombstones: older.isEmpty),
            number: number, shard: shard, dictionary: dictionary)
        schedule.snapshotBytesWritten.wrappingAdd(footer?.fileSizeBytes ?? 0, ordering: .relaxed)
        return footer
    }

    private func builder(_ clears: [ManifestRecord.Clear]) -> SnapshotBuilder {
        SnapshotBuilder(
            directory: directory, workspace: manifest.workspace, hashSeed: manifest.hashSeed,
            compresses: configuration.compresses,
            clears: Dictionary(uniqueKeysWithValues: clears.map { ($0.prefix, $0.sequence) }),
            clock: clock,
            isStopping: { [schedule] in schedule.isStopping.load(ordering: .relaxed) })
    }

    private func replaceManifest(_ next: ManifestRecord) throws {
        try ManifestFile.prepare(next, in: directory)
        do {
            try ManifestFile.publish(in: directory)
        } catch {
            // Which manifest a crash would leave is unknown, so nothing may build on either.
            condition.setPoison(
                RoostError(
                    .poisoned, "replacing the manifest failed: reopen the workspace",
                    file: directory.path, cause: error))
            throw error
        }
        manifest = next
    }

    // MARK: Merge

    private func mergeWhatIsDue(isIdle: Bool) async throws {
        for shard in shards.indices {
            while !schedule.isStopping.load(ordering: .relaxed),
                let count = policy.mergeCount(
                    manifest.snapshots[shard].map(\.fileSizeBytes), isIdle: isIdle)
            {
                try await merge(shard, count: count)
                if log.map({ $0.totalBytes >= schedule.nextFlushBytes }) == true { return }
            }
        }
    }

    /// Merges the `count` newest snapshots of a shard.
    private func merge(_ shard: Int, count: Int) async throws {
        let list = shards[shard].published.withLock { $0.snapshots.snapshots }
        let merged = Array(list.prefix(count))
        for snapshot in merged { snapshot.region.readAhead() }
        let isAll = count == list.count
        let recordCount = merged.reduce(0) { $0 + Int($1.footer.recordCount) }
        var dictionary = list.last?.dictionary ?? .init()
        if isAll, configuration.compresses, dictionary.isOutgrown(byRecordCount: recordCount),
            let largest = merged.max(by: { $0.footer.recordCount < $1.footer.recordCount })
        {
            dictionary = try SnapshotBuilder.trainDictionary(largest, recordCount: recordCount)
        }
        var next = manifest
        next.generation += 1
        let number = next.nextSnapshotNumber
        next.nextSnapshotNumber += 1
        manifest.nextSnapshotNumber = next.nextSnapshotNumber
        let footer = try builder(manifest.clears).build(
            .init(
                runs: try merged.map(RecordRun.init), expectedRecordCount: recordCount,
                dropsTombstones: isAll),
            number: number, shard: shard, dictionary: dictionary)
        schedule.snapshotBytesWritten.wrappingAdd(footer?.fileSizeBytes ?? 0, ordering: .relaxed)
        next.snapshots[shard].replaceSubrange(
            0..<count, with: footer.map { [.init(footer: $0)] } ?? [])
        let fresh = try footer.map { _ in try SnapshotReader(number: number, in: directory) }
        if fresh != nil { try directory.sync() }
        try replaceManifest(next)
        let newList = SnapshotList((fresh.map { [$0] } ?? []) + list.dropFirst(count))
        await shards[shard].install(newList, dropsFrozen: false)
        schedule.mergeCount.wrappingAdd(1, ordering: .relaxed)
        try removeUnneeded()
    }

    /// Forgets the clears that no snapshot holds anything older than.
    private func forgetClears() async throws {
        let forgotten = manifest.clears.filter { clear in
            clear.sequence <= manifest.flushedSequence
                && !manifest.snapshots.joined().contains { $0.minimumSequence < clear.sequence }
        }
        guard !forgotten.isEmpty else { return }
        var next = manifest
        next.generation += 1
        next.clears.removeAll { forgotten.contains($0) }
        try replaceManifest(next)
        for shard in shards { await shard.forget(forgotten) }
    }

    /// Removes the segments and snapshots that the manifest does not need.
    private func removeUnneeded() throws {
        let live = Set(manifest.snapshots.joined().map(\.number))
        var removed = false
        for entry in try directory.entries() {
            switch FileName(entry.name) {
            case .segment(let number) where number < manifest.firstSegment: break
            case .snapshot(let number)
            where !live.contains(number) && number < manifest.nextSnapshotNumber: break
            default: continue
            }
            try directory.remove(entry.name)
            removed = true
        }
        if removed { try directory.sync() }
    }
}
