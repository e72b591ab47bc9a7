import RoostEngine
import RoostIO

// The keys that begin alike, as a whole.

extension WorkspaceDictionary {
    /// How many keys begin with the bytes of `prefix` at this moment. Does not suspend. Decodes nothing; costs as
    /// ``count`` does, and where the dictionary was not compacted since much of it was written a look at each of the keys.
    ///
    /// - Throws: as `contains(_:)`.
    public func count(prefix: String) throws -> Int {
        try workspace.read { try $0.count(of: self, prefix: prefix) }
    }

    /// Removes the keys that begin with the bytes of `prefix`, as one batch: no reader sees part of it, and every other write
    /// falls wholly before or after it. Unlike ``removeAll(durability:)`` it reads the keys, and writes a removal of each. As
    /// durable as any write.
    ///
    /// - Returns: how many they were.
    /// - Throws: as `removeValue(forKey:durability:)` and `transaction`; `.valueTooLarge` where the keys have more than
    ///   1 GiB.
    @discardableResult
    public nonisolated(nonsending) func removeAll(
        prefix: String, durability: Durability? = nil
    ) async throws -> Int {
        try await workspace.transaction(durability: durability) { transaction in
            try transaction.removeAll(prefix: prefix, in: self)
        }
    }
}

extension ReadView {
    /// How many keys of `dictionary` began with the bytes of `prefix`; costs as `count(prefix:)` of a `WorkspaceDictionary`.
    ///
    /// - Throws: as `contains(_:in:)`.
    public func count(of dictionary: WorkspaceDictionary, prefix: String) throws -> Int {
        check(dictionary)
        let range = try dictionary.range(prefix: prefix)
        let counted: Int?
        if let notes {
            counted = try notes.count(in: range, in: engineView)
        } else {
            counted = try engineView.count(in: range)
        }
        return try counted ?? keys(of: dictionary, prefix: prefix).count
    }
}

extension Transaction {
    /// How many keys of `dictionary` begin with the bytes of `prefix`. Any later change of which keys do is a conflict.
    ///
    /// - Throws: as `contains(_:in:)`.
    public mutating func count(of dictionary: WorkspaceDictionary, prefix: String) throws -> Int {
        _ = try checkedName(dictionary)
        let counted = try attempt.count(in: try dictionary.range(prefix: prefix))
        if let counted { return counted }
        return try keys(of: dictionary, prefix: prefix).count
    }

    /// Removes the keys of `dictionary` that begin with the bytes of `prefix`, those that the body has set included; how many
    /// they were. A key that comes or goes among them is a conflict.
    ///
    /// - Throws: as `keys(of:prefix:limit:order:)` and `removeValue(forKey:in:)`; then none of them is removed.
    @discardableResult
    public mutating func removeAll(prefix: String, in dictionary: WorkspaceDictionary) throws -> Int
    {
        let keys = try keys(of: dictionary, prefix: prefix)
        try changeTogether { transaction in
            for key in keys { try transaction.removeValue(forKey: key, in: dictionary) }
        }
        return keys.count
    }
}
