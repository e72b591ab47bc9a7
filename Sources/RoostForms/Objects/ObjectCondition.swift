import Foundation

/// What `--where` asks of an object: comparisons of its members, joined by `&&`, `||` and `!`.
///
/// They mean what a query's mean in the program: `null` equals only itself, and an order comparison of it
/// never holds. But what is stored does not say everything that the type knows:
///
/// - A `Float` is the Double that it is stored as: one of 0.1 is 0.10000000149011612, and does not equal the literal `0.1`.
/// - A whole Double that was stored in JSON looks like an integer, and is compared with a literal to the last digit.
package indirect enum ObjectCondition: Equatable {
    case all([ObjectCondition])
    case any([ObjectCondition])
    case not(ObjectCondition)
    case comparison(MemberPath, Comparison, JSONValue)
    /// Of two members of one object.
    case members(MemberPath, Comparison, MemberPath)
    case isIn(MemberPath, [JSONValue])
    case text(MemberPath, TextTest, String)

    package enum Comparison: String, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
    }

    package enum TextTest: String, CaseIterable {
        case contains, hasPrefix, hasSuffix
    }

    /// Names of members, each of the one before.
    package struct MemberPath: Hashable, CustomStringConvertible {
        package var names: [String]
        package var description: String { names.joined(separator: ".") }

        package init(names: [String]) { self.names = names }

        /// `nil` where a name is missing on the way; what is behind `null` is `null`.
        package func value(in object: JSONValue) -> JSONValue? {
            var value = object
            for name in names {
                if case .null = value { return .null }
                guard case .object(let members) = value,
                    let member = members.first(where: { $0.name == name })
                else { return nil }
                value = member.value
            }
            return value
        }
    }

    package func matches(_ object: JSONValue) -> Bool {
        switch self {
        case .all(let conditions): conditions.allSatisfy { $0.matches(object) }
        case .any(let conditions): conditions.contains { $0.matches(object) }
        case .not(let condition): !condition.matches(object)
        case .comparison(let path, let comparison, let literal):
            comparison.holds(path.value(in: object) ?? .null, literal)
        case .members(let path, let comparison, let other):
            comparison.holds(
                path.value(in: object) ?? .null, other.value(in: object) ?? .null, isLiteral: false)
        case .isIn(let path, let literals):
            literals.contains { Comparison.equal.holds(path.value(in: object) ?? .null, $0) }
        case .text(let path, let test, let literal):
            test.holds(path.value(in: object) ?? .null, literal)
        }
    }

    package var paths: Set<MemberPath> {
        switch self {
        case .all(let conditions), .any(let conditions):
            conditions.reduce(into: []) { $0.formUnion($1.paths) }
        case .not(let condition): condition.paths
        case .comparison(let path, _, _), .isIn(let path, _), .text(let path, _, _): [path]
        case .members(let path, _, let other): [path, other]
        }
    }

    /// Those that all must hold.
    package var conjuncts: [ObjectCondition] {
        if case .all(let all) = self { all } else { [self] }
    }
}

extension ObjectCondition.Comparison {
    package func holds(
        _ value: JSONValue, _ literal: JSONValue, isLiteral: Bool = true
    ) -> Bool {
        if let (one, other) = doubles(value, literal, isLiteral) { return holds(one, other) }
        // What is stored says what is compared.
        let asDecimals = value.isDecimal || (!isLiteral && literal.isDecimal)
        func isBefore(_ one: JSONValue, _ other: JSONValue) -> Bool? {
            one.isBefore(other, asDecimals: asDecimals)
        }
        var isEqualAndOrdered: Bool {
            isBefore(value, literal) != nil && areEqual
        }
        var areEqual: Bool { Self.areEqual(value, literal, asDecimals: asDecimals) }
        return switch self {
        case .equal: areEqual
        case .unequal: !areEqual
        case .below: isBefore(value, literal) ?? false
        case .above: isBefore(literal, value) ?? false
        case .atMost: isBefore(value, literal) == true || isEqualAndOrdered
        case .atLeast: isBefore(literal, value) == true || isEqualAndOrdered
        }
    }

    /// As what they are compared where that is Doubles: a literal beside one is rounded, as in Swift, and what JSON has no
    /// number for is shown as text.
    private func doubles(
        _ value: JSONValue, _ literal: JSONValue, _ isLiteral: Bool
    ) -> (Double, Double)? {
        switch (value, literal) {
        case (.number(let one), .number(let other)) where isLiteral && value.isDouble:
            guard let one = Double(one), let other = Double(other) else { return nil }
            return (one, other)
        default: return JSONValue.nonFinite(value, literal)
        }
    }

    private func holds(_ one: Double, _ other: Double) -> Bool {
        switch self {
        case .equal: one == other
        case .unequal: one != other
        case .below: one < other
        case .above: one > other
        case .atMost: one <= other
        case .atLeast: one >= other
        }
    }

    private static func areEqual(
        _ value: JSONValue, _ literal: JSONValue, asDecimals: Bool
    ) -> Bool {
        switch (value, literal) {
        case (.number(let one), .number(let other)):
            if asDecimals { return DecimalForm(one) == DecimalForm(other) }
            return JSONNumber(one).flatMap { one in JSONNumber(other).map { one == $0 } } ?? false
        case (.object(let members), .string(let name)):
            // An enum whose cases are told apart by names: {"red": {}}.
            return members.count == 1 && members[0].name == name && members[0].value == .object([])
        default: return value == literal
        }
    }
}

extension ObjectCondition.TextTest {
    package func holds(_ value: JSONValue, _ literal: String) -> Bool {
        switch (self, value) {
        case (.contains, .string(let text)): text.contains(literal)
        case (.contains, .array(let elements)): elements.contains(.string(literal))
        case (.hasPrefix, .string(let text)): text.hasPrefix(literal)
        case (.hasSuffix, .string(let text)): text.hasSuffix(literal)
        default: false
        }
    }
}

/// A number as it was written, to be compared: exact where it is whole.
package enum JSONNumber: Equatable {
    case whole(Int128)
    case fraction(Double)

    package init?(_ text: String) {
        if let whole = Int128(text) {
            self = .whole(whole)
        } else if let value = Double(text) {
            self = Int128(exactly: value).map { .whole($0) } ?? .fraction(value)
        } else {
            return nil
        }
    }

    package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        switch (left, right) {
        case (.whole(let left), .whole(let right)): left < right
        case (.fraction(let left), .fraction(let right)): left < right
        case (.whole(let left), .fraction(let right)): Double(left) < right
        case (.fraction(let left), .whole(let right)): left < Double(right)
        }
    }
}

extension JSONValue {
    /// Whether it is a number with more digits than a Double has. A Double is shown with as many as tell it from others:
    /// this is a decimal.
    fileprivate var isDecimal: Bool {
        // Fifteen digits and a point: no Double loses any of them.
        guard case .number(let text) = self, text.utf8.count > 16, Int128(text) == nil,
            let form = DecimalForm(text), let value = Double(text)
        else { return false }
        return form != DecimalForm(value.description)
    }

    /// Whether it is a number that is stored as a Double, as which it has a point or an exponent.
    fileprivate var isDouble: Bool {
        guard case .number(let text) = self else { return false }
        return text.utf8.contains { [0x2e, 0x45, 0x65].contains($0) } && !isDecimal
    }

    /// Two Doubles of which one is shown as text, as JSON has no number for it.
    fileprivate static func nonFinite(_ one: JSONValue, _ other: JSONValue) -> (Double, Double)? {
        func nonFinite(_ text: String) -> Double? {
            ["inf", "+inf", "-inf", "nan"].contains(text) ? Double(text) : nil
        }
        switch (one, other) {
        case (.string(let one), .number(let other)):
            return nonFinite(one).flatMap { one in Double(other).map { (one, $0) } }
        case (.number(let one), .string(let other)):
            return Double(one).flatMap { one in nonFinite(other).map { (one, $0) } }
        // As texts they have the same order, but for what JSON values have for infinity.
        case (.string(let one), .string(let other)) where one == "+inf" || other == "+inf":
            return nonFinite(one).flatMap { one in nonFinite(other).map { (one, $0) } }
        default: return nil
        }
    }

    /// Whether this is less than `other`; `nil` where `<` says nothing of the two. Numbers are compared to the last
    /// digit, or as whole numbers and Doubles.
    fileprivate func isBefore(_ other: JSONValue, asDecimals: Bool) -> Bool? {
        switch (self, other) {
        case (.number(let one), .number(let other)) where asDecimals:
            DecimalForm(one).flatMap { one in DecimalForm(other).map { one < $0 } }
        case (.number(let one), .number(let other)):
            JSONNumber(one).flatMap { one in JSONNumber(other).map { one < $0 } }
        case (.string(let one), .string(let other)): one < other
        case (.bool(let one), .bool(let other)): !one && other
        default: nil
        }
    }

    /// The order of `--order`, in which any two values have their places: `null` is first, and of numbers NaN last.
    package func isSorted(before other: JSONValue) -> Bool {
        if let (one, another) = Self.nonFinite(self, other) {
            return another.isNaN ? !one.isNaN : one < another
        }
        return isBefore(other, asDecimals: isDecimal || other.isDecimal) ?? (rank < other.rank)
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .number: 2
        case .string: 3
        case .array: 4
        case .object: 5
        }
    }
}
