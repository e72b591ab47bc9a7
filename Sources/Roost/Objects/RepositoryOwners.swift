import Synchronization

/// Which types' objects are written into the dictionaries that have a type's name by default. `Cart.Item` and `Order.Item`
/// have one name without what they are nested in: the objects of each would take the place of the other's.
/// docs/decisions/0281.
///
/// - The first type that is written owns the dictionary while the workspace is open. Reading claims nothing, so that a
///   program may read what an older type of that name has left, and write it as the newer one.
final class RepositoryOwners: Sendable {
    private struct Owner {
        let type: ObjectIdentifier
        let typeName: String
    }

    /// By the bytes of the dictionary's name, as strings take canonically equal ones for one.
    private let owners = Mutex<[[UInt8]: Owner]>([:])

    /// - Throws: `.conflict` where another type's objects are written there.
    func claim<Item>(_ dictionary: String, for type: Item.Type) throws {
        let key = Array(dictionary.utf8)
        let owner = owners.withLock { owners in
            if let owner = owners[key] { return owner }
            let owner = Owner(type: ObjectIdentifier(type), typeName: String(reflecting: type))
            owners[key] = owner
            return owner
        }
        guard owner.type == ObjectIdentifier(type) else {
            let name = String(reflecting: type)
            throw RoostError(
                .conflict,
                "\"\(dictionary)\" has objects of \(owner.typeName), whose places those of \(name) would take: give one of them a dictionary of its own, as by repository(of:named:)"
            )
        }
    }
}
