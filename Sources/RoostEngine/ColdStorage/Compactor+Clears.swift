import RoostFormat
import RoostSnapshot

// What `removeAll` leaves in the snapshots. docs/decisions/0266.

extension Compactor {
    /// A flush has a manifest and a tier written: less than this part of the snapshots waits for the next.
    private static let worthwhileClearShare: UInt64 = 16

    /// A dictionary was emptied, which takes few bytes of log and may free many of snapshots.
    nonisolated func noteClear() {
        guard let log else { return }
        restTimer.noteGrowth(log.totalBytes)
    }

    // MARK: How much it is

    /// What the snapshots have of dictionaries that were emptied since, about, by clears that the manifest lists.
    func clearedSizeBytes() -> UInt64 { sizeBytes(emptiedBy: manifest.clears) }

    /// Whether clears that are in the log alone have emptied so much that a flush pays, which tells the manifest.
    func isClearToBeFlushed() -> Bool {
        guard let shard = shards.first else { return false }
        // Every shard has every clear.
        let clears = shard.published.withLock { $0.clears }
        let waiting = clears.filter { $0.value > manifest.flushedSequence }
        if waiting.isEmpty { return false }
        let emptied = sizeBytes(
            emptiedBy: waiting.map { ManifestRecord.Clear(prefix: $0.key, sequence: $0.value) })
        let worthwhile = min(
            configuration.restLogSizeBytes, snapshotSizeBytes / Self.worthwhileClearShare)
        return emptied > 0 && emptied >= worthwhile
    }

    private func sizeBytes(emptiedBy clears: [ManifestRecord.Clear]) -> UInt64 {
        if clears.isEmpty { return 0 }
        let sequences = Self.sequences(clears)
        return cold.snapshots.reduce(0) { sum, snapshot in
            let recordCount = snapshot.footer.recordCount
            let emptied = min(recordCount, Self.recordCount(of: snapshot, emptiedBy: sequences))
            // Bytes of a file times records of it: neither is near 2^32 in a file of tens of MiB, nor in a large one both.
            let (product, isTooLarge) = snapshot.footer.fileSizeBytes.multipliedReportingOverflow(
                by: emptied)
            if emptied == 0 || isTooLarge { return sum }
            return sum + product / recordCount
        }
    }

    private static func sequences(_ clears: [ManifestRecord.Clear]) -> [[UInt8]: UInt64] {
        Dictionary(clears.map { ($0.prefix, $0.sequence) }, uniquingKeysWith: max)
    }

    /// How many records a snapshot has, puts and tombstones, of dictionaries that were emptied after all of them.
    private static func recordCount(
        of snapshot: SnapshotReader, emptiedBy sequences: [[UInt8]: UInt64]
    ) -> UInt64 {
        let counts: DictionaryCounts
        // What cannot be read is told by whoever asks for the counts, and by `verify`. Here it gives nothing back.
        do { counts = try snapshot.dictionaryCounts() } catch { return 0 }
        return counts.entries.reduce(0) { sum, entry in
            guard let sequence = sequences[entry.prefix], entry.maximumSequence < sequence else {
                return sum
            }
            return sum + entry.putCount + entry.tombstoneCount
        }
    }

    // MARK: Giving it back

    /// Takes those snapshots out of the cold storage that have nothing but what was emptied since. Reads what they
    /// have counted, and writes a manifest.
    func dropCleared() async throws {
        guard merges.isEmpty, !manifest.clears.isEmpty else { return }
        let sequences = Self.sequences(manifest.clears)
        let tiers = cold.tiers.map { tier in
            tier.parts.filter { !Self.isNothing($0, after: sequences) }
        }
        guard zip(tiers, cold.tiers).contains(where: { $0.count < $1.parts.count }) else { return }
        try checkOwnership()
        let dropped = try await install(
            tiers.filter { !$0.isEmpty }.map(ColdTier.init), manifest, dropsFrozen: false)
        try withExtendedLifetime(dropped) { try removeUnneeded() }
        try await forgetClears()
    }

    /// Whether every record of the part is gone: by the counts, which have a checksum of their own, and by the keys at
    /// both ends of the file.
    private static func isNothing(
        _ part: ColdTier.Part, after sequences: [[UInt8]: UInt64]
    ) -> Bool {
        let snapshot = part.snapshot
        guard !part.isTrimmed, snapshot.footer.recordCount > 0, snapshot.groupCount > 0,
            recordCount(of: snapshot, emptiedBy: sequences) == snapshot.footer.recordCount,
            let newest = sequences.values.max(), snapshot.footer.maximumSequence < newest
        else { return false }
        do {
            return try [0, snapshot.groupCount - 1].allSatisfy { group in
                try snapshot.withFirstKey(ofGroup: group) { key in
                    sequences[Array(key.prefix(1 + Int(key.first ?? 0)))] != nil
                }
            }
        } catch {
            return false
        }
    }

    // MARK: Forgetting it

    /// Forgets the clears that no snapshot holds anything older than of their dictionaries. Where there are some it reads
    /// what the snapshots have counted.
    func forgetClears() async throws {
        let spent = Self.spentClears(
            of: manifest.clears, through: manifest.flushedSequence, in: cold.snapshots)
        guard !spent.isEmpty else { return }
        var next = manifest
        next.generation += 1
        next.clears.removeAll { spent[$0.prefix] != nil }
        try replaceManifest(next)
        await forget(spent)
    }

    /// Has the shards forget clears that the manifest does not list any more.
    func forget(_ clears: [[UInt8]: UInt64]) async {
        if clears.isEmpty { return }
        for shard in shards { await shard.forget(clears) }
    }

    /// Those of `clears` up to `sequence` of whose dictionaries none of the snapshots holds anything older. Where all that was
    /// appended up to `sequence` is in the snapshots, nothing is left that these could remove.
    static func spentClears(
        of clears: [ManifestRecord.Clear], through sequence: UInt64, in snapshots: [SnapshotReader]
    ) -> [[UInt8]: UInt64] {
        var spent = sequences(clears.filter { $0.sequence <= sequence })
        for snapshot in snapshots {
            if spent.isEmpty { break }
            for prefix in needed(spent, for: snapshot) { spent[prefix] = nil }
        }
        return spent
    }

    /// The dictionaries of which the snapshot may hold records that are older than the clear.
    private static func needed(
        _ clears: [[UInt8]: UInt64], for snapshot: SnapshotReader
    ) -> [[UInt8]] {
        let minimum = snapshot.footer.minimumSequence
        guard clears.values.contains(where: { minimum < $0 }) else { return [] }
        let counts: DictionaryCounts
        do { counts = try snapshot.dictionaryCounts() } catch {
            // A clear that is kept too long costs some bytes. The compaction, which is through, would
            // count as failed, and be made again until writers are refused. Whoever asks for the
            // counts, and `verify`, tell the damage.
            return clears.filter { minimum < $0.value }.map(\.key)
        }
        func isNeeded(_ entry: DictionaryCounts.Entry) -> Bool {
            clears[entry.prefix].map { entry.minimumSequence < $0 } ?? false
        }
        // There may be many of either.
        if counts.entries.count < clears.count {
            return counts.entries.filter(isNeeded).map(\.prefix)
        }
        return clears.keys.filter { counts.entry($0).map(isNeeded) ?? false }
    }
}
