import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// Makes a directory a workspace with the content of a `BackupSource`.
///
/// - A snapshot gets its name once it is on disk and was read back: a run that was stopped leaves
///   whole snapshots and no manifest, and the next run goes on with them.
/// - The manifest comes last. Without it the directory is no workspace.
/// - A snapshot is shared with an earlier backup where the footers are equal, which have a random number of the
///   file's own. A link to a snapshot endangers neither side: no snapshot is written to once it has its name.
struct BackupWriter: Sendable {
    let source: BackupSource
    let target: any Directory
    let earlier: (any Directory)?
    /// Whether a file is read before it is shared.
    let verifiesShared: Bool
    let progress: @Sendable (_ doneBytes: UInt64, _ sizeBytes: UInt64) -> Void
    private var report = BackupReport()
    private var sizeBytes: UInt64 = 0

    private static let pieceSizeBytes = 1 << 20

    init(
        source: BackupSource, target: any Directory, earlier: (any Directory)?,
        verifiesShared: Bool, progress: @escaping @Sendable (UInt64, UInt64) -> Void
    ) {
        self.source = source
        self.target = target
        self.earlier = earlier
        self.verifiesShared = verifiesShared
        self.progress = progress
    }

    mutating func run() throws -> BackupReport {
        sizeBytes = source.sizeBytes
        report.path = target.path
        report.lastSequence = source.lastSequence
        let continued = try removeUnwanted()
        for (tier, listed) in zip(source.cold.tiers, source.manifest.tiers) {
            for (index, part) in tier.parts.enumerated() {
                let next = index + 1 < listed.count ? listed[index + 1].lowerBound : nil
                if continued.contains(part.snapshot.footer.number),
                    try mayKeep(part.snapshot.footer.number, listed[index], upTo: next)
                {
                    report.continuedBytes += part.snapshot.footer.fileSizeBytes
                } else {
                    try take(part.snapshot, listed[index], upTo: next)
                }
                progress(report.sizeBytes, sizeBytes)
            }
        }
        for segment in source.segments {
            try copy(segment)
            progress(report.sizeBytes, sizeBytes)
        }
        try checkLog()
        // Syncs the names of all files too.
        try ManifestFile.replace(with: source.manifest, in: target)
        return report
    }

    /// Removes what a run that was stopped has left and this one cannot use; the numbers of the
    /// snapshots that it can.
    private func removeUnwanted() throws -> Set<UInt64> {
        let wanted = Dictionary(
            uniqueKeysWithValues: source.cold.snapshots.map { ($0.footer.number, $0.footer) })
        var continued: Set<UInt64> = []
        let entries = try target.entries()
        if let foreign = entries.first(where: { FileName($0.name) == nil || !$0.isRegularFile }) {
            throw RoostError(
                .io, "\"\(foreign.name)\" is no part of a backup that did not end: remove it",
                file: target.path)
        }
        // Without its manifest no half of it can be taken for a workspace.
        let manifest = FileName.manifest.text
        if entries.contains(where: { $0.name == manifest }) {
            try target.remove(manifest)
            try target.sync()
        }
        for entry in entries where entry.name != manifest {
            if case .snapshot(let number) = FileName(entry.name), let footer = wanted[number],
                try has(footer, in: target)
            {
                continued.insert(number)
            } else {
                try target.remove(entry.name)
            }
        }
        return continued
    }

    /// Whether a directory that lists a file of the footer's number has the file with that footer.
    private func has(_ footer: SnapshotFooter, in directory: any Directory) throws -> Bool {
        do {
            return try SnapshotReader(number: footer.number, in: directory).footer == footer
        } catch let error as RoostError
            where [.corrupt, .unsupportedVersion, .wrongKey].contains(error.code)
        {
            // Damaged there, or under a key that this workspace never had: it is copied from here.
            return false
        }
    }

    // MARK: Snapshots

    /// Whether a snapshot that a run which was stopped has left is kept; else it is removed. What that one shared was
    /// perhaps not read.
    private func mayKeep(
        _ number: UInt64, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?
    ) throws -> Bool {
        guard verifiesShared else { return true }
        let name = FileName.snapshot(number).text
        if try isWhole(name, in: target, listed, upTo: next) { return true }
        try target.remove(name)
        return false
    }

    private mutating func take(
        _ snapshot: SnapshotReader, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?
    ) throws {
        if try share(snapshot.footer, listed, upTo: next) {
            report.sharedBytes += snapshot.footer.fileSizeBytes
            return
        }
        let number = snapshot.footer.number
        let unfinished = FileName.unfinishedSnapshot(number).text
        let file = try target.createFile(unfinished)
        // All are held until the end: what is opened of a sealed one must not be.
        let opened = try snapshot.apart(always: true) ?? snapshot
        opened.region.readAhead()
        try opened.region.require(offset: 0, count: opened.region.sizeBytes)
        try write(opened.region, count: opened.region.sizeBytes, to: file)
        try file.syncData()
        file.forgetCached()
        do {
            try check(SnapshotReader(file: file), listed, upTo: next)
        } catch let error as RoostError where error.code == .corrupt {
            // Where it was damaged before, that file is the one to name.
            try check(opened, listed, upTo: next)
            throw error
        }
        try target.rename(unfinished, to: FileName.snapshot(number).text)
        report.copiedBytes += snapshot.footer.fileSizeBytes
    }

    private func check(
        _ reader: SnapshotReader, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?
    ) throws {
        try Compactor.check(reader, listed, upTo: next, hashSeed: source.manifest.hashSeed)
        try reader.region.checkRead()
    }

    /// Links the earlier backup's file; `false` where it has none or is found damaged, or the file system has no
    /// links.
    private mutating func share(
        _ footer: SnapshotFooter, _ listed: ManifestRecord.Snapshot, upTo next: [UInt8]?
    ) throws -> Bool {
        let name = FileName.snapshot(footer.number).text
        guard let earlier, try earlier.entries().contains(where: { $0.name == name }),
            try has(footer, in: earlier)
        else { return false }
        if verifiesShared, try !isSound(name, in: earlier, listed, upTo: next) { return false }
        return try target.link(name, from: earlier)
    }

    /// Reads a file of the earlier backup from the disk. One that is damaged is in the report.
    private mutating func isSound(
        _ name: String, in earlier: any Directory, _ listed: ManifestRecord.Snapshot,
        upTo next: [UInt8]?
    ) throws -> Bool {
        if try isWhole(name, in: earlier, listed, upTo: next) { return true }
        report.damagedPaths.append("\(earlier.path)/\(name)")
        return false
    }

    private func isWhole(
        _ name: String, in directory: any Directory, _ listed: ManifestRecord.Snapshot,
        upTo next: [UInt8]?
    ) throws -> Bool {
        do {
            let file = try directory.openFile(name, writable: false)
            file.forgetCached()
            try check(SnapshotReader(file: file), listed, upTo: next)
            return true
        } catch let error as RoostError where error.code == .corrupt || error.code == .io {
            return false
        }
    }

    // MARK: The log

    /// Copies a segment, zeros after its content as a hole. Never a link: an opening of the copy
    /// may cut or seal its segments.
    private mutating func copy(_ segment: BackupSource.Segment) throws {
        let file = try target.createFile(FileName.segment(segment.number).text)
        try write(segment.region, count: segment.endOffset, to: file)
        try file.truncate(to: UInt64(segment.region.sizeBytes))
        try file.syncData()
        file.forgetCached()
        report.copiedBytes += UInt64(segment.region.sizeBytes)
    }

    /// Reads the copied segments back as an opening would.
    private func checkLog() throws {
        let recovered = try LogRecovery(
            segmentNumbers: source.segments.map(\.number), manifest: source.manifest,
            directory: target, writable: false
        ) { frame, reader in
            guard frame.forEachOperation({ _ in }) else {
                throw RoostError(
                    .corrupt, "a batch's operations make no sense", file: reader.file.path)
            }
        }
        guard recovered.lastSequence >= source.lastSequence else {
            throw RoostError(
                .corrupt,
                "the log's copy ends with batch \(recovered.lastSequence), not with "
                    + "\(source.lastSequence)", file: target.path)
        }
    }

    // MARK: Bytes

    private func write(_ region: MappedRegion, count: Int, to file: any File) throws {
        var offset = 0
        while offset < count {
            if Task.isCancelled {
                throw RoostError(
                    .cancelled, "the backup was cancelled: the next one goes on from here")
            }
            let end = min(offset + Self.pieceSizeBytes, count)
            try file.write(
                UnsafeRawBufferPointer(rebasing: region.bytes[offset..<end]), at: UInt64(offset))
            progress(report.sizeBytes + UInt64(end), sizeBytes)
            offset = end
        }
        try region.checkRead()
    }
}
