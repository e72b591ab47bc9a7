import RoostIO

/// One change of a dictionary, as `changes` tells it.
///
/// A version is the position of a batch among all that the workspace committed: the changes of
/// one batch have the same one and come one after the other, and later batches have higher ones.
public enum DictionaryChange<Value: Sendable>: Sendable {
    /// The key has this value since the batch `version`.
    case set(key: String, value: Value, version: UInt64)
    /// The key has no value since the batch `version`. It may have had none before.
    case removed(key: String, version: UInt64)
    /// The dictionary was emptied by the batch `version`; what that batch itself set follows.
    /// A watcher of one key gets `removed` instead.
    case removedAll(version: UInt64)
    /// The key was set, to a value that does not read as `Value`; or, with the error `.io`, the change cannot be read
    /// at all, and the key may be empty.
    case unreadable(key: String, error: RoostError, version: UInt64)
    /// So many changes came here that the buffer had no room for. Where a watcher began at a
    /// version that the log no longer goes back to, the count is of the versions that are
    /// missing, whatever keys they changed.
    case missed(count: Int)

    /// The batch that made the change; `nil` for `missed`. The last one seen is where
    /// `changes(since:)` takes up.
    public var version: UInt64? {
        switch self {
        case .set(_, _, let version), .removed(_, let version), .removedAll(let version),
            .unreadable(_, _, let version):
            version
        case .missed: nil
        }
    }
}

extension DictionaryChange: Equatable where Value: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.set(let key, let value, let version), .set(let other, let otherValue, let second)):
            key.utf8.elementsEqual(other.utf8) && value == otherValue && version == second
        case (.removed(let key, let version), .removed(let other, let second)):
            key.utf8.elementsEqual(other.utf8) && version == second
        case (.removedAll(let version), .removedAll(let second)): version == second
        case (
            .unreadable(let key, let error, let version),
            .unreadable(let other, let cause, let second)
        ):
            key.utf8.elementsEqual(other.utf8) && error.code == cause.code && version == second
        case (.missed(let count), .missed(let other)): count == other
        default: false
        }
    }
}

/// What a ``Subscription``'s closure is told.
public enum SubscriptionEvent<Value: Sendable>: Sendable {
    /// The value when the subscription began, or `nil` where there was none. Always the first; where that
    /// value does not read, it is the first later one that does.
    case initial(Value?)
    /// The key has this value from now on.
    case updated(Value)
    /// The key has no value any more.
    case deleted
}

extension SubscriptionEvent: Equatable where Value: Equatable {}
