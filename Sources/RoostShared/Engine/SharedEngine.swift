/// What keeps the bytes of a ``SharedWorkspace`` beyond this process: an existing distributed store, to which
/// replication, elections and quorums belong.
///
/// Keys and values are bytes; keys are ordered by them. Every commit that changes anything has a *revision*,
/// higher than all before it. What a conforming type promises is what `RoostConformance` checks:
///
/// - A read without a revision is linearizable; one at a revision sees all commits up to it and none after.
/// - A commit is atomic. It is made only where all of its guards hold at the moment at which it is made.
/// - A call that throws `.unavailable` has had no effect and will have none. One that throws
///   `.unknownOutcome` may have, or may yet have.
/// - A call ends soon after its deadline at the latest, and soon after its task is cancelled.
///
/// Calls may be made from any task, many at once.
public protocol SharedEngine: Sendable {
    /// What the engine takes at once.
    var limits: SharedLimits { get }

    /// The newest revision, or the records of a range at one.
    ///
    /// - Throws: `.compacted` where the engine no longer has the revision that is asked for;
    ///   `.unavailable`, `.notPermitted`, `.cancelled`.
    func read(_ read: SharedRead, before deadline: ContinuousClock.Instant) async throws
        -> SharedPage

    /// Makes the changes of `commit` where its guards hold.
    ///
    /// - Returns: `.committed` with the revision, or `.conflict` with nothing changed.
    /// - Throws: `.tooLarge`, `.unavailable`, `.notPermitted`, `.cancelled`, and then nothing is and will be
    ///   changed; `.outOfSpace` where the commit was refused, or was the last one that there was room for:
    ///   it will not be made later; `.unknownOutcome` where nothing is known.
    func commit(_ commit: SharedCommit, before deadline: ContinuousClock.Instant) async throws
        -> SharedOutcome

    /// Begins to tell every change of the keys in `range` after `revision`.
    ///
    /// The events end with an error where the connection breaks; whoever watches goes on at the revision
    /// that it has had last.
    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents

    /// What the engine's clock says, in milliseconds since 1970; `nil` where the engine tells no time, and the
    /// client's own clock counts.
    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64?

    /// Gives connections back. Calls under way end with `.closed`, and later ones too.
    func close() async
}

/// What an engine takes at once. More is `.tooLarge`, and never split.
public struct SharedLimits: Sendable, Hashable {
    /// Operations and guards of one commit, together.
    public var operationCount: Int
    /// Keys and values of one commit, together.
    public var commitSizeBytes: Int
    /// One key, with the namespace and the dictionary that stand before it.
    public var keySizeBytes: Int

    public init(operationCount: Int, commitSizeBytes: Int, keySizeBytes: Int) {
        self.operationCount = operationCount
        self.commitSizeBytes = commitSizeBytes
        self.keySizeBytes = keySizeBytes
    }
}

/// Keys from `lower` up to but not including `upper`, in the order of their bytes.
public struct SharedKeyRange: Sendable, Hashable {
    public var lower: [UInt8]
    public var upper: [UInt8]

    public init(lower: [UInt8], upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// One key.
    public init(_ key: [UInt8]) { self.init(lower: key, upper: key + [0]) }

    /// Whether no key can be in it.
    public var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }

    public func contains(_ key: [UInt8]) -> Bool {
        !key.lexicographicallyPrecedes(lower) && key.lexicographicallyPrecedes(upper)
    }

    /// Whether all keys of another are in it.
    func contains(_ other: SharedKeyRange) -> Bool {
        !other.lower.lexicographicallyPrecedes(lower)
            && !upper.lexicographicallyPrecedes(other.upper)
    }

    /// What of it was looked at by who has come to a key, which is looked at too.
    func part(upTo key: [UInt8], isDescending: Bool) -> SharedKeyRange {
        isDescending
            ? SharedKeyRange(lower: key, upper: upper)
            : SharedKeyRange(lower: lower, upper: key + [0])
    }
}

/// What is read at once.
public struct SharedRead: Sendable, Hashable {
    public var range: SharedKeyRange
    /// The newest where it is `nil`.
    public var revision: UInt64?
    /// At least 1.
    public var limit: Int
    public var isDescending = false
    /// Values are then left out; ``SharedRecord/expires`` is told all the same.
    public var isKeysOnly = false

    public init(_ range: SharedKeyRange, at revision: UInt64? = nil, limit: Int = 1) {
        self.range = range
        self.revision = revision
        self.limit = limit
    }
}

/// A key and its value, as one commit left it.
public struct SharedRecord: Sendable, Hashable {
    public var key: [UInt8]
    /// Empty where only keys were asked for.
    public var value: [UInt8]
    /// The commit that set the value.
    public var revision: UInt64
    /// Whether it was set to be removed after a time.
    public var expires: Bool

    public init(key: [UInt8], value: [UInt8], revision: UInt64, expires: Bool) {
        self.key = key
        self.value = value
        self.revision = revision
        self.expires = expires
    }
}

/// Records of one revision.
public struct SharedPage: Sendable {
    public var records: [SharedRecord]
    /// The revision that was read at.
    public var revision: UInt64
    /// Whether the range has more than were asked for.
    public var hasMore: Bool

    public init(records: [SharedRecord], revision: UInt64, hasMore: Bool) {
        self.records = records
        self.revision = revision
        self.hasMore = hasMore
    }
}
