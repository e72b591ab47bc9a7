/// Reads a condition as it is written in Swift: `priority > 100 && color == "red"`.
///
/// | | |
/// |---|---|
/// | comparisons | `==`, `!=`, `<`, `<=`, `>`, `>=`, of a member and a literal |
/// | two members | the same, the second written as `$0.granted`: `spent > $0.granted` |
/// | text | `title.contains("x")`, `.hasPrefix("x")`, `.hasSuffix("x")`; `tags.contains("x")` |
/// | one of several | `color.isIn([.red, .blue])` |
/// | a member that is a Bool | `isDone`, `!isDone` |
/// | joined | `&&`, `||`, `!`, or `and`, `or`, `not`; parentheses |
/// | literals | `12`, `-0.5`, `"text"`, `'text'`, `true`, `false`, `nil`, `.red` (the text of an enum's case) |
package struct ConditionParser {
    private let tokens: [ConditionToken]
    private var place = 0
    private var depth = 0
    private static let depthLimit = 100

    package static func parse(_ text: String) throws(ConditionError) -> ObjectCondition {
        var parser = ConditionParser(tokens: try ConditionToken.tokens(of: text))
        let condition = try parser.disjunction()
        guard case .end = parser.next.kind else {
            throw parser.error("expected && or || or the end")
        }
        return condition
    }

    private init(tokens: [ConditionToken]) { self.tokens = tokens }

    private var next: ConditionToken { tokens[place] }

    private func error(_ reason: String) -> ConditionError {
        ConditionError(
            column: next.column, reason: "\(reason), found \(next.kind.description)")
    }

    /// Whether the next token is this one, which is then passed by.
    private mutating func pass(_ symbol: String) -> Bool {
        guard case .symbol(symbol) = next.kind else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ symbol: String) throws(ConditionError) {
        guard pass(symbol) else { throw error("expected \(symbol)") }
    }

    private mutating func disjunction() throws(ConditionError) -> ObjectCondition {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw error("too many parentheses") }
        var parts = [try conjunction()]
        while pass("||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(ConditionError) -> ObjectCondition {
        var parts = [try negation()]
        while pass("&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func negation() throws(ConditionError) -> ObjectCondition {
        var isNegated = false
        while pass("!") { isNegated.toggle() }
        let condition: ObjectCondition
        if pass("(") {
            condition = try disjunction()
            try expect(")")
        } else {
            condition = try term()
        }
        return isNegated ? .not(condition) : condition
    }

    private mutating func term() throws(ConditionError) -> ObjectCondition {
        let column = next.column
        guard case .path(var names, _) = next.kind else { throw error("expected a member's name") }
        place += 1
        if pass("(") {
            let method = names.removeLast()
            guard !names.isEmpty else {
                throw ConditionError(column: column, reason: "\(method) of what?")
            }
            let condition = try call(method, .init(names: names), column)
            try expect(")")
            return condition
        }
        let path = ObjectCondition.MemberPath(names: names)
        guard case .symbol(let symbol) = next.kind,
            let comparison = ObjectCondition.Comparison(rawValue: symbol)
        else { return .comparison(path, .equal, .bool(true)) }
        place += 1
        // Without `$0` a name is more often a text whose quotes were forgotten.
        if case .path(let others, isOfObject: true) = next.kind {
            place += 1
            return .members(path, comparison, .init(names: others))
        }
        return .comparison(path, comparison, try literal())
    }

    private mutating func call(
        _ method: String, _ path: ObjectCondition.MemberPath, _ column: Int
    ) throws(ConditionError) -> ObjectCondition {
        if method == "isIn" {
            try expect("[")
            var literals: [JSONValue] = []
            if !pass("]") {
                repeat { literals.append(try literal()) } while pass(",")
                try expect("]")
            }
            return .isIn(path, literals)
        }
        guard let test = ObjectCondition.TextTest(rawValue: method) else {
            throw ConditionError(
                column: column,
                reason: "\(method) is none of contains, hasPrefix, hasSuffix and isIn")
        }
        guard case .literal(.string(let text)) = next.kind else { throw error("expected a text") }
        place += 1
        return .text(path, test, text)
    }

    private mutating func literal() throws(ConditionError) -> JSONValue {
        switch next.kind {
        case .literal(let value):
            place += 1
            return value
        case .path(let names, _):
            let name = names.joined(separator: ".")
            throw error(
                "expected a literal; a text stands in quotes: \"\(name)\"; another member has $0 before it: $0.\(name)"
            )
        default: throw error("expected a literal")
        }
    }
}

/// Why a text is no condition, and where.
package struct ConditionError: Error, Equatable {
    /// Counted in characters from 1.
    package var column: Int
    package var reason: String
}
