import Foundation
import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// All of a workspace at one moment, read from its files while another process may be changing them: what
/// a reader begins with, or goes on with once it is too far behind.
///
/// - It holds a prefix of the batches, as far at least as any of its snapshots.
struct FollowedState {
    var manifest: ManifestRecord
    var cold: ColdStorage
    var tail: LogTail
    var replay: Replay
    var frameCount = 0
    /// Where no writer is about, what the log's end means.
    var ending: LogRecovery?

    /// How often files may be gone before they were opened, because a compaction took them.
    private static let attemptCount = 100

    /// Reads the files. Blocks.
    ///
    /// - Throws: `.corrupt` where something is missing or damaged that no writer is at work on.
    static func read(
        in directory: any Directory, page: SignalPage?, shardCount: Int,
        known: ColdStorage = .none
    ) throws -> FollowedState {
        var attempt = 0
        while true {
            attempt += 1
            // The first writer makes it.
            let page = try page ?? SignalPage.forReader(FileName.signals.text, in: directory)
            func writer() throws -> WriterMark {
                try WriterMark(page ?? SignalPage.forReader(FileName.signals.text, in: directory))
            }
            let before = try writer()
            let manifest = try readManifest(in: directory)
            do {
                var state = FollowedState(
                    manifest: manifest,
                    cold: try ColdStorage(manifest, in: directory, known: known),
                    tail: try LogTail(manifest, in: directory),
                    replay: Replay(shardCount: shardCount, hashSeed: manifest.hashSeed))
                if before.isOpen {
                    try state.readBesideWriter(directory, page)
                    return state
                }
                try state.readAtRest(directory, page)
                if try writer() == before { return state }
            } catch {
                // What a writer changes meanwhile is no damage.
                let after = try writer()
                let isMoving = try after != before || readManifest(in: directory) != manifest
                guard isMoving else { throw error }
                if attempt == attemptCount { throw error }
            }
            if attempt == attemptCount {
                throw RoostError(
                    .io, "the workspace changes faster than it can be opened. Try again",
                    file: directory.path)
            }
            if attempt > 3 { Thread.sleep(forTimeInterval: 0.001) }
        }
    }

    static func readManifest(in directory: any Directory) throws -> ManifestRecord {
        let entries = try directory.entries()
        if let record = try ManifestFile.read(in: directory, entries: entries) { return record }
        // A listing beside a writer that makes the workspace may lack the manifest, and have the first segment, which comes
        // after it; the next one has both.
        let later = try directory.entries()
        if let record = try ManifestFile.read(in: directory, entries: later) { return record }
        try Opening.refuseData(later, withoutManifestIn: directory.path)
        throw RoostError(.io, "there is no workspace here to read", file: directory.path)
    }

    private mutating func readLog(
        _ directory: any Directory, _ page: SignalPage?
    ) throws -> LogTail.End {
        var replay = replay
        var frameCount = 0
        // Handed over rather than copied.
        self.replay = Replay(shardCount: 0, hashSeed: manifest.hashSeed)
        let end = try tail.read(
            limitBytes: .max, looksFurther: true,
            isHeld: { batch in
                let page = try page ?? SignalPage.forReader(FileName.signals.text, in: directory)
                return try page?.isAwaited(batch) ?? false
            }
        ) { frame, segment in
            frameCount += 1
            try replay.add(frame, segment.region, path: segment.file.path)
        }
        self.replay = replay
        self.frameCount = frameCount
        return end
    }

    /// As far as the writer has said that it is, and no further than it is sure to be.
    private mutating func readBesideWriter(
        _ directory: any Directory, _ page: SignalPage?
    ) throws {
        let told = page?.sequence ?? 0
        tail.noteDurable(page?.durableSequence ?? 0)
        tail.noteAppended(told)
        let end = try readLog(directory, page)
        let wanted = max(manifest.coveredSequence, end == .unsynced ? 0 : told)
        guard end != .missing, tail.lastSequence >= wanted else {
            throw tail.damage(
                tail.segments.last, "batch \(tail.lastSequence + 1) is damaged or missing")
        }
    }

    /// All that an opening by a writer would keep, with nothing changed.
    private mutating func readAtRest(_ directory: any Directory, _ page: SignalPage?) throws {
        _ = try readLog(directory, page)
        let numbers = try directory.entries().compactMap { entry -> UInt64? in
            if case .segment(let number) = FileName(entry.name) { number } else { nil }
        }
        // The last segment once more, and what stands after it: whether it is a torn tail, or damage.
        var rest = manifest
        rest.durableSequence = tail.durableSequence
        if let last = tail.segments.last {
            rest.firstSegment = last.number
            rest.flushedSequence = last.header.firstSequence - 1
        }
        let ending = try LogRecovery(
            segmentNumbers: numbers, manifest: rest, directory: directory, writable: false,
            copies: true
        ) { _, _ in }
        guard ending.lastSequence == tail.lastSequence else {
            throw tail.damage(tail.segments.last, "the log changed while it was read")
        }
        self.ending = ending
    }
}

/// Whether a writer is about, and which one.
struct WriterMark: Equatable {
    let isOpen: Bool
    let openingCount: UInt64

    init(_ page: SignalPage?) throws {
        isOpen = try page?.isWriterOpen ?? false
        openingCount = page?.openingCount ?? 0
    }
}

extension ManifestRecord {
    /// Every batch of which anything is in the snapshots, or was left out of them, is at or before this one:
    /// of a removal that a flush has taken in nothing may be there. All of them were on disk before the
    /// manifest was written.
    var coveredSequence: UInt64 {
        let newest = snapshots.lazy.map(\.maximumSequence).max() ?? 0
        let cleared = clears.lazy.map(\.sequence).max() ?? 0
        return max(flushedSequence, durableSequence, newest, cleared)
    }
}

extension ColdStorage {
    /// Opens what `manifest` lists, but for the files that are open in `known`.
    convenience init(
        _ manifest: ManifestRecord, in directory: any Directory, known: ColdStorage = .none
    ) throws {
        let open = Dictionary(
            known.snapshots.map { ($0.footer.number, $0) }, uniquingKeysWith: { first, _ in first })
        let tiers = try manifest.tiers.map { listed in
            ColdTier(
                try listed.map { entry in
                    let reader = try open[entry.number] ?? Self.open(entry.number, in: directory)
                    guard reader.footer.workspace == manifest.workspace, entry.isOf(reader.footer)
                    else {
                        throw RoostError(
                            .corrupt, "the snapshot is not the one that the manifest lists",
                            file: reader.path, offset: 0)
                    }
                    return .init(
                        snapshot: reader, lowerBound: entry.lowerBound, isTrimmed: entry.isTrimmed)
                })
        }
        self.init(tiers, generation: known.generation + 1)
    }

    private static func open(_ number: UInt64, in directory: any Directory) throws -> SnapshotReader
    {
        do { return try SnapshotReader(number: number, in: directory) } catch {
            let name = FileName.snapshot(number).text
            if try directory.entries().contains(where: { $0.name == name }) { throw error }
            throw RoostError(
                .corrupt,
                "a snapshot that the manifest lists is missing. "
                    + "Restore a backup, or salvage what can be read",
                file: "\(directory.path)/\(name)", offset: 0)
        }
    }
}
