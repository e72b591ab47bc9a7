import RoostIO

/// What a value's `init(from:)` gets: a place in a message. Small enough to travel without
/// memory of its own.
struct ValueDecoder: Decoder {
    let message: DecodingMessage
    let start: UnsafeRawPointer
    let path: PathNode?

    var codingPath: [any CodingKey] { path?.keys ?? [] }

    var userInfo: [CodingUserInfoKey: Any] { message.userInfo }

    /// The value, whose end was found before the decoder was made.
    var value: CoderValue {
        precondition(message.state.pointee.isOpen, "a decoder was used after the end of its call")
        return CoderValue(start: start, limit: message.limit(of: start))
    }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedDecoder<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if let bytes = try value.bytes(CoderTag.bytes) {
            return UnkeyedDecoder(content: message.integers(from: bytes), decoder: self)
        }
        guard let content = try value.bytes(CoderTag.array) else {
            throw mismatch([Any].self, at: nil)
        }
        return UnkeyedDecoder(content: content, decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// The error for a value of another kind than the one asked for.
    func mismatch(_ type: Any.Type, at key: (any CodingKey)?) -> any Error {
        let path = codingPath + (key.map { [$0] } ?? [])
        return DecodingError.typeMismatch(
            type, .init(codingPath: path, debugDescription: "The stored value is of another kind."))
    }

    func isNull(_ type: Any.Type, at key: (any CodingKey)?) -> any Error {
        let path = codingPath + (key.map { [$0] } ?? [])
        return DecodingError.valueNotFound(
            type, .init(codingPath: path, debugDescription: "The stored value is null."))
    }
}

extension DecodingMessage {
    /// The elements of an array of integers with these values: bytes are asked for one by one
    /// only by types that encode themselves in a way of their own.
    func integers(from bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var writer = BinaryWriter(capacity: bytes.count * 3 + 1)
        for byte in bytes { writer.tagged(integer: byte) }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: writer.count, alignment: 1)
        copy.copyMemory(from: UnsafeRawBufferPointer(start: writer.base, count: writer.count))
        state.pointee.converted.append(copy)
        return UnsafeRawBufferPointer(copy)
    }

    /// The end of the bytes that `position` is in.
    func limit(of position: UnsafeRawPointer) -> UnsafeRawPointer {
        if position >= root.start, position < root.limit { return root.limit }
        for bytes in state.pointee.converted {
            if let start = bytes.baseAddress, position >= start, position < start + bytes.count {
                return UnsafeRawPointer(start + bytes.count)
            }
        }
        return position
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
