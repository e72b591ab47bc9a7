import RoostIO

/// A sum that is told not to fit into its type, where the type is one of integers or `Duration`: their `+`
/// traps, and what is stored must not end the program.
///
/// - `sum` is what is left of the whole sum without its overflows, and `overflowCount` how many these
///   were, each from the greatest value up or, negative, from the least down. So the order of the
///   values does not matter.
package struct CheckedSum<Value: AdditiveArithmetic> {
    private enum Kind {
        case integer
        case duration
        /// `+` is used.
        case other
    }

    private var sum = Value.zero
    private var overflowCount = 0
    private let kind: Kind

    package init() {
        kind =
            if Value.self is any FixedWidthInteger.Type {
                .integer
            } else if Value.self
                == Duration.self
            { .duration } else { .other }
    }

    package mutating func add(_ value: Value) {
        switch kind {
        case .integer: if let value = value as? any FixedWidthInteger { addInteger(value) }
        case .duration: if let value = value as? Duration { addDuration(value) }
        case .other: sum += value
        }
    }

    private mutating func addInteger<Number: FixedWidthInteger>(_ value: Number) {
        // It is `Value` under another name.
        guard let (next, hasOverflown) = (sum as? Number)?.addingReportingOverflow(value),
            let sum = next as? Value
        else { preconditionFailure("\(Number.self) is not \(Value.self)") }
        self.sum = sum
        if hasOverflown { overflowCount += value < 0 ? -1 : 1 }
    }

    private mutating func addDuration(_ value: Duration) {
        guard
            let (next, hasOverflown) = (sum as? Duration)?.attoseconds.addingReportingOverflow(
                value.attoseconds),
            let sum = Duration(attoseconds: next) as? Value
        else { preconditionFailure("Duration is not \(Value.self)") }
        self.sum = sum
        if hasOverflown { overflowCount += value < .zero ? -1 : 1 }
    }

    /// - Throws: `.overflow`, which names the field.
    package func value(of path: AnyKeyPath) throws -> Value {
        guard overflowCount == 0 else {
            throw RoostError(
                .overflow,
                "the sum of \(FieldPath.name(of: path)) does not fit into \(Value.self): add the values as another type, as Double"
            )
        }
        return sum
    }
}
