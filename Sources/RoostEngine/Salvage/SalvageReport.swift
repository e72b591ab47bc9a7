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

    /// Whether all that was promised to survive was read.
    public var isComplete: Bool { losses.allSatisfy(\.isTornTail) }
}
