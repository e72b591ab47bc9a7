import Roost

/// The entries of an index that have every object that a condition can hold for.
package struct ObjectIndexRange {
    package let index: StoredIndex
    package let shape: StoredIndexShape
    package private(set) var lower: [UInt8] = []
    package private(set) var upper: [UInt8]?
    /// The comparisons that it is made of.
    package private(set) var used: [ObjectCondition] = []

    /// `nil` where the index cannot be used, or leaves nothing out.
    package init?(_ index: StoredIndex, _ condition: ObjectCondition) {
        guard index.state == .built, let shape = index.shape, !shape.isPartial,
            shape.isOfStoredFields,
            let field = shape.fields.first, !field.isEach
        else { return nil }
        self.index = index
        self.shape = shape
        let path = ObjectCondition.MemberPath(field.path)
        for part in condition.conjuncts {
            guard case .comparison(path, let comparison, let literal) = part,
                let value = IndexedValue(literal), let bounds = field.bounds(of: value)
            else { continue }
            restrict(comparison, bounds, isDescending: field.isDescending, part)
        }
        if used.isEmpty { return nil }
    }

    /// What is equal stays in the range in any case: the condition is asked of each object once more.
    private mutating func restrict(
        _ comparison: ObjectCondition.Comparison, _ bounds: (first: [UInt8], last: [UInt8]),
        isDescending: Bool, _ part: ObjectCondition
    ) {
        let isBoundedBelow: Bool
        let isBoundedAbove: Bool
        switch comparison {
        case .equal: (isBoundedBelow, isBoundedAbove) = (true, true)
        case .above, .atLeast: (isBoundedBelow, isBoundedAbove) = (!isDescending, isDescending)
        case .below, .atMost: (isBoundedBelow, isBoundedAbove) = (isDescending, !isDescending)
        case .unequal: return
        }
        used.append(part)
        if isBoundedBelow, lower.lexicographicallyPrecedes(bounds.first) { lower = bounds.first }
        if isBoundedAbove, let end = Self.end(ofPrefix: bounds.last),
            upper.map({ end.lexicographicallyPrecedes($0) }) ?? true
        {
            upper = end
        }
    }

    private static func end(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var bytes = prefix
        while let last = bytes.popLast() {
            if last < .max { return bytes + [last + 1] }
        }
        return nil
    }

    /// The keys of the objects, in the order of the entries; `nil` where they are more than `limit`.
    package func objectKeys(in repository: StoredRepository, upTo limit: Int) throws -> [String]? {
        if let upper, !lower.lexicographicallyPrecedes(upper) { return [] }
        var keys: [String] = []
        var isSound = true
        try repository.forEachEntry(of: index, from: lower, below: upper) { entry in
            guard let entry else {
                isSound = false
                return false
            }
            keys.append(entry.objectKey)
            return keys.count <= limit
        }
        return isSound && keys.count <= limit ? keys : nil
    }

    /// Whether some of the entries, from both ends, are of what the objects have stored under the names of
    /// the fields: a type may store a property under any name, and then the index is of something else.
    package func agrees(with repository: StoredRepository) throws -> Bool {
        for order in [ScanOrder.ascending, .descending] {
            var left = 8
            var agrees = true
            try repository.forEachEntry(of: index, order) { entry in
                guard let entry, let stored = try repository.object(entry.objectKey),
                    let object = StoredObject(entry.objectKey, stored)
                else {
                    agrees = false
                    return false
                }
                agrees = object.hasForm(entry.form, in: shape) ?? false
                left -= 1
                return agrees && left > 0
            }
            guard agrees else { return false }
        }
        return true
    }
}
