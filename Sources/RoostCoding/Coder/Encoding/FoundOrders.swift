/// The orders that were found for the sets and dictionaries of a message, and of the messages that are made of their
/// elements to find them. Without it a set inside a set would be put in order twice, one inside that four times, and so on.
///
/// - A set is known by its storage, as equal ones may hold elements that are written differently. It is kept beside
///   its order, so that the storage is neither changed nor used for another set meanwhile.
final class FoundOrders {
    private struct Key: Hashable {
        var type: ObjectIdentifier
        var storage: UInt

        /// `nil` where a value is not a single reference to its storage.
        init?<Hashed>(_ hashed: Hashed) {
            guard MemoryLayout<Hashed>.size == MemoryLayout<UInt>.size else { return nil }
            type = ObjectIdentifier(Hashed.self)
            storage = unsafeBitCast(hashed, to: UInt.self)
        }
    }

    /// How many values the one is inside of that is encoded to find its place. Each is encoded in a sink of its own, which
    /// knows nothing of those around it.
    var depth = 0
    private var orders: [Key: (hashed: Any, values: Any)] = [:]

    func order<Hashed: Collection>(of hashed: Hashed) -> [Hashed.Element]? {
        Key(hashed).flatMap { orders[$0]?.values as? [Hashed.Element] }
    }

    func remember<Hashed: Collection>(_ values: [Hashed.Element], of hashed: Hashed) {
        if let key = Key(hashed) { orders[key] = (hashed, values) }
    }
}

extension EncodingSink {
    /// The values of a set or a dictionary in the order of the bytes that a part of each encodes to by itself.
    func sorted<Hashed: Collection, Part: Encodable>(
        _ hashed: Hashed, by part: (Hashed.Element) -> Part
    ) throws -> [Hashed.Element] {
        guard hashed.count > 1 else { return Array(hashed) }
        let kind = cache.pointee.kinds.kind(of: Part.self)
        // Nothing to put in order is inside the others.
        guard kind == .plain || kind == .hashed else { return try sorted(hashed, by: part, nil) }
        let orders = session.orders ?? FoundOrders()
        session.orders = orders
        if let found = orders.order(of: hashed) { return found }
        let values = try sorted(hashed, by: part, orders)
        orders.remember(values, of: hashed)
        return values
    }

    private func sorted<Hashed: Collection, Part: Encodable>(
        _ hashed: Hashed, by part: (Hashed.Element) -> Part, _ orders: FoundOrders?
    ) throws -> [Hashed.Element] {
        let keyed = try hashed.map { (value: $0, bytes: try encodedAlone(part($0), orders)) }
        return keyed.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map(\.value)
    }

    /// The message of a value by itself.
    private func encodedAlone<Value: Encodable>(
        _ value: Value, _ orders: FoundOrders?
    ) throws -> [UInt8] {
        let added = topLevel + 1
        if let orders {
            orders.depth += added
            guard orders.depth <= CoderLimits.depth else {
                throw fail("values are nested deeper than \(CoderLimits.depth) levels")
            }
        }
        defer { orders?.depth -= added }
        var sink = EncodingPool.take()
        sink.session.userInfo = session.userInfo
        sink.session.orders = orders
        try sink.encodeRoot(value)
        let bytes = try sink.message()
        EncodingPool.give(&sink)
        return bytes
    }
}
