import Synchronization

/// What a condition says of the identifiers of the objects for which it can hold: these are found by their keys, with an
/// index or without. docs/decisions/0244, 0245.
struct IdentifierCondition<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    private let condition: ConditionNode<Item>
    /// The identifier, as the condition names it.
    private let path: FieldPath
    /// No more ranges than that are read one by one.
    private static var rangeLimit: Int { 1024 }

    /// `nil` where the condition does not ask for the identifier.
    init?(_ condition: ConditionNode<Item>) {
        var path: FieldPath?
        condition.forEachTerm { term in
            guard path == nil, let field = term.path, Self.isIdentifier(field) else { return }
            path = field
        }
        guard let path else { return nil }
        self.condition = condition
        self.path = path
    }

    /// The keys of the only objects that can match, in any order, some more than once; `nil` where the condition does not
    /// say it.
    func keys(_ key: (Item.ID) -> String) -> [[UInt8]]? {
        var fewest: [[UInt8]]?
        for part in condition.conjuncts {
            guard let keys = keys(of: part, key), keys.count < fewest?.count ?? .max else {
                continue
            }
            fewest = keys
        }
        return fewest
    }

    /// The ranges of keys that all objects that can match are in; `nil` where the condition leaves none out.
    var ranges: [IndexRegion.Interval]? {
        let region = condition.region(of: path)
        if region.isEverything { return nil }
        guard let order = IdentifierOrder(of: Item.ID.self) else {
            return Item.ID.self == String.self ? textRanges(region) : nil
        }
        let ranges = order.ranges(region)
        guard ranges.count > Self.rangeLimit, let first = ranges.first, let last = ranges.last
        else { return ranges }
        // What is between so many is passed over.
        return [.init(lower: first.lower, upper: last.upper)]
    }

    /// Whether the objects that match are those whose keys are in `ranges`, or all: none need be looked at.
    var isAll: Bool {
        guard IdentifierOrder(of: Item.ID.self) != nil,
            condition.region(of: path).intervals.count <= Self.rangeLimit
        else { return false }
        return condition.conjuncts.allSatisfy { part in
            if case .always(true) = part { return true }
            return part.onlyField == path
        }
    }

    private func keys(
        of node: ConditionNode<Item>, _ key: (Item.ID) -> String
    ) -> [[UInt8]]? {
        switch node {
        case .term(let term): return keys(of: term, key)
        case .any(let parts):
            var all: [[UInt8]] = []
            for part in parts {
                guard let keys = keys(of: part, key) else { return nil }
                all += keys
            }
            return all
        case .all, .not, .always: return nil
        }
    }

    private func keys(
        of term: ConditionTerm<Item>, _ key: (Item.ID) -> String
    ) -> [[UInt8]]? {
        guard let path = term.path, path == self.path, let values = term.values?() else {
            return nil
        }
        var keys: [[UInt8]] = []
        for value in values {
            guard let identifier = value as? Item.ID else { return nil }
            let key = key(identifier)
            guard isNoText(identifier) || key.utf8.allSatisfy({ isAloneInItsForm($0) }) else {
                return nil
            }
            keys.append(Array(key.utf8))
        }
        return keys
    }

    /// Whether equal identifiers have one key for certain. Swift takes texts for equal that are written with other code
    /// points, and so have other keys; none is to most of ASCII. What a type of somebody's own consists of is not known.
    private func isNoText(_ identifier: Item.ID) -> Bool {
        identifier is any OrderedIdentifier
            || (identifier as? any RawRepresentable)?.rawValue is any OrderedIdentifier
    }

    /// The keys that begin as all texts of a region do. Keys are in the order of their bytes, and Swift compares the composed
    /// forms; but what a form has of ASCII at its begin, its text has too. `nil` where that says nothing.
    private func textRanges(_ region: IndexRegion) -> [IndexRegion.Interval]? {
        var begins: [[UInt8]] = []
        for interval in region.intervals {
            let begin = Array(commonBegin(interval).prefix { $0 > 0 && isAloneInItsForm($0) })
            if begin.isEmpty { return nil }
            // They come in order: what begins as an earlier one does is in its range.
            while let last = begins.last, last.starts(with: begin) { begins.removeLast() }
            if let last = begins.last, begin.starts(with: last) { continue }
            begins.append(begin)
            if begins.count > Self.rangeLimit { return nil }
        }
        return begins.map { .init(lower: $0, upper: followerOfPrefix($0)) }
    }

    /// What all forms in an interval begin with.
    private func commonBegin(_ interval: IndexRegion.Interval) -> ArraySlice<UInt8> {
        let lower = interval.lower
        guard let upper = interval.upper else { return [] }
        var count = 0
        while count < Swift.min(lower.count, upper.count), lower[count] == upper[count] {
            count += 1
        }
        // All that is before the byte that `upper` ends with has the byte before it.
        if count + 1 == upper.count, count < lower.count, lower[count] == upper[count] - 1 {
            count += 1
        }
        return lower[..<count]
    }
}

extension IdentifierCondition {
    /// The order that a field gives, where it is the identifier and the objects stand in its order.
    static func order<Value>(of path: KeyPath<Item, Value> & Sendable) -> IdentifierOrder? {
        Value.self == Item.ID.self ? order(of: FieldPath(path)) : nil
    }

    static func order(of path: FieldPath) -> IdentifierOrder? {
        guard isIdentifier(path) else { return nil }
        return IdentifierOrder(of: Item.ID.self)
    }

    /// Whether a field is the one that objects are stored under: the property `id`, and not one that is computed, which
    /// has no name here.
    private static func isIdentifier(_ path: FieldPath) -> Bool {
        guard !path.isEach, path.chain == nil,
            Swift.type(of: path.keyPath).valueType == Item.ID.self
        else { return false }
        return IdentifierPaths.isIdentifier(path)
    }
}

/// Whether no other character is equal to one of ASCII. The sign for kelvin is equal to a K, Greek's question mark to a semicolon,
/// and its varia to a grave accent.
private func isAloneInItsForm(_ byte: UInt8) -> Bool {
    byte < 0x80 && byte != UInt8(ascii: "K") && byte != UInt8(ascii: ";")
        && byte != UInt8(ascii: "`")
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
