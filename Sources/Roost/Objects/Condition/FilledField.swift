/// A field that may be `nil`, with the value that counts where it is: `$0.rating ?? 0`, to be compared.
///
/// Each comparison is one of the field, joined with whether it is `nil` where the value that counts then is as is asked. So
/// an index of the field serves it as it serves these.
public struct FilledField<Root, Value: Equatable & Sendable>: Sendable {
    let field: Field<Root, Value?>
    let value: Value

    /// What holds of the field, or of objects without a value in it where the value that counts there is as is asked.
    private func joined(
        _ present: Condition<Root>, or holdsOfValue: Bool
    ) -> Condition<Root> {
        holdsOfValue ? present || field == nil : present
    }
}

extension Field {
    /// The field's value, or `value` where it has none, to be compared.
    ///
    /// ```swift
    /// books.where { ($0.rating ?? 0) >= 3 }
    /// ```
    public static func ?? <Wrapped: Equatable & Sendable>(
        field: Field, value: Wrapped
    ) -> FilledField<Root, Wrapped> where Value == Wrapped? {
        FilledField(field: field, value: value)
    }
}

extension FilledField: ConditionConvertible where Value == Bool {
    /// What counts as the field's value is `true`.
    public var condition: Condition<Root> { self == true }
}

extension FilledField {
    /// What counts as the field's value equals `other`, as Swift compares them.
    public static func == (filled: FilledField, other: Value) -> Condition<Root> {
        filled.joined(filled.field == other, or: filled.value == other)
    }

    /// What counts as the field's value does not equal `other`.
    public static func != (filled: FilledField, other: Value) -> Condition<Root> {
        !(filled == other)
    }

    /// Whether what counts as the field's value is one of `values`.
    public func isIn(_ values: [Value]) -> Condition<Root> {
        joined(field.isIn(values.map(Optional.some)), or: values.contains(value))
    }
}

extension FilledField where Value: Comparable {
    /// What counts as the field's value is less than `other`, as Swift compares them.
    public static func < (filled: FilledField, other: Value) -> Condition<Root> {
        filled.joined(filled.field < other, or: filled.value < other)
    }

    /// What counts as the field's value is at most `other`, as Swift compares them.
    public static func <= (filled: FilledField, other: Value) -> Condition<Root> {
        filled.joined(filled.field <= other, or: isAtMost(filled.value, other))
    }

    /// What counts as the field's value is greater than `other`, as Swift compares them.
    public static func > (filled: FilledField, other: Value) -> Condition<Root> {
        filled.joined(filled.field > other, or: filled.value > other)
    }

    /// What counts as the field's value is at least `other`, as Swift compares them.
    public static func >= (filled: FilledField, other: Value) -> Condition<Root> {
        filled.joined(filled.field >= other, or: isAtMost(other, filled.value))
    }
}
