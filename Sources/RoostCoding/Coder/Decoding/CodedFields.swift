/// The properties of a stored object, read one by one, as its `init(from:)` would.
package struct CodedFields {
    fileprivate let place: Place

    func value<Value: Decodable, Key: CodingKey>(_ key: Key) throws -> Value {
        try KeyedDecoder<Key>(place: place).decode(Value.self, forKey: key)
    }

    func valueIfPresent<Value: Decodable, Key: CodingKey>(_ key: Key) throws -> Value? {
        try KeyedDecoder<Key>(place: place).decodeIfPresent(Value.self, forKey: key)
    }
}

extension RoostCoder {
    /// Calls `body` with the properties of a stored object, of which it may read some.
    ///
    /// - Throws: what `body` throws, and where the bytes are no object.
    package func withFields<Result>(
        of type: Any.Type, in bytes: UnsafeRawBufferPointer,
        _ body: (inout CodedFields) throws -> Result
    ) throws -> Result {
        var message = DecodingPool.take()
        defer { DecodingPool.give(&message) }
        return try message.withFields(of: type, in: bytes, body)
    }
}

extension DecodingMessage {
    /// Nothing of the fields is left when it returns, so that the message can be used again.
    fileprivate func withFields<Result>(
        of type: Any.Type, in bytes: UnsafeRawBufferPointer,
        _ body: (inout CodedFields) throws -> Result
    ) throws -> Result {
        var fields = CodedFields(place: try openFields(of: type, in: bytes))
        let result = try body(&fields)
        if let failure = state.pointee.failure { throw failure }
        return result
    }
}
