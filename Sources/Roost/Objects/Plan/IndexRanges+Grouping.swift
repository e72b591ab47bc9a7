// The entries that have the values of just the matching objects, which are told apart without the objects.

extension IndexRanges {
    /// The entries of an index that begins with fields, in any order, where they are just those of the matching objects;
    /// and how many of its fields these are, together with the ones before that the condition says one value of.
    static func grouping(
        by paths: [FieldPath], among usable: [IndexSet<Item>.Active],
        _ condition: ConditionNode<Item>
    ) -> (ranges: IndexRanges<Item>, fieldCount: Int)? {
        for active in usable {
            guard let fieldCount = fieldCount(of: active.index, with: paths, condition),
                let ranges = IndexRanges(active, condition),
                ranges.isCovering, !ranges.mayRepeat
            else { continue }
            return (ranges, fieldCount)
        }
        return nil
    }

    /// Up to which of its fields an index has all of `paths`; `nil` where others are between that have several values.
    private static func fieldCount(
        of index: Index<Item>, with paths: [FieldPath], _ condition: ConditionNode<Item>
    ) -> Int? {
        var missing = paths
        for (place, field) in index.fields.enumerated() {
            if missing.contains(field.path) {
                missing.removeAll { $0 == field.path }
            } else {
                let region = condition.region(of: field.path)
                guard region.intervals.count == 1, region.intervals[0].isPoint else { return nil }
            }
            if missing.isEmpty { return place + 1 }
        }
        return nil
    }

    /// The entries of an index over the elements of a field, where they are those of just the matching objects, with all
    /// elements of each.
    static func grouping(
        byEach path: FieldPath, among usable: [IndexSet<Item>.Active],
        _ condition: ConditionNode<Item>
    ) -> IndexRanges<Item>? {
        usable.lazy.filter { $0.index.fields[0].path == path }
            .compactMap { IndexRanges(elementsOf: $0, condition) }.first
    }

    /// Those of the entries whose first fields have a form.
    func with(form: [UInt8]) -> IndexRanges {
        let end = followerOfPrefix(form)
        var rest = self
        rest.ranges = ranges.compactMap { range in
            var range = range
            if range.lower.lexicographicallyPrecedes(form) { range.lower = form }
            if let end, range.upper.map({ end.lexicographicallyPrecedes($0) }) ?? true {
                range.upper = end
            }
            return range.isEmpty ? nil : range
        }
        return rest
    }
}

/// Of an object's elements those that an index keeps by a form.
package func elements<Element>(of elements: [Element], withForm form: [UInt8]) -> [Element] {
    elements.filter { element in
        // An index is over them, so that they have a form.
        (element as? any IndexRepresentable).map { IndexForm($0).bytes } == form
    }
}
