/// A value that each object has: of one field, or of several together.
package struct Projection<Item, Value>: Sendable {
    /// Of an object.
    let value: @Sendable (UnsafePointer<Item>) -> Value
    /// Of its stored bytes.
    let stored: StoredAccess<Item, Value>

    package init(_ path: KeyPath<Item, Value> & Sendable) {
        let access = FieldAccess(path)
        self.init(value: { access.value(of: $0) }, stored: StoredAccess(path))
    }

    private init(
        value: @escaping @Sendable (UnsafePointer<Item>) -> Value,
        stored: StoredAccess<Item, Value>
    ) {
        self.value = value
        self.stored = stored
    }

    /// What makes it of an object that is handed over.
    package var making: @Sendable (Item) -> Value {
        let value = value
        return { item in withUnsafePointer(to: item) { value($0) } }
    }

    /// What `transform` makes of the value.
    func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Projection<Item, Other> {
        let value = value
        return Projection<Item, Other>(
            value: { transform(value($0)) }, stored: stored.map(transform))
    }

    /// The value and another one.
    package func joined<Other>(
        with other: Projection<Item, Other>
    ) -> Projection<Item, (Value, Other)> {
        let (value, otherValue) = (value, other.value)
        return Projection<Item, (Value, Other)>(
            value: { (value($0), otherValue($0)) },
            stored: stored.joined(with: other.stored) { ($0, $1) })
    }

    /// The values of two fields.
    package init<A, B>(
        _ first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable
    ) where Value == (A, B) {
        self = Projection<Item, A>(first).joined(with: Projection<Item, B>(second))
    }

    /// The values of three fields.
    package init<A, B, C>(
        _ first: KeyPath<Item, A> & Sendable, _ second: KeyPath<Item, B> & Sendable,
        _ third: KeyPath<Item, C> & Sendable
    ) where Value == (A, B, C) {
        self = Projection<Item, (A, B)>(first, second)
            .joined(with: Projection<Item, C>(third)).map { ($0.0, $0.1, $1) }
    }
}
