import RoostCoding
import RoostIO

/// One change of a dictionary whose keys are values of one type, as its `changes` tell it: a ``DictionaryChange`` with such a key.
public enum KeyedDictionaryChange<Key: KeyRepresentable, Value: Sendable>: Sendable {
    /// The key has this value since the batch `version`.
    case set(key: Key, value: Value, version: UInt64)
    /// The key has no value since the batch `version`. It may have had none before.
    case removed(key: Key, version: UInt64)
    /// The dictionary was emptied by the batch `version`; what that batch itself set follows.
    case removedAll(version: UInt64)
    /// What stands under this string was changed, which is the key of no `Key` (`.typeMismatch`), or was set to a value that
    /// does not read as `Value`; else as ``DictionaryChange/unreadable(key:error:version:)``.
    case unreadable(key: String, error: RoostError, version: UInt64)
    /// So many changes came here that the buffer had no room for; as ``DictionaryChange/missed(count:)``.
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

    init(_ change: DictionaryChange<Value>, in dictionary: String) {
        switch change {
        case .set(let string, let value, let version):
            self.init(string, version, dictionary) {
                .set(key: $0, value: value, version: version)
            }
        case .removed(let string, let version):
            self.init(string, version, dictionary) { .removed(key: $0, version: version) }
        case .removedAll(let version): self = .removedAll(version: version)
        case .unreadable(let key, let error, let version):
            self = .unreadable(key: key, error: error, version: version)
        case .missed(let count): self = .missed(count: count)
        }
    }

    private init(
        _ string: String, _ version: UInt64, _ dictionary: String, _ change: (Key) -> Self
    ) {
        if let key = Key(key: string) {
            self = change(key)
        } else {
            let error = Key.notStored(string, in: dictionary)
            self = .unreadable(key: string, error: error, version: version)
        }
    }
}

extension KeyedDictionaryChange: Equatable where Value: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.set(let key, let value, let version), .set(let other, let otherValue, let second)):
            key == other && value == otherValue && version == second
        case (.removed(let key, let version), .removed(let other, let second)):
            key == other && version == second
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

extension KeyedDictionary {
    /// Every change of the dictionary, from the next on, or from those after the version `since` on; as
    /// `changes(prefix:as:since:bufferCapacity:)` of a `WorkspaceDictionary`.
    public func changes<Value: BinaryCodable & Sendable>(
        as type: Value.Type = Value.self, since version: UInt64? = nil,
        bufferCapacity: Int = WorkspaceDictionary.defaultBufferCapacity
    ) -> some AsyncSequence<KeyedDictionaryChange<Key, Value>, Never> & Sendable {
        strings.changes(as: type, since: version, bufferCapacity: bufferCapacity)
            .map { [name = strings.name] in KeyedDictionaryChange($0, in: name) }
    }

    /// Every change of the dictionary; as the other `changes(as:since:bufferCapacity:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        as type: Value.Type = Value.self, since version: UInt64? = nil,
        bufferCapacity: Int = WorkspaceDictionary.defaultBufferCapacity
    ) -> some AsyncSequence<KeyedDictionaryChange<Key, Value>, Never> & Sendable {
        strings.changes(as: type, since: version, bufferCapacity: bufferCapacity)
            .map { [name = strings.name] in KeyedDictionaryChange($0, in: name) }
    }
}

extension KeyedKeyValueDictionary {
    /// Every change of the dictionary in the order of the commits, from the next on, or from those after the version `since`
    /// on.
    public func changes<Value: BinaryCodable & Sendable>(
        as type: Value.Type = Value.self, since version: UInt64? = nil
    ) -> some AsyncSequence<KeyedDictionaryChange<Key, Value>, Never> & Sendable {
        strings.changes(KeySelection(), form: .binary(), since: version)
            .map { [name] in KeyedDictionaryChange<Key, Value>($0, in: name) }
    }

    /// Every change of the dictionary; as the other `changes(as:since:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        as type: Value.Type = Value.self, since version: UInt64? = nil
    ) -> some AsyncSequence<KeyedDictionaryChange<Key, Value>, Never> & Sendable {
        strings.changes(KeySelection(), form: .codable(), since: version)
            .map { [name] in KeyedDictionaryChange<Key, Value>($0, in: name) }
    }
}
