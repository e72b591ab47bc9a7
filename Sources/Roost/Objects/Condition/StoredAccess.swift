import RoostCoding

/// How a field is read where only the object's stored bytes are there: the property of the object that
/// it is in, as the type says where that is, and what the condition takes of it.
struct StoredAccess<Root, Value>: Sendable {
    /// Immutable, and only compared: so it may be shared.
    nonisolated(unsafe) let property: AnyKeyPath
    /// `nil` where the property has another type than its key path: none that a type declares does.
    let reader: @Sendable (StoredField<Root>) -> StoredReader<Value>?

    init(_ property: KeyPath<Root, Value>) {
        self.init(property) { $0.reader as? StoredReader<Value> }
    }

    private init(
        _ property: AnyKeyPath,
        _ reader: @escaping @Sendable (StoredField<Root>) -> StoredReader<Value>?
    ) {
        self.property = property
        self.reader = reader
    }

    func map<Other>(
        _ transform: @escaping @Sendable (Value) -> Other
    ) -> StoredAccess<Root, Other> {
        let reader = reader
        return StoredAccess<Root, Other>(property) { reader($0)?.map(transform) }
    }
}
