import Synchronization

/// Conditions on the identifier, which say which objects can match: these are found by their keys, with an index or
/// without. docs/decisions/0244.
extension QueryPlanner {
    /// The keys of the only objects that can match, in order, each once; `nil` where the condition does not say it.
    var identifierKeys: [[UInt8]]? {
        var fewest: [[UInt8]]?
        for part in query.condition.conjuncts {
            guard let keys = keys(of: part), keys.count < fewest?.count ?? .max else { continue }
            fewest = keys
        }
        guard let keys = fewest else { return nil }
        return inOrder(keys, mayRepeat: true)
    }

    private func keys(of node: ConditionNode<Item>) -> [[UInt8]]? {
        switch node {
        case .term(let term): return keys(of: term)
        case .any(let parts):
            var all: [[UInt8]] = []
            for part in parts {
                guard let keys = keys(of: part) else { return nil }
                all += keys
            }
            return all
        case .all, .not, .always: return nil
        }
    }

    private func keys(of term: ConditionTerm<Item>) -> [[UInt8]]? {
        guard let path = term.path, let values = term.values?(), isIdentifier(path) else {
            return nil
        }
        var keys: [[UInt8]] = []
        for value in values {
            guard let identifier = value as? Item.ID, isAlone(identifier) else { return nil }
            keys.append(Array(query.repository.key(of: identifier).utf8))
        }
        return keys
    }

    /// Whether a field is the one that objects are stored under: the property `id`, and not one that is computed, which
    /// has no name here.
    private func isIdentifier(_ path: FieldPath) -> Bool {
        guard !path.isEach, path.chain == nil,
            Swift.type(of: path.keyPath).valueType == Item.ID.self
        else { return false }
        return IdentifierPaths.isIdentifier(path)
    }

    /// Whether no other identifier is equal to it. Swift takes texts for equal that are written with other code points,
    /// and so have other keys; none is to most of ASCII.
    private func isAlone(_ identifier: Item.ID) -> Bool {
        let raw: Any = (identifier as? any RawRepresentable)?.rawValue ?? identifier
        guard let text = raw as? String else { return true }
        // The sign for kelvin is equal to a K, Greek's question mark to a semicolon, and its varia to a grave accent.
        return text.utf8.allSatisfy {
            $0 < 0x80 && $0 != UInt8(ascii: "K") && $0 != UInt8(ascii: ";")
                && $0 != UInt8(ascii: "`")
        }
    }
}

/// Which key paths lead to a property `id`: to have one say its name takes microseconds.
private enum IdentifierPaths {
    private static let known = Mutex<[AnyKeyPath: Bool]>([:])
    private static let knownLimit = 4096

    static func isIdentifier(_ path: FieldPath) -> Bool {
        if let answer = known.withLock({ $0[path.keyPath] }) { return answer }
        let answer = path.name == "id"
        known.withLock { known in
            // Paths with arguments have no end.
            if known.count < knownLimit { known[path.keyPath] = answer }
        }
        return answer
    }
}
