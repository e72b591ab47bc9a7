/// What a salvage could read of a workspace, and what it could not.
public struct SalvageReport: Sendable {
    /// A key in a dictionary.
    public struct Place: Sendable, Equatable {
        public var dictionary: String
        public var key: String
    }

    /// A stretch of a file that could not be read, and what was in it as far as that is known.
    public struct Loss: Sendable {
        /// The file's name, and where in it the stretch begins.
        public var file: String
        public var offset: UInt64?
        public var reason: String
        /// The keys that may be lost, or come in an older state, lie after `after` and before
        /// `before`, in the order of their bytes; `nil` where there is no bound.
        public var after: Place?
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
    public internal(set) var losses: [Loss] = []

    /// Whether all that was promised to survive was read.
    public var isComplete: Bool { losses.allSatisfy(\.isTornTail) }
}
