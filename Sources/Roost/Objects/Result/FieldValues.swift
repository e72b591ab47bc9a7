// What is made of a field's values, one after the other, by the forms that an index would keep of them.

/// What stands first in the order of a value: the objects with the least one, or the greatest. Of equals the one that came
/// first.
package struct FirstInOrder<Kept> {
    private let order: ScanOrder
    private var first: (form: [UInt8], kept: Kept)?

    package init(_ order: ScanOrder) { self.order = order }

    package mutating func add(_ value: some IndexRepresentable, _ kept: Kept) {
        let form = IndexForm.wholeBytes(of: value)
        guard let first else {
            self.first = (form, kept)
            return
        }
        let isBefore =
            order == .ascending
            ? bytes(form, precede: first.form) : bytes(first.form, precede: form)
        if isBefore { self.first = (form, kept) }
    }

    package var kept: Kept? { first?.kept }
}

/// Different values.
package struct DistinctValues<Value: IndexRepresentable> {
    private var found: [[UInt8]: Value] = [:]

    package init() {}

    package mutating func add(_ value: Value) { found[IndexForm.wholeBytes(of: value)] = value }

    /// Each once.
    package var inOrder: [Value] {
        found.sorted { bytes($0.key, precede: $1.key) }.map(\.value)
    }
}

extension Condition {
    /// That a field has a value that `<` is told of; `nil` where each of its type is one.
    package static func having<Value: IndexRepresentable>(
        _ path: KeyPath<Root, Value> & Sendable,
        _ isOrdered: @escaping @Sendable (Value) -> Bool
    ) -> Condition? {
        let shape = Value.indexShape
        let ordered = IndexRegion(intervals: [
            .init(lower: shape.firstOrdered, upper: shape.endOfOrdered)
        ])
        if ordered.isEverything { return nil }
        return Field<Root, Value>(path).term(ordered, "has a value", isOrdered)
    }
}
