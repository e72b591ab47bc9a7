import Roost

/// A dictionary of a ``SharedWorkspace`` whose keys are values of one type: `workspace.dictionary("users", keys: UUID.self)`.
public typealias SharedKeyedDictionary<Key: KeyRepresentable> = KeyedKeyValueDictionary<
    SharedDictionary, Key
>

extension KeyedKeyValueDictionary where Strings == SharedDictionary {
    /// The value of `key`, `nil` where it has none, and then each newer one; as ``SharedDictionary/updates(of:of:)``.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: Key, as type: Value.Type = Value.self
    ) -> KeyValueSequence<Value?> {
        strings.updates(of: key.key, of: type)
    }

    /// The value of `key`, and then each newer one; as the other `updates(of:as:)`.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: Key, as type: Value.Type = Value.self
    ) -> KeyValueSequence<Value?> {
        strings.updates(of: key.key, of: type)
    }
}
