import RoostIO

/// What a value's `init(from:)` gets: a place in a message. Small enough to travel without
/// memory of its own.
struct ValueDecoder: Decoder {
    let place: Place

    var codingPath: [any CodingKey] { place.codingPath }

    var userInfo: [CodingUserInfoKey: Any] { place.message.state.pointee.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try place.openFields()
        return KeyedDecodingContainer(KeyedDecoder<Key>(place: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = place.value
        if let bytes = try value.bytes(CoderTag.bytes) {
            return UnkeyedDecoder(content: place.message.integers(from: bytes), place: place)
        }
        guard let content = try value.bytes(CoderTag.array) else {
            throw place.wrongValue(value, [Any].self)
        }
        return UnkeyedDecoder(content: content, place: place)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension DecodingMessage {
    /// The elements of an array of integers with these values: bytes are asked for one by one
    /// only by types that encode themselves in a way of their own.
    fileprivate func integers(from bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var writer = BinaryWriter(capacity: bytes.count * 3 + 1)
        for byte in bytes { writer.tagged(integer: byte) }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: writer.count, alignment: 1)
        copy.copyMemory(from: UnsafeRawBufferPointer(start: writer.base, count: writer.count))
        state.pointee.converted.append(copy)
        return UnsafeRawBufferPointer(copy)
    }
}

/// A line for people about an error that a value threw while it was read.
func summary(of error: any Error) -> String {
    func place(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
        let keys = context.codingPath + (last.map { [$0] } ?? [])
        return keys.isEmpty ? "the value" : keys.map(\.stringValue).joined(separator: ".")
    }
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, let context): return "\(place(context, key)) is missing"
    case .valueNotFound(let type, let context): return "\(place(context)) (\(type)) is null"
    case .typeMismatch(let type, let context): return "\(place(context)) is not a \(type)"
    case .dataCorrupted(let context): return "\(place(context)): \(context.debugDescription)"
    @unknown default: return "\(error)"
    }
}
