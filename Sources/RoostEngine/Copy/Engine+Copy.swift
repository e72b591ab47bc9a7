import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// A state that a copy may begin with: the snapshots of one moment. They stay readable, though a
/// merge may remove their files, until the last reference goes.
package struct CopyBase: Sendable {
    /// Lists the snapshots; every batch up to its `flushedSequence` is in them. They may have some up to
    /// its `durableSequence`, so it takes the log up to there to make one moment of them.
    package let manifest: ManifestRecord
    let cold: ColdStorage

    /// In the order of the manifest.
    package var snapshots: [SnapshotReader] { cold.snapshots }
}

extension Engine {
    /// The snapshots of this moment.
    package func pinBase() async throws -> CopyBase {
        try condition.checkOpen()
        return await compactor.pinBase()
    }

    /// The snapshots of this moment, and the log after them, of which files of up to `limitBytes` are
    /// held after their flush.
    package func pinBaseAndTap(limitBytes: Int) async throws -> (CopyBase, LogTap) {
        try condition.checkOpen()
        guard let pinned = await compactor.pinBaseAndTap(limitBytes: limitBytes) else {
            throw RoostError(.readOnly, "only what is open for writing can be copied")
        }
        return pinned
    }

    /// The log after batch `sequence`, if the log has the frame of that batch, and it is the one of
    /// which `proof` is; where that is `nil`, the caller knows.
    package func tap(
        after sequence: UInt64, proof: FrameProof?, limitBytes: Int
    ) throws -> LogTap? {
        try condition.checkOpen()
        guard let log, log.lastSequence >= sequence else { return nil }
        // The frame itself has to be held while it is looked for.
        let first = proof == nil ? sequence : max(sequence, 1) - 1
        guard let hold = log.history.hold(after: first, limitBytes: limitBytes) else { return nil }
        let tap = LogTap(position: first, hold: hold)
        return try tap.goingOn(after: sequence, proof: proof)
    }

    /// All of the log that is still there, for who learns only later from where on it is wanted: held from now on.
    /// `nil` where there is none.
    package func tapOfAll(limitBytes: Int) throws -> LogTap? {
        try condition.checkOpen()
        return log?.history.holdAll(limitBytes: limitBytes)
            .map { LogTap(position: $0.position, hold: $0.hold) }
    }

    /// Brings to disk what is in the log; the last batch of it.
    package func syncLog() async throws -> UInt64 {
        guard let log, let syncer else { return recovery.lastSequence }
        let sequence = log.lastSequence
        try await syncer.sync(through: sequence)
        return sequence
    }
}

extension Compactor {
    func pinBase() -> CopyBase { CopyBase(manifest: manifest, cold: cold) }

    /// Nothing is forgotten between the two: this actor alone does that.
    func pinBaseAndTap(limitBytes: Int) -> (CopyBase, LogTap)? {
        let base = pinBase()
        let sequence = base.manifest.flushedSequence
        guard let hold = log?.history.hold(after: sequence, limitBytes: limitBytes) else {
            return nil
        }
        return (base, LogTap(position: sequence, hold: hold))
    }
}
