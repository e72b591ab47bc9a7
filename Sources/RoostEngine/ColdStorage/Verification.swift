import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// What checking every checksum found.
public struct VerificationReport: Sendable {
    /// Files that were read whole.
    public internal(set) var fileCount = 0
    /// Bytes that were read and checked.
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

/// How far a verification is.
public struct VerificationProgress: Sendable, Equatable {
    /// Bytes of snapshots that were checked.
    public internal(set) var checkedSizeBytes: UInt64 = 0
    /// Bytes of all snapshots; the log, which is checked last, is not in it.
    public internal(set) var totalSizeBytes: UInt64 = 0

    package init() {}
}

extension Engine {
    /// Reads every file and checks every checksum, each record's decompression, the order of the
    /// keys, and that the index finds each. Damage is reported, not thrown.
    package func verify(
        _ onProgress: (@Sendable (VerificationProgress) -> Void)? = nil
    ) async throws -> VerificationReport {
        try condition.checkOpen()
        if let follower {
            return try await compactor.verify(beside: follower.shared.page, onProgress ?? { _ in })
        }
        return try await compactor.verify(onProgress ?? { _ in })
    }
}

extension Compactor {
    private static let recordsBetweenProgress: UInt64 = 1 << 14

    func verify(
        _ onProgress: @Sendable (VerificationProgress) -> Void
    ) async throws -> VerificationReport {
        await beginWork()
        defer { endWork() }
        try condition.checkOpen()
        var report = VerificationReport()
        var progress = VerificationProgress()
        let manifest = self.manifest
        progress.totalSizeBytes = cold.snapshots.reduce(0) { $0 + $1.footer.fileSizeBytes }
        for tier in manifest.tiers {
            for (index, listed) in tier.enumerated() {
                let next = index + 1 < tier.count ? tier[index + 1].lowerBound : nil
                report.check { report in
                    let reader = try SnapshotReader(number: listed.number, in: directory)
                    try Self.check(
                        reader, listed, upTo: next, hashSeed: manifest.hashSeed, &report, &progress,
                        onProgress)
                }
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

    /// Of files that another process may be changing: those of one moment, which are opened before any
    /// is read.
    func verify(
        beside page: SignalPage?, _ onProgress: (VerificationProgress) -> Void
    ) throws -> VerificationReport {
        var report = VerificationReport()
        var progress = VerificationProgress()
        report.check { report in
            let state = try FollowedState.read(
                in: directory, page: page, shardCount: shards.count)
            report.fileCount += 1 + state.tail.segments.count
            report.batchCount = state.frameCount
            report.sizeBytes += state.replay.sizeBytes
            progress.totalSizeBytes = state.cold.snapshots.reduce(0) {
                $0 + $1.footer.fileSizeBytes
            }
            for (tier, listed) in zip(state.cold.tiers, state.manifest.tiers) {
                for (index, part) in tier.parts.enumerated() {
                    let next = index + 1 < listed.count ? listed[index + 1].lowerBound : nil
                    report.check { report in
                        try Self.check(
                            part.snapshot, listed[index], upTo: next,
                            hashSeed: state.manifest.hashSeed, &report, &progress, onProgress)
                    }
                }
            }
        }
        return report
    }

    /// Reads all of a snapshot and throws `.corrupt` at the first thing that is not as it was written.
    private static func check(
        _ reader: SnapshotReader, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?,
        hashSeed: HashSeed, _ report: inout VerificationReport,
        _ progress: inout VerificationProgress, _ onProgress: (VerificationProgress) -> Void
    ) throws {
        reader.region.readAhead()
        report.fileCount += 1
        report.sizeBytes += reader.footer.fileSizeBytes
        let begin = progress.checkedSizeBytes
        try check(reader, listed, upTo: next, hashSeed: hashSeed) {
            let share = Double($0) / Double(max(1, reader.footer.recordCount))
            let done = UInt64(min(1, share) * Double(reader.footer.fileSizeBytes))
            progress.checkedSizeBytes = begin + done
            onProgress(progress)
        }
        progress.checkedSizeBytes = begin + reader.footer.fileSizeBytes
        onProgress(progress)
        report.recordCount += reader.footer.recordCount
    }

    static func check(
        _ reader: SnapshotReader, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?,
        hashSeed: HashSeed, _ onProgress: (_ recordCount: UInt64) -> Void = { _ in }
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
            if count % recordsBetweenProgress == 0 { onProgress(count) }
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
