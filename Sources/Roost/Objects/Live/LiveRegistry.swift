import Synchronization

/// The live objects of a workspace's repositories that anybody looks at, one for each dictionary and type.
final class LiveRegistry: Sendable {
    private struct Key: Hashable {
        let dictionary: [UInt8]
        let type: ObjectIdentifier
    }

    /// They hold the workspace, which holds this.
    private struct Known {
        weak var objects: (any Sendable & AnyObject)?
    }

    private let all = Mutex<[Key: Known]>([:])
    private let queries = Atomic<Int>(0)

    /// Results that are live now, of all repositories.
    var queryCount: Int { queries.load(ordering: .relaxed) }

    func noteOpened() { queries.add(1, ordering: .relaxed) }
    func noteClosed() { queries.subtract(1, ordering: .relaxed) }

    func objects<Item>(of repository: Repository<Item>) -> LiveObjects<Item> {
        let key = Key(
            dictionary: Array(repository.dictionary.name.utf8), type: ObjectIdentifier(Item.self))
        return all.withLock { all in
            if let known = all[key]?.objects as? LiveObjects<Item> { return known }
            let objects = LiveObjects(repository)
            all[key] = Known(objects: objects)
            return objects
        }
    }
}
