import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// The files of one moment that are to be checked, held open: a compaction may remove their names meanwhile.
struct VerificationSource: Sendable {
    struct Snapshot: Sendable {
        let listed: ManifestRecord.Snapshot
        /// Where the next one of its tier begins.
        let upperBound: [UInt8]?
        let reader: Result<SnapshotReader, any Error>
    }

    let manifest: ManifestRecord
    /// The directory's.
    let path: String
    let snapshots: [Snapshot]
    /// Those that are written no more.
    let segments: Result<[LogReader], any Error>
    /// Whether the manifest's file has what this opening has written.
    let manifestLook: Result<Void, any Error>
    /// Whether this opening writes the log, so that nothing else cuts it.
    let isWritersOwn: Bool

    /// The snapshots that the manifest lists, by readers that are told by tier and place in it.
    static func snapshots(
        of manifest: ManifestRecord, _ reader: (_ tier: Int, _ index: Int) throws -> SnapshotReader
    ) -> [Snapshot] {
        manifest.tiers.indices.flatMap { tier in
            let listed = manifest.tiers[tier]
            return listed.indices.map { index in
                Snapshot(
                    listed: listed[index],
                    upperBound: index + 1 < listed.count ? listed[index + 1].lowerBound : nil,
                    reader: Result { try reader(tier, index) })
            }
        }
    }
}

extension Compactor {
    /// Opens all files that hold the workspace now, as they stand under their names. The log goes on in a new segment.
    func verificationSource() async throws -> VerificationSource {
        await beginWork()
        defer { endWork() }
        try condition.checkOpen()
        // The current segment is being written; what stands before it is at rest.
        let current = try await log?.rotateWithoutWaiters().segmentNumber ?? .max
        let manifest = self.manifest
        return VerificationSource(
            manifest: manifest, path: directory.path,
            snapshots: VerificationSource.snapshots(of: manifest) { tier, index in
                try SnapshotReader(number: manifest.tiers[tier][index].number, in: directory)
            },
            segments: Result { try openedSegments(before: current) },
            manifestLook: Result { try checkManifestFile() }, isWritersOwn: log != nil)
    }

    private func openedSegments(before end: UInt64) throws -> [LogReader] {
        try directory.entries().compactMap { entry -> UInt64? in
            guard case .segment(let number) = FileName(entry.name) else { return nil }
            return number >= manifest.firstSegment && number < end ? number : nil
        }
        .sorted()
        .map { try LogReader(number: $0, in: directory, writable: false) }
    }

    private func checkManifestFile() throws {
        let entries = try directory.entries()
        var stored = try ManifestFile.read(in: directory, entries: entries)
        // A step that failed used numbers up, which the next manifest will say.
        stored?.nextSnapshotNumber = manifest.nextSnapshotNumber
        // After a failed replacement either manifest may stand.
        guard stored == manifest || (stored != nil && condition.poison != nil) else {
            throw RoostError(
                .corrupt, "the manifest is not the one that was written",
                file: "\(directory.path)/\(FileName.manifest.text)")
        }
    }
}

extension Compactor {
    /// Reads all of a snapshot and throws `.corrupt` at the first thing that is not as it was written, or what `onRecord`
    /// throws.
    static func check(
        _ reader: SnapshotReader, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?,
        hashSeed: HashSeed, _ onRecord: (_ recordCount: UInt64) throws -> Void = { _ in }
    ) throws {
        let range = RecordRange(
            prefix: [], lower: listed.isTrimmed ? [] : listed.lowerBound, upper: next)
        let cursor = SnapshotCursor(reader)
        try cursor.moveToFirst()
        var previous = OutputBuffer()
        var count: UInt64 = 0
        var counts = DictionaryCounts()
        while let record = cursor.record {
            count += 1
            try onRecord(count)
            if count > 1, compareBytes(previous.bytes, cursor.key) >= 0 {
                throw reader.damaged("keys are out of order", at: record.suffix.baseAddress!)
            }
            guard range.contains(cursor.key) else {
                throw reader.damaged(
                    "a key is outside of what the manifest says that the snapshot has",
                    at: record.suffix.baseAddress!)
            }
            previous.count = 0
            previous.append(cursor.key)
            counts.add(
                cursor.key, isPut: record.isPut, sequence: record.sequence,
                deadline: record.deadline)
            if record.isPut { try reader.withValue(of: record) { _ in } }
            let found = try reader.find(cursor.key, hash: hashSeed.hash(cursor.key))
            guard found?.sequence == record.sequence else {
                throw reader.damaged("the index misses a key", at: record.suffix.baseAddress!)
            }
            try cursor.moveToNext()
        }
        counts.finish()
        try reader.checkBothDictionaries()
        try reader.checkPreface()
        guard try reader.dictionaryCounts() == counts else {
            throw reader.damaged(
                "the dictionaries' counts are not those of the records",
                at: UnsafeRawPointer(reader.region.base) + Int(reader.footer.countsOffset))
        }
        guard count == reader.footer.recordCount else {
            throw RoostError(
                .corrupt,
                "the snapshot has \(count) records; its footer says \(reader.footer.recordCount)",
                file: reader.path)
        }
    }
}
