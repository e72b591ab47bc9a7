import RoostCoding
import RoostFormat
import RoostIO

/// A value of objects, and their places in an order, as stored bytes give them.
///
/// - It gives what the object would, or throws: where the type does not say where the fields are, where the bytes are of
///   another form or of an earlier version, and where reading fails, which the whole object's decoding then tells.
/// - A class, as copying its parts for each object costs more than reading the value.
final class StoredProjection<Item: Identifiable & Sendable, Value> where Item.ID: Sendable {
    let condition: StoredCondition
    private let reader: StoredReader<Value>
    /// The form of each order before that of the identifier; `nil` where they cannot be read.
    private let orders: [StoredReader<[UInt8]>]?
    /// Whether the identifier's own order follows, from its greatest down.
    private let hasDescendingKey: Bool

    /// `nil` where no stored bytes could give the value.
    init?(_ projection: Projection<Item, Value>, _ query: Query<Item>) {
        let fields = declaredFields(of: Item.self)
        guard !fields.isEmpty, let reader = projection.stored.reader(among: fields),
            let condition = query.storedCondition
        else { return nil }
        self.condition = condition
        self.reader = reader
        let before = query.orders.prefix { $0.identifierOrder == nil }
        let orders = before.compactMap { $0.storedReader(among: fields) }
        self.orders = orders.count == before.count ? orders : nil
        hasDescendingKey =
            before.count < query.orders.count && query.orders[before.count].isDescending
    }

    func value(_ bytes: UnsafeRawBufferPointer) throws -> Value {
        guard let header = ValueHeader(bytes), header.version == 1 else { throw NeedsObject() }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[header.sizeBytes...])
        switch ValueKind(rawValue: header.kind) {
        case .binary:
            guard let read = reader.binary else { throw NeedsObject() }
            return try BinaryReader.withFields(of: Item.self, in: payload) { try read(&$0) }
        case .roost:
            guard let read = reader.coded else { throw NeedsObject() }
            return try RoostCoder().withFields(of: Item.self, in: payload) { try read(&$0) }
        default: throw NeedsObject()
        }
    }

    /// Where the object with a key stands; as `Query.sortKey`.
    func place(_ bytes: UnsafeRawBufferPointer, _ key: [UInt8]) throws -> [UInt8] {
        guard let orders, let header = ValueHeader(bytes) else { throw NeedsObject() }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[header.sizeBytes...])
        var place = IndexForm.whole
        switch ValueKind(rawValue: header.kind) {
        case .binary:
            try BinaryReader.withFields(of: Item.self, in: payload) { fields in
                for order in orders {
                    guard let read = order.binary else { throw NeedsObject() }
                    place.bytes += try read(&fields)
                }
            }
        case .roost:
            try RoostCoder().withFields(of: Item.self, in: payload) { fields in
                for order in orders {
                    guard let read = order.coded else { throw NeedsObject() }
                    place.bytes += try read(&fields)
                }
            }
        default: throw NeedsObject()
        }
        if hasDescendingKey { place.append(inverting: key) }
        return place.bytes + key
    }
}

/// The stored bytes do not say it.
private struct NeedsObject: Error {}

extension OrderTerm where Item: Sendable {
    /// Reads what an object is sorted by from its stored bytes; `nil` where they do not say it.
    fileprivate func storedReader(
        among fields: [StoredField<Item>]
    ) -> StoredReader<[UInt8]>? {
        guard let type = type(of: path.keyPath).valueType as? any IndexRepresentable.Type else {
            return nil
        }
        return storedReader(type, among: fields)
    }

    private func storedReader<Value: IndexRepresentable>(
        _ type: Value.Type, among fields: [StoredField<Item>]
    ) -> StoredReader<[UInt8]>? {
        guard let keyPath = path.keyPath as? KeyPath<Item, Value> else { return nil }
        let isDescending = isDescending
        return StoredAccess(keyPath).map { value in
            var form = IndexForm.whole
            value.encode(into: &form)
            if isDescending { form.invert(from: 0) }
            return form.bytes
        }.reader(among: fields)
    }
}
