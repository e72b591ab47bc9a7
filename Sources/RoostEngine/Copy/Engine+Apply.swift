import RoostFormat
import RoostIO

// A workspace that mirrors another: it takes the batches of the other's log as they stand.

extension Engine {
    /// Commits the batch of a frame of the workspace that this one mirrors, under the same sequence
    /// number. The frame's checksum was checked. Returns once the batch is in the log.
    ///
    /// One call at a time, in the order of the batches; nobody else writes.
    ///
    /// - Throws: `.corrupt` where the batch is not the next one, or does not divide into operations.
    package nonisolated(nonsending) func apply(_ frame: Frame.View) async throws {
        guard let log, frame.sequence == log.lastSequence + 1 else {
            throw RoostError(
                .corrupt,
                "batch \(frame.sequence) does not follow batch \(lastSequence) of the copy")
        }
        guard var batch = EncodedBatch(frame, hashSeed: hashSeed) else {
            throw RoostError(
                .corrupt, "the operations of batch \(frame.sequence) make no sense")
        }
        if try condition.checkMirror() {
            await condition.waitForRoom()
            _ = try condition.checkMirror()
            try checkBacklog()
        }
        // What it changes besides, the other has decided.
        batch.guardGeneration = guards.generation
        let sequence = try await commitCompleted(batch, .process)
        precondition(sequence == frame.sequence, "somebody else wrote to a mirror")
    }

    /// Takes writes of others than the one that it mirrors from here on.
    package func endMirroring() { condition.endMirroring() }
}

extension EncodedBatch {
    /// The operations of a frame as they stand; `nil` where they make no sense.
    init?(_ frame: Frame.View, hashSeed: HashSeed) {
        self.init(hashSeed: hashSeed)
        let payload = UnsafeRawBufferPointer(
            start: frame.start + Frame.headerSizeBytes, count: frame.payloadCount)
        takePayload(payload)
        let isWhole = frame.forEachOperation { noteOperation($0, hash: hashSeed.hash($0.key)) }
        guard isWhole, !isEmpty else { return nil }
    }
}
