import RoostCoding

/// How a value is read where only an object's stored bytes are there: from the properties of the object that it is
/// made of, as the type says where these are.
struct StoredAccess<Root, Value>: Sendable {
    private let find: @Sendable ([StoredField<Root>]) -> StoredReader<Value>?

    init(_ keyPath: KeyPath<Root, Value>) {
        // Immutable, and only compared: so it may be shared.
        nonisolated(unsafe) let property: AnyKeyPath = keyPath
        self.init { fields in
            guard let field = fields.first(where: { $0.path == property }) else {
                return Self.reader(of: property, within: fields)
            }
            // No type declares a property of another type than its key path's.
            return field.reader as? StoredReader<Value>
        }
    }

    /// Of a field of a property that the type declares, as `\.author.name` where it has `\.author`. Both are stored in the
    /// object, so that where one is in the other is known.
    private static func reader(
        of path: AnyKeyPath, within fields: [StoredField<Root>]
    ) -> StoredReader<Value>? {
        guard let path = path as? KeyPath<Root, Value>, MemoryLayout<Value>.size > 0,
            let offset = MemoryLayout<Root>.offset(of: path)
        else { return nil }
        return fields.lazy.compactMap { $0.part(at: offset, as: Value.self) }.first
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
