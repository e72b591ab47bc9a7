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
    /// Made only where it is asked for: a query that runs does not show itself.
    private let makeText: @Sendable () -> String
    var text: String { makeText() }

    init(
        _ path: FieldPath?, _ region: IndexRegion?, _ text: @escaping @Sendable () -> String,
        _ stored: StoredAccess<Root, Bool>?, isComparison: Bool = true,
        _ test: @escaping @Sendable (UnsafePointer<Root>) throws -> Bool
    ) {
        self.path = path
        self.region = region
        makeText = text
        self.stored = stored
        self.isComparison = isComparison
        self.test = test
    }
}

/// Which field of an object, and whether it or each of its elements.
struct FieldPath: Equatable, Sendable {
    /// Immutable, as all key paths are, and made from `Sendable` ones only: so it may be shared.
    nonisolated(unsafe) let keyPath: AnyKeyPath
    let isEach: Bool
    /// How a field behind an optional is written: it has no key path that could be compared.
    let chain: String?

    init(_ keyPath: AnyKeyPath, isEach: Bool = false, chain: String? = nil) {
        self.keyPath = keyPath
        self.isEach = isEach
        self.chain = chain
    }

    static func == (left: FieldPath, right: FieldPath) -> Bool {
        guard left.isEach == right.isEach else { return false }
        if left.chain == nil, right.chain == nil { return left.keyPath == right.keyPath }
        return left.identity == right.identity
    }

    /// The same for all paths to one field in this process.
    private var identity: String {
        let text = addressedName
        // As a key path through an optional is printed.
        return text.hasSuffix("?") ? String(text.dropLast()) : text
    }

    var addressedName: String { chain ?? Self.addressedName(of: keyPath) }
    /// As it is shown, and the same in every process.
    var name: String { Self.withoutAddresses(addressedName) }

    static func name(of keyPath: AnyKeyPath) -> String {
        withoutAddresses(addressedName(of: keyPath))
    }

    /// Of a property that is computed it has the address of its code, as the runtime prints that.
    static func addressedName(of keyPath: AnyKeyPath) -> String {
        // "\Post.author.name" without its root.
        let text = keyPath.debugDescription
        guard let dot = text.firstIndex(of: ".") else { return text }
        return String(text[text.index(after: dot)...])
    }

    /// What stands for a property that is computed.
    static let computedName = "<computed>"

    /// "<computed 0x0000563e6e55c1c0 (Int)>" becomes "<computed>".
    private static func withoutAddresses(_ text: String) -> String {
        var (named, rest) = ("", text[...])
        while let begin = rest.firstRange(of: "<computed 0x") {
            var depth = 0
            let end = rest[begin.upperBound...].firstIndex { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return character == ">" && depth == 0
            }
            guard let end else { break }
            named += rest[..<begin.lowerBound] + computedName
            rest = rest[rest.index(after: end)...]
        }
        return named + rest
    }
}
