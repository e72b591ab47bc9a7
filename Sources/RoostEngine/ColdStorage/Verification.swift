import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// What checking every checksum found.
public struct VerificationReport: Sendable {
    /// Files that were read whole.
    public internal(set) var fileCount = 0
    public internal(set) var sizeBytes: UInt64 = 0
    /// Records in snapshots, tombstones and overwritten ones included.
    public internal(set) var recordCount: UInt64 = 0
    /// Batches in the log.
    public internal(set) var batchCount = 0
    /// Everything that is not as it was written.
    public internal(set) var damages: [RoostError] = []

    /// Whether nothing is damaged.
    public var isSound: Bool { damages.isEmpty }
}

extension Engine {
    /// Reads every file and checks every checksum, each record's decompression, the order of the
    /// keys, and that the index finds each. Damage is reported, not thrown.
    package func verify() async throws -> VerificationReport {
        try condition.checkOpen()
        return try await compactor.verify()
    }
}

extension Compactor {
    func verify() async throws -> VerificationReport {
        await beginWork()
        defer { endWork() }
        try condition.checkOpen()
        var report = VerificationReport()
        let manifest = self.manifest
        for listed in manifest.snapshots.joined() {
            report.check { report in
                let reader = try SnapshotReader(number: listed.number, in: directory)
                reader.region.readAhead()
                report.fileCount += 1
                report.sizeBytes += reader.footer.fileSizeBytes
                try Self.check(reader, hashSeed: manifest.hashSeed)
                report.recordCount += reader.footer.recordCount
            }
        }
        // The current segment is being written; what stands before it is at rest.
        let current = try await log?.rotateWithoutWaiters().segmentNumber ?? .max
        report.check { report in
            let numbers = try directory.entries().compactMap { entry -> UInt64? in
                guard case .segment(let number) = FileName(entry.name), number < current,
                    number >= manifest.firstSegment
                else { return nil }
                return number
            }
            var seen: Set<UInt64> = []
            let recovered = try LogRecovery(
                segmentNumbers: numbers, manifest: manifest, directory: directory, writable: false
            ) { frame, reader in
                if seen.insert(reader.number).inserted { report.fileCount += 1 }
                report.sizeBytes += UInt64(frame.sizeBytes)
                guard frame.forEachOperation({ _ in }) else {
                    throw RoostError(
                        .corrupt, "a batch's operations make no sense", file: reader.file.path,
                        offset: UInt64(frame.start - UnsafeRawPointer(reader.region.base)))
                }
            }
            report.batchCount = recovered.frameCount
            if log != nil, let torn = recovered.tornTails.first {
                throw RoostError(
                    .corrupt, "the log is broken in the middle",
                    file: "\(directory.path)/\(FileName.segment(torn.segment).text)",
                    offset: UInt64(torn.offset))
            }
        }
        report.check { report in
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
            report.fileCount += 1
        }
        return report
    }

    private static func check(_ reader: SnapshotReader, hashSeed: HashSeed) throws {
        let cursor = SnapshotCursor(reader)
        try cursor.moveToFirst()
        var previous = OutputBuffer()
        var count: UInt64 = 0
        var counts = DictionaryCounts()
        while let record = cursor.record {
            count += 1
            if count > 1, compareBytes(previous.bytes, cursor.key) >= 0 {
                throw reader.damaged("keys are out of order", at: record.suffix.baseAddress!)
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
        _ = try reader.dictionary()
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

extension VerificationReport {
    fileprivate mutating func check(_ body: (inout VerificationReport) throws -> Void) {
        do { try body(&self) } catch {
            damages.append(
                error as? RoostError ?? RoostError(.io, "could not be read", cause: error))
        }
    }
}
