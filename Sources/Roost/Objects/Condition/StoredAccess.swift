import RoostCoding

/// How a value is read where only an object's stored bytes are there: from the properties of the object that it is
/// made of, as the type says where these are.
struct StoredAccess<Root, Value>: Sendable {
    private let find: @Sendable ([StoredField<Root>]) -> StoredReader<Value>?

    init(_ keyPath: KeyPath<Root, Value>) {
        // Immutable, and only compared: so it may be shared.
        nonisolated(unsafe) let property: AnyKeyPath = keyPath
        self.init { fields in
            // No type declares a property of another type than its key path's.
            fields.first { $0.path == property }.flatMap { $0.reader as? StoredReader<Value> }
        }
    }

    private init(_ find: @escaping @Sendable ([StoredField<Root>]) -> StoredReader<Value>?) {
        self.find = find
    }

    /// What reads it; `nil` where the type does not declare a property that it takes.
    func reader(among fields: [StoredField<Root>]) -> StoredReader<Value>? { find(fields) }

    /// What `transform` makes of the value.
    func map<Other>(
        _ transform: @escaping @Sendable (Value) -> Other
    ) -> StoredAccess<Root, Other> {
        let find = find
        return StoredAccess<Root, Other> { find($0)?.map(transform) }
    }

    /// What `join` makes of the value and another one.
    func joined<Other, Joined>(
        with other: StoredAccess<Root, Other>,
        _ join: @escaping @Sendable (Value, Other) -> Joined
    ) -> StoredAccess<Root, Joined> {
        let (find, findOther) = (find, other.find)
        return StoredAccess<Root, Joined> { fields in
            guard let one = find(fields), let other = findOther(fields) else { return nil }
            return one.joined(with: other, join)
        }
    }
}
