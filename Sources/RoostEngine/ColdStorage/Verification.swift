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
    /// keys, and that the index finds each. Damage is reported, not thrown. The files are those of one
    /// moment; readers, writers and compaction go on meanwhile, and closing waits for nothing here.
    ///
    /// - Throws: `.closed` where the workspace is closed meanwhile, `.cancelled` where the task is cancelled.
    package func verify(
        _ onProgress: (@Sendable (VerificationProgress) -> Void)? = nil
    ) async throws -> VerificationReport {
        try condition.checkOpen()
        let verification = Verification(condition: condition, onProgress: onProgress ?? { _ in })
        let thread = VerificationThread(compactor.scheduling.thread(named: "roost-verify"))
        if let follower {
            return try await thread.run(
                verification, in: directory, beside: follower.shared.page, shardCount: shards.count)
        }
        return try await thread.run(verification, try await compactor.verificationSource())
    }
}

/// A thread for the reading, as it blocks.
private actor VerificationThread {
    private let thread: WorkerThread

    init(_ thread: WorkerThread) { self.thread = thread }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func run(
        _ verification: Verification, _ source: VerificationSource
    ) throws -> VerificationReport {
        try verification.finish { try $0.check(source) }
    }

    func run(
        _ verification: Verification, in directory: any Directory, beside page: SignalPage?,
        shardCount: Int
    ) throws -> VerificationReport {
        try verification.finish {
            try $0.check(in: directory, beside: page, shardCount: shardCount)
        }
    }
}

/// Checks files of one moment. Blocks; to be called in the task that asked for it, which may be cancelled.
private struct Verification {
    private static let recordsBetweenProgress: UInt64 = 1 << 14
    private static let batchesBetweenLooks = 1 << 10

    let condition: EngineCondition
    let onProgress: @Sendable (VerificationProgress) -> Void
    private var report = VerificationReport()
    private var progress = VerificationProgress()

    init(
        condition: EngineCondition,
        onProgress: @escaping @Sendable (VerificationProgress) -> Void
    ) {
        self.condition = condition
        self.onProgress = onProgress
    }

    /// What `check` has found, unless nobody waits for it any more.
    consuming func finish(
        _ check: (inout Verification) throws -> Void
    ) throws -> VerificationReport {
        do { try check(&self) } catch let stopped as Stopped { throw stopped.reason }
        return report
    }

    mutating func check(_ source: VerificationSource) throws {
        progress.totalSizeBytes = source.manifest.snapshots.reduce(0) { $0 + $1.fileSizeBytes }
        for part in source.snapshots {
            try noteDamage { try $0.check(part, hashSeed: source.manifest.hashSeed) }
        }
        try noteDamage { try $0.checkLog(source) }
        try noteDamage { verification in
            try source.manifestLook.get()
            verification.report.fileCount += 1
        }
    }

    /// Of files that another process may be changing: those of one moment, which are opened before any
    /// is read.
    mutating func check(
        in directory: any Directory, beside page: SignalPage?, shardCount: Int
    ) throws {
        try noteDamage { verification in
            let state = try FollowedState.read(in: directory, page: page, shardCount: shardCount)
            verification.report.fileCount += 1 + state.tail.segments.count
            verification.report.batchCount = state.frameCount
            verification.report.sizeBytes += state.replay.sizeBytes
            verification.progress.totalSizeBytes = state.manifest.snapshots.reduce(0) {
                $0 + $1.fileSizeBytes
            }
            let readers = state.cold.tiers.map { $0.parts.map(\.snapshot) }
            for part in VerificationSource.snapshots(of: state.manifest, { readers[$0][$1] }) {
                try verification.noteDamage {
                    try $0.check(part, hashSeed: state.manifest.hashSeed)
                }
            }
        }
    }

    // MARK: Steps

    /// Why nobody waits for the rest: damage is none of it.
    private struct Stopped: Error { let reason: RoostError }

    private func checkGoesOn() throws {
        if condition.isClosed { throw Stopped(reason: EngineCondition.closed) }
        if Task.isCancelled {
            throw Stopped(
                reason: RoostError(.cancelled, "the task was cancelled while it verified"))
        }
    }

    /// Tells how far it is, which may take long.
    private func tellProgress() throws {
        onProgress(progress)
        try checkGoesOn()
    }

    private mutating func noteDamage(_ body: (inout Verification) throws -> Void) throws {
        try checkGoesOn()
        do { try body(&self) } catch let stopped as Stopped { throw stopped } catch {
            report.damages.append(
                error as? RoostError ?? RoostError(.io, "could not be read", cause: error))
        }
    }

    /// Reads all of a snapshot and throws `.corrupt` at the first thing that is not as it was written.
    private mutating func check(
        _ part: VerificationSource.Snapshot, hashSeed: HashSeed
    ) throws {
        let opened = try part.reader.get()
        // All are held until the end: what is opened of one must not be.
        let reader = try opened.apart(always: true) ?? opened
        reader.region.readAhead()
        report.fileCount += 1
        report.sizeBytes += reader.footer.fileSizeBytes
        let begin = progress.checkedSizeBytes
        try Compactor.check(reader, part.listed, upTo: part.upperBound, hashSeed: hashSeed) {
            guard $0 % Self.recordsBetweenProgress == 0 else { return }
            let share = Double($0) / Double(max(1, reader.footer.recordCount))
            let done = UInt64(min(1, share) * Double(reader.footer.fileSizeBytes))
            progress.checkedSizeBytes = begin + done
            try tellProgress()
        }
        progress.checkedSizeBytes = begin + reader.footer.fileSizeBytes
        try tellProgress()
        report.recordCount += reader.footer.recordCount
    }

    private mutating func checkLog(_ source: VerificationSource) throws {
        var seen: Set<UInt64> = []
        var batchCount = 0
        let recovered = try LogRecovery(
            source.segments.get(), manifest: source.manifest, path: source.path
        ) { frame, reader in
            if seen.insert(reader.number).inserted { report.fileCount += 1 }
            report.sizeBytes += UInt64(frame.sizeBytes)
            batchCount += 1
            if batchCount % Self.batchesBetweenLooks == 0 { try checkGoesOn() }
            guard frame.forEachOperation({ _ in }) else {
                throw RoostError(
                    .corrupt, "a batch's operations make no sense", file: reader.file.path,
                    offset: UInt64(frame.start - UnsafeRawPointer(reader.region.base)))
            }
        }
        report.batchCount = recovered.frameCount
        if source.isWritersOwn, let torn = recovered.tornTails.first {
            throw RoostError(
                .corrupt, "the log is broken in the middle",
                file: "\(source.path)/\(FileName.segment(torn.segment).text)",
                offset: UInt64(torn.offset))
        }
    }
}
