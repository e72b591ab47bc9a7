import Synchronization

/// Traps where two indexes of one type have one name.
func checkNames<Item>(of indexes: [Index<Item>]) {
    var names: Set<String> = []
    for index in indexes where !names.insert(index.name).inserted {
        preconditionFailure(
            "two indexes of \(Item.self) are called \"\(index.name)\": give each a name of its own")
    }
}

/// The indexes of one type.
protocol DeclaredObjectIndexes: AnyObject, Sendable {
    func noteMigration()
}

/// The indexes of a workspace's repositories, one for each dictionary.
///
/// A dictionary has the indexes of one type, the first that it is a repository of: of two each would drop those of the
/// other, and a transaction that wrote through both would keep the marks of both and the entries of one.
/// docs/decisions/0240.
final class ObjectIndexRegistry: Sendable {
    private struct Owner {
        let typeName: String
        let indexes: any DeclaredObjectIndexes
    }

    /// By the bytes of the dictionary's name, as strings take canonically equal ones for one.
    private let owners = Mutex<[[UInt8]: Owner]>([:])

    /// `nil` where the type declares no indexes.
    func indexes<Item: Sendable>(
        _ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Item>
    ) -> ObjectIndexes<Item>? {
        guard let type = Item.self as? any Indexed.Type else { return nil }
        let key = Array(dictionary.name.utf8)
        let known = owners.withLock { $0[key] }
        if let indexes = known?.indexes as? ObjectIndexes<Item> { return indexes }
        // Without the mutex, as it is the program's own code, which may ask for another repository.
        let declared: [Index<Item>] = Self.declared(type)
        return owners.withLock { owners in
            if let owner = owners[key] {
                if let known = owner.indexes as? ObjectIndexes<Item> { return known }
                return ObjectIndexes(
                    dictionary, codec, declared,
                    refusal: RoostError(
                        .conflict,
                        "\"\(dictionary.name)\" has the indexes of \(owner.typeName) while the workspace is open, and cannot have those of \(String(reflecting: Item.self)): one of them needs a name of its own, as by repository(of:named:); where one is a newer version of the other, say so by migrating(from:to:version:) of the dictionary, before anything else of this opening uses that, and have a repository of the newest alone"
                    ))
            }
            let indexes = ObjectIndexes(dictionary, codec, declared)
            owners[key] = Owner(typeName: String(reflecting: Item.self), indexes: indexes)
            return indexes
        }
    }

    /// A dictionary's type has another version from now on.
    func noteMigration(of name: String) {
        owners.withLock { $0[Array(name.utf8)]?.indexes }?.noteMigration()
    }

    static func declared<Item, Type: Indexed>(_ type: Type.Type) -> [Index<Item>] {
        // `Type` is `Item`, as the caller found it by a cast.
        type.indexes as Any as? [Index<Item>] ?? []
    }
}
