// What a condition says of one field: the forms that the field of a matching object may have.

extension ConditionNode {
    /// The forms that `field` may have; some more where that is not known exactly.
    func region(of field: FieldPath) -> IndexRegion {
        field.isEach ? elementRegion(of: field) : valueRegion(of: field)
    }

    private func valueRegion(of field: FieldPath) -> IndexRegion {
        switch self {
        case .always(let answer): return answer ? .everything : .nothing
        case .term(let term): return term.path == field ? term.region ?? .unknown : .everything
        case .not(let term):
            return term.path == field ? term.region?.complement ?? .unknown : .everything
        case .all(let nodes):
            return nodes.reduce(.everything) { $0.intersection($1.valueRegion(of: field)) }
        case .any(let nodes):
            return .union(of: nodes.map { $0.valueRegion(of: field) })
        }
    }

    /// Of an index over elements: that one element is something and another something else is not
    /// that one is both, and that none is something no entry says.
    private func elementRegion(of field: FieldPath) -> IndexRegion {
        switch self {
        case .always(let answer): return answer ? .everything : .nothing
        case .term(let term): return term.path == field ? term.region ?? .unknown : .everything
        case .not: return .everything
        case .all(let nodes):
            let regions = nodes.map { $0.elementRegion(of: field) }.filter { !$0.isEverything }
            // A range of texts may have more entries than some single ones.
            return regions.min { left, right in
                (left.rangeCount, left.intervals.count) < (right.rangeCount, right.intervals.count)
            } ?? .everything
        case .any(let nodes):
            return .union(of: nodes.map { $0.elementRegion(of: field) })
        }
    }

    /// The one field that all terms are about, where the forms say exactly whether they hold.
    var onlyField: FieldPath? {
        var path: FieldPath?
        var isOne = true
        forEachTerm { term in
            if term.region?.isExact != true || (path != nil && path != term.path) { isOne = false }
            path = term.path
        }
        return isOne ? path : nil
    }

    /// Whether it is one comparison, or that one of several holds.
    var isTermOrAny: Bool {
        switch self {
        case .term: true
        case .any(let nodes): nodes.allSatisfy { $0.isTermOrAny }
        case .not, .all, .always: false
        }
    }

    /// Whether every object that matches this matches `other`, as far as that can be seen.
    func implies(_ other: ConditionNode) -> Bool {
        other.conjuncts.allSatisfy { part in
            if case .always(true) = part { return true }
            guard let field = part.onlyField, !field.isEach else { return false }
            return region(of: field).isSubset(of: part.region(of: field))
        }
    }
}

extension IndexRegion {
    /// How many of the intervals are no form of a single value.
    fileprivate var rangeCount: Int { intervals.count { !$0.isPoint } }

    /// Anything may be in it.
    fileprivate static var unknown: IndexRegion {
        var region = IndexRegion.everything
        region.isExact = false
        return region
    }
}
