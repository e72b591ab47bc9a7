import RoostFormat
import RoostLog

/// What an opening found and did.
public struct RecoveryReport: Sendable {
    /// A piece of the log that a crash had left unfinished.
    public struct TornTail: Sendable, Equatable {
        /// The segment's file name.
        public var file: String
        /// Where in it the tail began.
        public var offset: UInt64
        /// How long it was.
        public var sizeBytes: UInt64
        /// The file that the tail's bytes were kept in; `nil` where there were none, or the
        /// opening was for reading only.
        public var keptAs: String?
    }

    /// Whether the workspace was made by this opening.
    public internal(set) var isNew = false
    /// Batches that were read back from the log.
    public internal(set) var replayedBatchCount = 0
    /// The puts and removals in them.
    public internal(set) var replayedOperationCount = 0
    /// What was cut off the log's end, the first first. Nothing in it had been promised to
    /// survive.
    public internal(set) var tornTails: [TornTail] = []
    /// Files that a crash had left over and that were removed.
    public internal(set) var removedFiles: [String] = []
    /// The sequence number of the last batch.
    public internal(set) var lastSequence: UInt64 = 0
}

extension RecoveryReport {
    mutating func note(_ recovered: LogRecovery, operationCount: Int) {
        replayedBatchCount = recovered.frameCount
        replayedOperationCount = operationCount
        lastSequence = recovered.lastSequence
        noteTails(recovered)
    }

    mutating func noteTails(_ recovered: LogRecovery) {
        tornTails = recovered.tornTails.map { tail in
            TornTail(
                file: FileName.segment(tail.segment).text, offset: UInt64(tail.offset),
                sizeBytes: UInt64(tail.sizeBytes), keptAs: tail.keptAs)
        }
    }
}
