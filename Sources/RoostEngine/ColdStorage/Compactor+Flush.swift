import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

extension Compactor {
    /// Writes everything in the log to a new tier of snapshots and frees the segments. At rest the log goes
    /// on in a small one.
    func flush(isAtRest: Bool = false) async throws {
        guard let log, let syncer, log.lastSequence > manifest.flushedSequence else { return }
        try checkOwnership()
        let begin = ContinuousClock.now
        let boundary = try await isAtRest ? log.rotateToSmallest() : log.rotateWithoutWaiters()
        // Batches that wait for a sync get it, so that freezing need not wait for their timers.
        try await syncer.sync(through: boundary.lastSequence)
        var tables: [LogTable] = []
        var clears: [ManifestRecord.Clear] = []
        let order = KeyOrder()
        for (index, shard) in shards.enumerated() {
            let frozen = await shard.freeze(through: boundary.lastSequence, next: order)
            if let table = frozen.table { tables.append(table) }
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
            removeUnfinished()
            throw error
        }
        schedule.noteFlushed(
            through: boundary.totalBytes,
            next: boundary.totalBytes + Self.firstLookBytes(configuration))
        tailSizeBytes = 0
        tailSegmentCount = 0
        condition.endOverdue()
        schedule.flushCount.wrappingAdd(1, ordering: .relaxed)
        try withExtendedLifetime(dropped) { try removeUnneeded() }
        if let observer = configuration.observer {
            observer.flushed(observed(since: begin, tierCount: 1, cold.tiers.first?.parts ?? []))
        }
    }

    /// What the observer is told of a flush or a merge that has written `parts`.
    func observed(
        since begin: ContinuousClock.Instant, tierCount: Int, _ parts: [ColdTier.Part]
    ) -> ObservedCompaction {
        var compaction = ObservedCompaction()
        compaction.duration = ContinuousClock.now - begin
        compaction.tierCount = tierCount
        compaction.snapshotCount = parts.count
        compaction.writtenBytes = parts.reduce(0) { $0 + $1.snapshot.footer.fileSizeBytes }
        compaction.flushedSequence = manifest.flushedSequence
        return compaction
    }

    private func writeTables(
        _ tables: [LogTable], _ clears: [ManifestRecord.Clear],
        _ boundary: LogWriter.Boundary, _ frozenSequence: UInt64
    ) async throws -> [Shard.Dropped] {
        var next = manifest
        next.firstSegment = boundary.segmentNumber
        next.flushedSequence = boundary.lastSequence
        next.durableSequence = max(frozenSequence, next.durableSequence)
        next.clears = clears
        let table = SortedTable(tables)
        let builder = builder(
            clears, dictionary: try dictionary(for: table), dropsTombstones: cold.tiers.isEmpty)
        let fresh = try await build(jobs(for: table, &next), by: builder)
        let tiers = (fresh.isEmpty ? [] : [ColdTier(fresh)]) + cold.tiers
        // Dictionaries that come and go between two flushes leave nothing but their clears: these are forgotten with
        // the first manifest that could list them. Freezing has waited for all up to the boundary, so what stands in
        // the tables that writers go on with is newer.
        let spent = Self.spentClears(
            of: clears, through: boundary.lastSequence,
            in: tiers.flatMap { $0.parts.map(\.snapshot) })
        next.clears.removeAll { spent[$0.prefix] != nil }
        let dropped = try await install(tiers, next, dropsFrozen: true)
        // By now no shard has an older table or an older cold storage.
        await forget(spent)
        return dropped
    }

    private func jobs(
        for table: SortedTable, _ next: inout ManifestRecord
    ) -> [SnapshotBuilder.Job] {
        if table.operations.isEmpty { return [] }
        return keyRanges.ranges(of: table).map { range in
            let begin = range.lowerBound
            let bound =
                begin == 0
                ? []
                : KeyRanges.bound(
                    between: table.operations[begin - 1].key, and: table.operations[begin].key)
            return .init(
                number: takeNumber(&next), lowerBound: bound, origin: .operations(table, range))
        }
    }

    /// That of the oldest snapshots, so that a merge copies compressed values as they stand; another
    /// where the table has outgrown it, or where it cannot be read.
    private func dictionary(for table: SortedTable) throws -> CompressionDictionary {
        var known = CompressionDictionary()
        do {
            known = try cold.tiers.last?.parts[0].snapshot.dictionary() ?? known
        } catch let error as RoostError where error.code == .corrupt || error.code == .io {
            // The log's records need nothing of it, and writers would stop in the end. Who reads a value that was
            // compressed against it, merges it or verifies is told.
        }
        guard configuration.compresses, known.isOutgrown(byRecordCount: table.operations.count)
        else { return known }
        return .trained(for: table)
    }

    // MARK: For merges too

    /// The next snapshot's number. It is not given again, whether or not its file comes to be: a file
    /// that no manifest comes to name is removed at the next opening.
    func takeNumber(_ next: inout ManifestRecord) -> UInt64 {
        defer { next.nextSnapshotNumber += 1 }
        return next.nextSnapshotNumber
    }

    /// Writes the snapshots, some at a time, and makes their names durable; in the jobs' order,
    /// without those in which nothing remained.
    func build(
        _ jobs: [SnapshotBuilder.Job], by builder: SnapshotBuilder
    ) async throws -> [ColdTier.Part] {
        if let last = jobs.last { noteNumbers(before: last.number + 1) }
        let generation = rewriterGeneration
        let built: [ColdTier.Part?]
        do {
            built = try await buildThreads.map(jobs) { job -> ColdTier.Part? in
                guard try builder.build(job) != nil else { return nil }
                return ColdTier.Part(
                    snapshot: try SnapshotReader(number: job.number, in: builder.directory),
                    lowerBound: job.lowerBound)
            }
        } catch {
            // Where the files are another's by now, that is the reason, and nothing more is written.
            try checkOwnership()
            throw error
        }
        // What could not be read must not become what is kept.
        for job in jobs { try job.origin.checkRead() }
        let fresh = built.compactMap { $0 }
        for footer in fresh.lazy.map(\.snapshot.footer) {
            schedule.snapshotBytesWritten.wrappingAdd(footer.fileSizeBytes, ordering: .relaxed)
            if generation > 0 { rewrittenGenerations[footer.number] = generation }
        }
        if !fresh.isEmpty { try directory.sync() }
        return fresh
    }

    /// Removes what a flush or a merge that failed has written, and what no manifest names: on a full disk it would take
    /// what the next one needs.
    func removeUnfinished() {
        // Poisoned, it is not known what the manifest names, or whose the files are.
        guard condition.poison == nil else { return }
        do {
            try checkOwnership()
            try removeUnneeded()
        } catch {
            // Why the compaction has failed is told. What is left is removed after the next one, or at the next opening.
        }
    }

    /// Makes `tiers` the cold storage: first in the manifest, `next` but for the tiers, and then for
    /// every shard. With `dropsFrozen` they hold all that the frozen tables held.
    func install(
        _ tiers: [ColdTier], _ next: ManifestRecord, dropsFrozen: Bool
    ) async throws -> [Shard.Dropped] {
        var next = next
        next.generation += 1
        next.tiers = tiers.map { $0.parts.map(\.listed) }
        try replaceManifest(next)
        cold = ColdStorage(tiers, generation: cold.generation + 1)
        var dropped: [Shard.Dropped] = []
        for shard in shards { dropped.append(await shard.install(cold, dropsFrozen: dropsFrozen)) }
        return dropped
    }
}

extension ColdTier.Part {
    /// What the manifest says of it.
    var listed: ManifestRecord.Snapshot {
        var listed = ManifestRecord.Snapshot(footer: snapshot.footer, lowerBound: lowerBound)
        listed.isTrimmed = isTrimmed
        return listed
    }
}
