import Foundation

// Comparisons are Swift's, of the field's own type. An order comparison of an optional field holds
// only where there is a value, as one of NaN never holds.

extension Field where Value: Equatable & Sendable {
    /// The field equals `value`, as Swift compares them.
    public static func == (field: Field, value: Value) -> Condition<Root> {
        field.term(.equal(to: value), "= \(shown(value))", values: { [value] }) { $0 == value }
    }

    /// The field does not equal `value`, as Swift compares them.
    public static func != (field: Field, value: Value) -> Condition<Root> {
        !(field == value)
    }

    /// Whether the field is one of `values`.
    public func isIn(_ values: [Value]) -> Condition<Root> { isIn(values, hasOrder: true) }

    private func isIn(_ values: [Value], hasOrder: Bool) -> Condition<Root> {
        term(
            .oneOf(values), "in \(shownList(values, hasOrder: hasOrder))", values: { values }
        ) {
            values.contains($0)
        }
    }

    /// Whether the field is one of `values`, as the other of an array: of a slice, a dictionary's keys, a small range.
    @_disfavoredOverload
    public func isIn(_ values: some Sequence<Value>) -> Condition<Root> {
        isIn(Array(values), hasOrder: !(values is any Unordered))
    }
}

extension Field where Value: Hashable & Sendable {
    /// Whether the field is one of `values`. Asking an object costs the same however many they are, where an array is
    /// looked through.
    public func isIn(_ values: Set<Value>) -> Condition<Root> {
        let all = Array(values)
        return term(
            .oneOf(all), "in [\(all.map { shown($0) }.sorted().joined(separator: ", "))]",
            values: { all }
        ) {
            values.contains($0)
        }
    }
}

extension Field where Value: Comparable & Sendable {
    /// The field is less than `value`, as Swift compares them.
    public static func < (field: Field, value: Value) -> Condition<Root> {
        field.term(.below(value, isInclusive: false), "< \(shown(value))") {
            $0 < value
        }
    }

    /// The field is at most `value`, as Swift compares them.
    public static func <= (field: Field, value: Value) -> Condition<Root> {
        field.term(.below(value, isInclusive: true), "<= \(shown(value))") {
            isAtMost($0, value)
        }
    }

    /// The field is greater than `value`, as Swift compares them.
    public static func > (field: Field, value: Value) -> Condition<Root> {
        field.term(.above(value, isInclusive: false), "> \(shown(value))") {
            $0 > value
        }
    }

    /// The field is at least `value`, as Swift compares them.
    public static func >= (field: Field, value: Value) -> Condition<Root> {
        field.term(.above(value, isInclusive: true), ">= \(shown(value))") {
            isAtMost(value, $0)
        }
    }
}

extension Field {
    /// The field has a value, and it is less than `value`.
    public static func < <Wrapped: Comparable & Sendable>(
        field: Field, value: Wrapped
    ) -> Condition<Root> where Value == Wrapped? {
        field.present(.below(value, isInclusive: false), "< \(shown(value))") { $0 < value }
    }

    /// The field has a value, and it is at most `value`.
    public static func <= <Wrapped: Comparable & Sendable>(
        field: Field, value: Wrapped
    ) -> Condition<Root> where Value == Wrapped? {
        field.present(.below(value, isInclusive: true), "<= \(shown(value))") {
            isAtMost($0, value)
        }
    }

    /// The field has a value, and it is greater than `value`.
    public static func > <Wrapped: Comparable & Sendable>(
        field: Field, value: Wrapped
    ) -> Condition<Root> where Value == Wrapped? {
        field.present(.above(value, isInclusive: false), "> \(shown(value))") { $0 > value }
    }

    /// The field has a value, and it is at least `value`.
    public static func >= <Wrapped: Comparable & Sendable>(
        field: Field, value: Wrapped
    ) -> Condition<Root> where Value == Wrapped? {
        field.present(.above(value, isInclusive: true), ">= \(shown(value))") {
            isAtMost(value, $0)
        }
    }

    func present<Wrapped>(
        _ region: IndexRegion?, _ text: @escaping @autoclosure @Sendable () -> String,
        _ test: @escaping @Sendable (Wrapped) -> Bool
    ) -> Condition<Root> where Value == Wrapped? {
        term(region?.ofPresent, text()) { $0.map(test) ?? false }
    }
}

/// Whether `left` is at most `right`. Of a date that is NaN Foundation's `<=` says so whatever the other is, as it is what
/// `>` is not; here NaN compares to nothing, as that of a `Double` does.
@inline(__always)
func isAtMost<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    left <= right && (Value.self != Date.self || left < right || left == right)
}

// MARK: Ranges

extension ClosedRange where Bound: Sendable {
    /// The field is in the range.
    public func contains<Root>(_ field: Field<Root, Bound>) -> Condition<Root> {
        field >= lowerBound && field <= upperBound
    }
    /// The field has a value, and it is in the range.
    public func contains<Root>(_ field: Field<Root, Bound?>) -> Condition<Root> {
        field >= lowerBound && field <= upperBound
    }
}

extension Range where Bound: Sendable {
    /// The field is in the range.
    public func contains<Root>(_ field: Field<Root, Bound>) -> Condition<Root> {
        field >= lowerBound && field < upperBound
    }
    /// The field has a value, and it is in the range.
    public func contains<Root>(_ field: Field<Root, Bound?>) -> Condition<Root> {
        field >= lowerBound && field < upperBound
    }
}

extension PartialRangeFrom where Bound: Sendable {
    /// The field is in the range.
    public func contains<Root>(_ field: Field<Root, Bound>) -> Condition<Root> {
        field >= lowerBound
    }
    /// The field has a value, and it is in the range.
    public func contains<Root>(_ field: Field<Root, Bound?>) -> Condition<Root> {
        field >= lowerBound
    }
}

extension PartialRangeUpTo where Bound: Sendable {
    /// The field is in the range.
    public func contains<Root>(_ field: Field<Root, Bound>) -> Condition<Root> {
        field < upperBound
    }
    /// The field has a value, and it is in the range.
    public func contains<Root>(_ field: Field<Root, Bound?>) -> Condition<Root> {
        field < upperBound
    }
}

extension PartialRangeThrough where Bound: Sendable {
    /// The field is in the range.
    public func contains<Root>(_ field: Field<Root, Bound>) -> Condition<Root> {
        field <= upperBound
    }
    /// The field has a value, and it is in the range.
    public func contains<Root>(_ field: Field<Root, Bound?>) -> Condition<Root> {
        field <= upperBound
    }
}

// MARK: Collections

extension Array where Element: Equatable & Sendable {
    /// The field is one of the elements; as `isIn` of the field.
    public func contains<Root>(_ field: Field<Root, Element>) -> Condition<Root> {
        field.isIn(self)
    }
    /// The field has a value, and it is one of the elements.
    public func contains<Root>(_ field: Field<Root, Element?>) -> Condition<Root> {
        field.isIn(map(Optional.some))
    }
}

extension Set where Element: Sendable {
    /// The field is one of the elements; as `isIn` of the field.
    public func contains<Root>(_ field: Field<Root, Element>) -> Condition<Root> {
        field.isIn(self)
    }
    /// The field has a value, and it is one of the elements.
    public func contains<Root>(_ field: Field<Root, Element?>) -> Condition<Root> {
        field.isIn(Set<Element?>(map(Optional.some)))
    }
}

extension Field where Value: Collection & SendableMetatype, Value.Element: Equatable & Sendable {
    /// Whether `element` is among the field's elements.
    public func contains(_ element: Value.Element) -> Condition<Root> {
        let each = FieldPath(path.keyPath, isEach: true, chain: path.chain)
        return Self.contains(element, access, stored, each) {
            "\(each.name) contains \(shown(element))"
        }
    }

    /// Whether `body` says so of one of the elements, or more; as `satisfies`.
    public func contains(
        where body: @escaping @Sendable (Value.Element) -> Bool
    ) -> Condition<Root> {
        satisfies { $0.contains(where: body) }
    }

    /// Whether `body` says so of all elements; as `satisfies`.
    public func allSatisfy(
        _ body: @escaping @Sendable (Value.Element) -> Bool
    ) -> Condition<Root> {
        satisfies { $0.allSatisfy(body) }
    }

    private static func contains(
        _ element: Value.Element, _ access: FieldAccess<Root, Value>,
        _ stored: StoredAccess<Root, Value>, _ each: FieldPath,
        _ text: @escaping @Sendable () -> String
    ) -> Condition<Root> {
        let stored = stored.map { $0.contains(element) }
        return Condition(
            .term(
                ConditionTerm(each, .equal(to: element), text, stored) {
                    access.value(of: $0).contains(element)
                }))
    }
}

extension Field {
    /// Whether the field has elements and `element` is among them.
    public func contains<Elements: Collection & SendableMetatype>(
        _ element: Elements.Element
    ) -> Condition<Root> where Value == Elements?, Elements.Element: Equatable & Sendable {
        let each = FieldPath(path.keyPath, isEach: true, chain: path.chain)
        let access = access
        return Condition(
            .term(
                ConditionTerm(
                    each, .equal(to: element), { "\(each.name) contains \(shown(element))" },
                    stored.map { $0?.contains(element) ?? false }
                ) {
                    access.value(of: $0)?.contains(element) ?? false
                }))
    }
}

/// A value as `explain` shows it.
func shown<Value>(_ value: Value) -> String {
    if let text = value as? String { return "\"\(text)\"" }
    if let values = value as? any Unordered { return values.shownInOrder }
    // Of a date that is NaN Foundation's own description ends the program, and it has none of one that is too far away.
    if let date = value as? Date, !(abs(date.timeIntervalSince1970) < 1e11) {
        return "\(date.timeIntervalSince1970) s since 1970"
    }
    if case .some(let wrapped) = value as Any?, let optional = wrapped as? any AnyOptional {
        return optional.shownWrapped
    }
    return "\(value)"
}

private protocol AnyOptional {
    var shownWrapped: String { get }
}

extension Optional: AnyOptional {
    var shownWrapped: String { map { shown($0) } ?? "nil" }
}

// MARK: What an index knows of a comparison
//
// By the type at run time: overloads for types that can be indexed and such that cannot would make
// every operator of a condition slower to type-check.

extension IndexRegion {
    static func equal<Value>(to value: Value) -> IndexRegion? {
        guard let type = Value.self as? any IndexRepresentable.Type else { return nil }
        func region<Form: IndexRepresentable>(_: Form.Type) -> IndexRegion? {
            (value as? Form).map { IndexRegion(equalTo: $0) }
        }
        return region(type)
    }

    static func oneOf<Value>(_ values: [Value]) -> IndexRegion? {
        guard let type = Value.self as? any IndexRepresentable.Type else { return nil }
        func region<Form: IndexRepresentable>(_: Form.Type) -> IndexRegion? {
            (values as? [Form]).map { IndexRegion(oneOf: $0) }
        }
        return region(type)
    }

    static func below<Value>(_ value: Value, isInclusive: Bool) -> IndexRegion? {
        guard let type = Value.self as? any IndexRepresentable.Type else { return nil }
        func region<Form: IndexRepresentable>(_: Form.Type) -> IndexRegion? {
            (value as? Form).map { IndexRegion(below: $0, isInclusive: isInclusive) }
        }
        return region(type)
    }

    static func above<Value>(_ value: Value, isInclusive: Bool) -> IndexRegion? {
        guard let type = Value.self as? any IndexRepresentable.Type else { return nil }
        func region<Form: IndexRepresentable>(_: Form.Type) -> IndexRegion? {
            (value as? Form).map { IndexRegion(above: $0, isInclusive: isInclusive) }
        }
        return region(type)
    }
}
