import Roost

/// What the body of a transaction's attempt has changed so far, before it is committed.
///
/// - A key in `writes` was changed after the range that it is in was cleared, if one was.
/// - No two cleared ranges have a key in common: they are of whole dictionaries and of prefixes, so one of two that meet has
///   all of the other.
/// - While a call makes several changes that are to be one, `steps` has what there was before each of them, in order.
struct AttemptChanges {
    /// What becomes of a key.
    struct Write {
        /// With no value, the key is removed.
        var value: [UInt8]?
        /// When the engine may remove the value; the value itself has its deadline.
        var duration: Duration?
    }

    /// What there was before a change.
    private enum Step {
        case write([UInt8], Write?)
        case notCleared(SharedKeyRange)
        case cleared(SharedKeyRange)
        case notChangedByKeys([UInt8])
        case catalog([UInt8], AttemptCatalog)
    }

    private(set) var writes: [[UInt8]: Write] = [:]
    private(set) var cleared: Set<SharedKeyRange> = []
    /// The dictionaries that lose their indexes with the commit, by the keys of their catalogs.
    private(set) var changedByKeys: [[UInt8]: String] = [:]
    /// `nil` while there is no call that may fail after a part of its changes.
    private var steps: [Step]?

    var isEmpty: Bool { writes.isEmpty && cleared.isEmpty }

    /// Whether a range is cleared that has the key. What was written to it since is in `writes`.
    func isCleared(_ key: [UInt8]) -> Bool { cleared.contains { $0.contains(key) } }

    func writtenKeys(in range: SharedKeyRange) -> [[UInt8]] {
        writes.keys.filter { range.contains($0) }
    }

    // MARK: Changing

    /// Sets what becomes of a key, or with no `write` forgets it.
    mutating func set(_ write: Write?, forKey key: [UInt8]) {
        steps?.append(.write(key, writes[key]))
        writes[key] = write
    }

    /// Removes the records of a range, those that were written before included.
    mutating func clear(_ range: SharedKeyRange) {
        for key in writtenKeys(in: range) { set(nil, forKey: key) }
        guard !range.isEmpty, !cleared.contains(where: { $0.contains(range) }) else { return }
        for smaller in cleared where range.contains(smaller) {
            cleared.remove(smaller)
            steps?.append(.cleared(smaller))
        }
        cleared.insert(range)
        steps?.append(.notCleared(range))
    }

    mutating func noteChange(byKeysOf dictionary: String, catalog key: [UInt8]) {
        if changedByKeys.updateValue(dictionary, forKey: key) == nil {
            steps?.append(.notChangedByKeys(key))
        }
    }

    mutating func noteChange(ofCatalog key: [UInt8], before: AttemptCatalog) {
        steps?.append(.catalog(key, before))
    }

    // MARK: Several as one

    /// Whether this begins several changes that are to be one; `false` within a call that has begun already.
    mutating func beginAsOne() -> Bool {
        guard steps == nil else { return false }
        steps = []
        return true
    }

    mutating func endAsOne() { steps = nil }

    /// Takes back what was changed since `beginAsOne`; what the catalogs were before, in the order in which to set them.
    mutating func takeBack() -> [(key: [UInt8], catalog: AttemptCatalog)] {
        var catalogs: [(key: [UInt8], catalog: AttemptCatalog)] = []
        for step in (steps ?? []).reversed() {
            switch step {
            case .write(let key, let write): writes[key] = write
            case .notCleared(let range): cleared.remove(range)
            case .cleared(let range): cleared.insert(range)
            case .notChangedByKeys(let key): changedByKeys[key] = nil
            case .catalog(let key, let before): catalogs.append((key, before))
            }
        }
        return catalogs
    }

    // MARK: Committing

    /// What the engine does. Removed ranges go around the keys that are put.
    var operations: [SharedOperation] {
        let keys = writes.keys.sorted { $0.lexicographicallyPrecedes($1) }
        var operations: [SharedOperation] = []
        for key in keys {
            if let write = writes[key], let value = write.value {
                operations.append(.put(key: key, value: value, expiresIn: write.duration))
            } else if !isCleared(key) {
                operations.append(.remove(key: key))
            }
        }
        for range in cleared {
            var rest = range
            for key in keys where range.contains(key) && writes[key]?.value != nil {
                let before = SharedKeyRange(lower: rest.lower, upper: key)
                if !before.isEmpty { operations.append(.removeRange(before)) }
                rest.lower = key + [0]
            }
            if !rest.isEmpty { operations.append(.removeRange(rest)) }
        }
        return operations
    }
}
