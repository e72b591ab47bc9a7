import Synchronization

/// The indexes of a workspace's repositories, one for each dictionary and type.
final class ObjectIndexRegistry: Sendable {
    private struct Key: Hashable {
        let dictionary: [UInt8]
        let type: ObjectIdentifier
    }

    private let all = Mutex<[Key: any Sendable & AnyObject]>([:])

    /// `nil` where the type declares no indexes.
    func indexes<Item: Sendable>(
        _ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Item>
    ) -> ObjectIndexes<Item>? {
        guard let type = Item.self as? any Indexed.Type else { return nil }
        let key = Key(dictionary: Array(dictionary.name.utf8), type: ObjectIdentifier(Item.self))
        return all.withLock { all in
            if let known = all[key] as? ObjectIndexes<Item> { return known }
            let indexes = ObjectIndexes(dictionary, codec, Self.declared(type))
            all[key] = indexes
            return indexes
        }
    }

    static func declared<Item, Type: Indexed>(_ type: Type.Type) -> [Index<Item>] {
        // `Type` is `Item`, as the caller found it by a cast.
        type.indexes as Any as? [Index<Item>] ?? []
    }
}
