/// Changes that are made together, where the guards hold.
public struct SharedCommit: Sendable {
    public var guards: [SharedGuard] = []
    /// No key is changed twice, and no range that is removed has a key that is put.
    public var operations: [SharedOperation] = []
    /// A record that tells later whether this commit was made. Readers and watchers of others do not see it.
    public var mark: SharedMark?

    public init(
        guards: [SharedGuard] = [], operations: [SharedOperation] = [], mark: SharedMark? = nil
    ) {
        self.guards = guards
        self.operations = operations
        self.mark = mark
    }

    /// What counts against ``SharedLimits/operationCount``.
    public var operationCount: Int { max(guards.count, operations.count) + (mark == nil ? 0 : 1) }

    /// What counts against ``SharedLimits/commitSizeBytes``.
    public var sizeBytes: Int {
        operations.reduce(0) { $0 + $1.sizeBytes } + guards.reduce(0) { $0 + $1.sizeBytes }
    }
}

/// What must be so at the moment of a commit.
public enum SharedGuard: Sendable, Hashable {
    /// The key was set last by this commit; by none, and has no value, where it is zero.
    case key([UInt8], revision: UInt64)
    /// No key in the range was set by a commit after this one. Says nothing of keys that were removed: those
    /// that were read have a guard each.
    case nothingNewer(SharedKeyRange, than: UInt64)

    var sizeBytes: Int {
        switch self {
        case .key(let key, _): key.count + 16
        case .nothingNewer(let range, _): range.lower.count + range.upper.count + 16
        }
    }
}

/// One change.
public enum SharedOperation: Sendable, Hashable {
    /// Sets the value; with `duration`, the engine removes it some time after that has passed.
    case put(key: [UInt8], value: [UInt8], expiresIn: Duration?)
    case remove(key: [UInt8])
    case removeRange(SharedKeyRange)

    var sizeBytes: Int {
        switch self {
        case .put(let key, let value, _): key.count + value.count + 16
        case .remove(let key): key.count + 16
        case .removeRange(let range): range.lower.count + range.upper.count + 16
        }
    }
}

/// A record by which its writer finds out whether a commit was made whose answer was lost.
///
/// The commit is guarded by `revision`, so that writing the record once more, guarded in the same way, either
/// tells that the commit was made, or makes sure that it never is.
public struct SharedMark: Sendable, Hashable {
    public var key: [UInt8]
    /// What set the record last; zero where it is new.
    public var revision: UInt64
    /// Of this commit alone.
    public var value: [UInt8]

    public init(key: [UInt8], revision: UInt64, value: [UInt8]) {
        self.key = key
        self.revision = revision
        self.value = value
    }

    /// How long the engine keeps it at least: longer than any call may take.
    public static let lifetime = Duration.seconds(3600)
}

/// What became of a commit.
public enum SharedOutcome: Sendable, Hashable {
    case committed(revision: UInt64)
    /// A guard, or the mark's, did not hold; nothing is changed.
    case conflict
}
