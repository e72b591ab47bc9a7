import RoostFormat
import RoostLog
import RoostSnapshot

extension Compactor {
    /// Writes everything in the log to snapshots and frees the segments.
    func flush() async throws {
        guard let log, let syncer, log.lastSequence > manifest.flushedSequence else { return }
        let boundary = try await log.rotateWithoutWaiters()
        // Batches that wait for a sync get it, so that freezing need not wait for their timers.
        try await syncer.sync(through: boundary.lastSequence)
        var tables: [LogTable?] = []
        var clears: [ManifestRecord.Clear] = []
        let order = KeyOrder()
        for (index, shard) in shards.enumerated() {
            let frozen = await shard.freeze(through: boundary.lastSequence, next: order)
            tables.append(frozen.table)
            // Every shard has every clear; what the first has is, by the sync below, on disk.
            if index == 0 { clears = frozen.clears }
        }
        let dropped: [Shard.Dropped]
        do {
            // What was appended while shard after shard was frozen may be in a table too. Once
            // it is on disk, no snapshot holds more than the log would give back after a crash.
            let frozenSequence = log.lastSequence
            try await syncer.sync(through: frozenSequence)
            dropped = try await writeTables(tables, clears, boundary, frozenSequence)
        } catch {
            for shard in shards { await shard.thaw() }
            throw error
        }
        schedule.noteFlushed(
            through: boundary.totalBytes,
            next: boundary.totalBytes + configuration.flushThresholdBytes)
        schedule.flushCount.wrappingAdd(1, ordering: .relaxed)
        try withExtendedLifetime(dropped) { try removeUnneeded() }
    }

    private func writeTables(
        _ tables: [LogTable?], _ clears: [ManifestRecord.Clear],
        _ boundary: LogWriter.Boundary, _ frozenSequence: UInt64
    ) async throws -> [Shard.Dropped] {
        var next = manifest
        next.generation += 1
        next.firstSegment = boundary.segmentNumber
        next.flushedSequence = boundary.lastSequence
        next.durableSequence = max(frozenSequence, next.durableSequence)
        next.clears = clears
        var jobs: [SnapshotBuilder.Job] = []
        for (index, table) in tables.enumerated() {
            guard let table else { continue }
            jobs.append(
                .init(
                    shard: index, number: next.nextSnapshotNumber, origin: .table(table),
                    existing: shards[index].published.withLock { $0.snapshots.snapshots }))
            next.nextSnapshotNumber += 1
        }
        // The files that no manifest comes to name are removed at the next opening.
        noteNumbers(of: next)
        let fresh = try await build(jobs, clears)
        for (shard, reader) in fresh {
            next.snapshots[shard].insert(.init(footer: reader.footer), at: 0)
        }
        try replaceManifest(next)
        var dropped: [Shard.Dropped] = []
        for (index, shard) in shards.enumerated() {
            let older = shard.published.withLock { $0.snapshots }
            let list = fresh[index].map { SnapshotList([$0] + older.snapshots) } ?? older
            dropped.append(await shard.install(list, dropsFrozen: true))
        }
        return dropped
    }

    /// Writes the snapshots, some at a time, and makes their names durable; by shard, without
    /// those in which nothing remained.
    func build(
        _ jobs: [SnapshotBuilder.Job], _ clears: [ManifestRecord.Clear]
    ) async throws -> [Int: SnapshotReader] {
        let generation = rewriterGeneration
        let builder = builder(clears)
        let readers = try await buildThreads.map(jobs) { job in
            try builder.build(job).map { _ in
                (job.shard, try SnapshotReader(number: job.number, in: builder.directory))
            }
        }
        let fresh = Dictionary(uniqueKeysWithValues: readers.compactMap { $0 })
        for reader in fresh.values {
            schedule.snapshotBytesWritten.wrappingAdd(
                reader.footer.fileSizeBytes, ordering: .relaxed)
            if generation > 0 { rewrittenGenerations[reader.footer.number] = generation }
        }
        if !fresh.isEmpty { try directory.sync() }
        return fresh
    }
}
