/// What a salvage could read of a workspace, and what it could not.
public struct SalvageReport: Sendable {
    /// A key in a dictionary.
    public struct Place: Sendable, Equatable {
        /// The dictionary's name.
        public var dictionary: String
        /// The key in it.
        public var key: String
    }

    /// A stretch of a file that could not be read, and what was in it as far as that is known.
    public struct Loss: Sendable {
        /// The file's name.
        public var file: String
        /// Where in the file the stretch begins, in bytes; `nil` where it is all of it.
        public var offset: UInt64?
        /// What is wrong with it, for people.
        public var reason: String
        /// The keys that may be lost, or come in an older state, lie after `after` and before
        /// `before`, in the order of their bytes; `nil` where there is no bound.
        public var after: Place?
        /// The other bound: as ``after``.
        public var before: Place?
        /// The changes that are lost are among those with these sequence numbers, where known.
        public var sequences: ClosedRange<UInt64>?
        /// Whether it is the unfinished end of the log: nothing in it was promised to survive.
        public var isTornTail = false
    }

    /// Records written to the target.
    public internal(set) var recordCount = 0
    /// The files that were read, whole or in part.
    public internal(set) var fileCount = 0
    /// What could not be read; empty where everything was.
    public internal(set) var losses: [Loss] = []
    /// Records that could not be read, of snapshots above all: of some the log may have had a newer state, and some say
    /// that a key was removed. So at most so many are lost, but for batches of the log.
    public internal(set) var lostRecordCount = 0
    /// Batches of the log that could not be read.
    public internal(set) var lostBatchCount: UInt64 = 0
    /// Whether the two counts are of all ``losses``; `false` where of some it is not known what they held.
    public internal(set) var isLossCounted = true

    /// Whether all that was promised to survive was read.
    public var isComplete: Bool { losses.allSatisfy(\.isTornTail) }
}

extension SalvageReport {
    /// Adds the loss of the record at `place`: to the last one, where that ends there and is of the same file and reason.
    mutating func noteRecord(_ loss: Loss, at place: Place?) {
        lostRecordCount += 1
        guard let last = losses.last, let place, last.before == place, last.file == loss.file,
            last.reason == loss.reason, let sequences = loss.sequences,
            let joined = last.sequences
        else { return losses.append(loss) }
        losses[losses.count - 1].before = loss.before
        losses[losses.count - 1].sequences =
            min(
                joined.lowerBound, sequences.lowerBound)...max(
                joined.upperBound, sequences.upperBound)
    }
}
