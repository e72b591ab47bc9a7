// Comparisons of two fields of one object. They mean what the same comparison with a value means: `nil` equals only
// `nil`, and an order comparison holds only where both fields have a value. An index knows one field's values and not
// what another has beside them, so that these are asked of each object that the rest of the condition leaves, from its
// stored bytes where these say where both fields are.

extension Field where Value: Equatable & Sendable {
    /// Both fields have equal values, as Swift compares them.
    ///
    /// ```swift
    /// accounts.where { $0.owner == $0.payer }
    /// ```
    public static func == (field: Field, other: Field) -> Condition<Root> {
        field.compared(with: other, "=") { $0 == $1 }
    }

    /// The fields have values that are not equal, as Swift compares them.
    public static func != (field: Field, other: Field) -> Condition<Root> {
        !(field == other)
    }

    /// The other field has a value, and it equals that of this one.
    public static func == (field: Field, other: Field<Root, Value?>) -> Condition<Root> {
        field.compared(with: other, "=") { $0 == $1 }
    }

    /// The other field has no value, or one that does not equal that of this one.
    public static func != (field: Field, other: Field<Root, Value?>) -> Condition<Root> {
        !(field == other)
    }

    /// The first field has a value, and it equals that of the other.
    public static func == (field: Field<Root, Value?>, other: Field) -> Condition<Root> {
        field.compared(with: other, "=") { $0 == $1 }
    }

    /// The first field has no value, or one that does not equal that of the other.
    public static func != (field: Field<Root, Value?>, other: Field) -> Condition<Root> {
        !(field == other)
    }
}

extension Field where Value: Comparable & Sendable {
    /// The first field is less than the other, as Swift compares them.
    public static func < (field: Field, other: Field) -> Condition<Root> {
        field.compared(with: other, "<") { $0 < $1 }
    }

    /// The first field is at most the other, as Swift compares them.
    public static func <= (field: Field, other: Field) -> Condition<Root> {
        field.compared(with: other, "<=") { isAtMost($0, $1) }
    }

    /// The first field is greater than the other, as Swift compares them.
    ///
    /// ```swift
    /// budgets.where { $0.spent > $0.granted }
    /// ```
    public static func > (field: Field, other: Field) -> Condition<Root> {
        field.compared(with: other, ">") { $0 > $1 }
    }

    /// The first field is at least the other, as Swift compares them.
    public static func >= (field: Field, other: Field) -> Condition<Root> {
        field.compared(with: other, ">=") { isAtMost($1, $0) }
    }
}

// Where one or both may be `nil`. A field that always has a value is no different from one that may not have it.

extension Field {
    /// Both fields have a value, and the first is less.
    public static func < <Wrapped: Comparable & Sendable>(
        field: Field, other: Field<Root, Wrapped?>
    ) -> Condition<Root> where Value == Wrapped? {
        field.compared(with: other, "<") { areOrdered($0, $1, by: <) }
    }

    /// Both fields have a value, and the first is at most the other.
    public static func <= <Wrapped: Comparable & Sendable>(
        field: Field, other: Field<Root, Wrapped?>
    ) -> Condition<Root> where Value == Wrapped? {
        field.compared(with: other, "<=") { areOrdered($0, $1, by: isAtMost) }
    }

    /// Both fields have a value, and the first is greater.
    public static func > <Wrapped: Comparable & Sendable>(
        field: Field, other: Field<Root, Wrapped?>
    ) -> Condition<Root> where Value == Wrapped? {
        field.compared(with: other, ">") { areOrdered($0, $1, by: >) }
    }

    /// Both fields have a value, and the first is at least the other.
    public static func >= <Wrapped: Comparable & Sendable>(
        field: Field, other: Field<Root, Wrapped?>
    ) -> Condition<Root> where Value == Wrapped? {
        field.compared(with: other, ">=") { areOrdered($0, $1, by: { isAtMost($1, $0) }) }
    }
}

extension Field where Value: Comparable & Sendable {
    /// The other field has a value, and this one is less than it.
    public static func < (field: Field, other: Field<Root, Value?>) -> Condition<Root> {
        field.compared(with: other, "<") { areOrdered($0, $1, by: <) }
    }

    /// The first field has a value, and it is less than the other.
    public static func < (field: Field<Root, Value?>, other: Field) -> Condition<Root> {
        field.compared(with: other, "<") { areOrdered($0, $1, by: <) }
    }

    /// The other field has a value, and this one is at most it.
    public static func <= (field: Field, other: Field<Root, Value?>) -> Condition<Root> {
        field.compared(with: other, "<=") { areOrdered($0, $1, by: isAtMost) }
    }

    /// The first field has a value, and it is at most the other.
    public static func <= (field: Field<Root, Value?>, other: Field) -> Condition<Root> {
        field.compared(with: other, "<=") { areOrdered($0, $1, by: isAtMost) }
    }

    /// The other field has a value, and this one is greater than it.
    public static func > (field: Field, other: Field<Root, Value?>) -> Condition<Root> {
        field.compared(with: other, ">") { areOrdered($0, $1, by: >) }
    }

    /// The first field has a value, and it is greater than the other.
    public static func > (field: Field<Root, Value?>, other: Field) -> Condition<Root> {
        field.compared(with: other, ">") { areOrdered($0, $1, by: >) }
    }

    /// The other field has a value, and this one is at least it.
    public static func >= (field: Field, other: Field<Root, Value?>) -> Condition<Root> {
        field.compared(with: other, ">=") { areOrdered($0, $1, by: { isAtMost($1, $0) }) }
    }

    /// The first field has a value, and it is at least the other.
    public static func >= (field: Field<Root, Value?>, other: Field) -> Condition<Root> {
        field.compared(with: other, ">=") { areOrdered($0, $1, by: { isAtMost($1, $0) }) }
    }
}

// MARK: Collections

extension Field where Value: Collection & SendableMetatype, Value.Element: Equatable & Sendable {
    /// Whether the other field's value is among this one's elements.
    public func contains(_ element: Field<Root, Value.Element>) -> Condition<Root> {
        compared(with: element, "contains") { $0.contains($1) }
    }
}

// MARK: The term

extension Field {
    private func compared<Other>(
        with other: Field<Root, Other>, _ sign: String,
        _ test: @escaping @Sendable (Value, Other) -> Bool
    ) -> Condition<Root> {
        let (access, otherAccess) = (access, other.access)
        let (path, otherPath) = (path, other.path)
        let stored = stored.joined(with: other.stored, test)
        return Condition(
            .term(
                // No path: no index has the answer, and what is remembered of one field's values does not hold for two.
                ConditionTerm(
                    nil, nil, { "\(path.name) \(sign) \(otherPath.name)" }, stored,
                    isComparison: false
                ) {
                    test(access.value(of: $0), otherAccess.value(of: $0))
                }))
    }
}

private func areOrdered<Wrapped>(
    _ one: Wrapped?, _ other: Wrapped?, by order: (Wrapped, Wrapped) -> Bool
) -> Bool {
    guard let one, let other else { return false }
    return order(one, other)
}
