/// What a condition asks of an object, as a tree that the planner reads.
indirect enum ConditionNode<Root>: Sendable {
    case all([ConditionNode])
    case any([ConditionNode])
    case term(ConditionTerm<Root>)
    /// As `term`, turned around.
    case not(ConditionTerm<Root>)
    case always(Bool)

    /// Whether an object matches. It is looked at where it stands: a copy of it would cost a reference
    /// for each of its fields.
    ///
    /// - Throws: what a predicate throws; a comparison throws nothing.
    func matches(_ object: UnsafePointer<Root>) throws -> Bool {
        switch self {
        case .term(let term): try term.test(object)
        case .not(let term): try !term.test(object)
        case .all(let nodes): try nodes.allSatisfy { try $0.matches(object) }
        case .any(let nodes): try nodes.contains { try $0.matches(object) }
        case .always(let answer): answer
        }
    }

    var inverted: ConditionNode {
        switch self {
        case .term(let term): .not(term)
        case .not(let term): .term(term)
        case .all(let nodes): .any(nodes.map { $0.inverted })
        case .any(let nodes): .all(nodes.map { $0.inverted })
        case .always(let answer): .always(!answer)
        }
    }

    /// Joins nodes, those of one kind flat.
    static func all(_ left: ConditionNode, _ right: ConditionNode) -> ConditionNode {
        switch (left, right) {
        case (.always(true), let other), (let other, .always(true)): other
        default: .all(left.conjuncts + right.conjuncts)
        }
    }

    static func any(_ left: ConditionNode, _ right: ConditionNode) -> ConditionNode {
        switch (left, right) {
        case (.always(false), let other), (let other, .always(false)): other
        default: .any(left.disjuncts + right.disjuncts)
        }
    }

    var conjuncts: [ConditionNode] { if case .all(let nodes) = self { nodes } else { [self] } }
    var disjuncts: [ConditionNode] { if case .any(let nodes) = self { nodes } else { [self] } }

    func forEachTerm(_ body: (ConditionTerm<Root>) -> Void) {
        switch self {
        case .term(let term), .not(let term): body(term)
        case .all(let nodes), .any(let nodes): for node in nodes { node.forEachTerm(body) }
        case .always: break
        }
    }
}

extension ConditionNode: CustomStringConvertible {
    var description: String {
        switch self {
        case .term(let term): term.text
        case .not(let term): "not (\(term.text))"
        case .all(let nodes): nodes.map(\.nested).joined(separator: ", ")
        case .any(let nodes): nodes.map(\.nested).joined(separator: " or ")
        case .always(let answer): answer ? "every object" : "no object"
        }
    }

    private var nested: String {
        switch self {
        case .all, .any: "(\(description))"
        default: description
        }
    }
}

extension ConditionNode {
    /// A hash of the forms that the comparisons' values have, in their order; the same in every process. `nil` where
    /// there are none.
    var constantsHash: String? {
        var hash = NamingHash()
        var hasForms = false
        forEachTerm { term in
            guard let region = term.region else { return }
            hasForms = true
            hash.add(number: Int64(region.intervals.count))
            for interval in region.intervals {
                // Without its length, as in the shapes of all indexes that there are.
                hash.addEach(interval.lower)
                hash.add(interval.upper)
            }
        }
        return hasForms ? hash.text : nil
    }
}

/// One comparison of one field.
final class ConditionTerm<Root>: Sendable {
    /// The field; `nil` for a closure over the whole object.
    let path: FieldPath?
    /// The forms of the field that match, and maybe some that do not; `nil` where forms say nothing.
    let region: IndexRegion?
    let test: @Sendable (UnsafePointer<Root>) throws -> Bool
    /// The test where only the stored bytes are there; `nil` for a closure over the whole object.
    let stored: StoredAccess<Root, Bool>?
    /// Whether it says the same of equal values; a closure is run for each object.
    let isComparison: Bool
    /// The values one of which the field has; `nil` for what is no comparison with a few.
    let values: (@Sendable () -> [any Sendable])?
    /// Made only where it is asked for: a query that runs does not show itself.
    private let makeText: @Sendable () -> String
    var text: String { makeText() }

    init(
        _ path: FieldPath?, _ region: IndexRegion?, _ text: @escaping @Sendable () -> String,
        _ stored: StoredAccess<Root, Bool>?, isComparison: Bool = true,
        values: (@Sendable () -> [any Sendable])? = nil,
        _ test: @escaping @Sendable (UnsafePointer<Root>) throws -> Bool
    ) {
        self.path = path
        self.region = region
        makeText = text
        self.stored = stored
        self.isComparison = isComparison
        self.values = values
        self.test = test
    }
}
