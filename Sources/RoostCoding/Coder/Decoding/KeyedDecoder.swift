/// Reads the properties of an object, or the entries of a map.
struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Whose fields are open.
    let place: Place

    var codingPath: [any CodingKey] { place.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        do {
            try place.forEachField { if let key = $0.codingKey(Key.self) { keys.append(key) } }
        } catch {
            place.message.state.pointee.failure = error
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        // Where the bytes are damaged, decoding the key tells.
        do { return try place.find(key) != nil } catch { return true }
    }

    /// The value of a key that must be there.
    @inline(__always)
    private func value(_ key: Key) throws -> CoderValue {
        guard let value = try place.find(key) else { throw place.missing(key) }
        return value
    }

    /// The value of a key, unless it is missing or null.
    @inline(__always)
    private func valueIfPresent(_ key: Key) throws -> CoderValue? {
        guard let value = try place.find(key), value.tag != CoderTag.null else { return nil }
        return value
    }

    @inline(__always)
    private func some<Value>(_ read: Value?, _ value: CoderValue, _ key: Key) throws -> Value {
        guard let read else { throw place.wrongValue(value, Value.self, at: key) }
        return read
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).tag == CoderTag.null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try place.message.decode(type, try value(key), place.stepToFound, in: place)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try place.message.decode(type, value, place.stepToFound, in: place)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nestedDecoder(try value(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nestedDecoder(try value(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = CoderKey("super")
        guard let value = try place.find(key) else { throw place.missing(key) }
        return try place.message.nest(value, .superclass, in: place)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try nestedDecoder(try value(key))
    }

    private func nestedDecoder(_ value: CoderValue) throws -> ValueDecoder {
        try place.message.nest(value, place.stepToFound, in: place)
    }
}

/// The standard types.
extension KeyedDecoder {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let value = try value(key)
        return try some(value.bool(), value, key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let value = try value(key)
        return try some(try value.string(), value, key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let value = try value(key)
        return try some(try value.double(), value, key)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let value = try value(key)
        return try some(try value.float(), value, key)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let value = try value(key)
        return try some(try value.integer(Int.self), value, key)
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        let value = try value(key)
        return try some(try value.integer(Int8.self), value, key)
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        let value = try value(key)
        return try some(try value.integer(Int16.self), value, key)
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        let value = try value(key)
        return try some(try value.integer(Int32.self), value, key)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        let value = try value(key)
        return try some(try value.integer(Int64.self), value, key)
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        let value = try value(key)
        return try some(try value.integer(Int128.self), value, key)
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        let value = try value(key)
        return try some(try value.integer(UInt.self), value, key)
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        let value = try value(key)
        return try some(try value.integer(UInt8.self), value, key)
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        let value = try value(key)
        return try some(try value.integer(UInt16.self), value, key)
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        let value = try value(key)
        return try some(try value.integer(UInt32.self), value, key)
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        let value = try value(key)
        return try some(try value.integer(UInt64.self), value, key)
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        let value = try value(key)
        return try some(try value.integer(UInt128.self), value, key)
    }
}

/// The standard types where they are optional.
extension KeyedDecoder {
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(value.bool(), value, key)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.string(), value, key)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.double(), value, key)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.float(), value, key)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(Int.self), value, key)
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(Int8.self), value, key)
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(Int16.self), value, key)
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(Int32.self), value, key)
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(Int64.self), value, key)
    }

    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(Int128.self), value, key)
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(UInt.self), value, key)
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(UInt8.self), value, key)
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(UInt16.self), value, key)
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(UInt32.self), value, key)
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(UInt64.self), value, key)
    }

    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try some(try value.integer(UInt128.self), value, key)
    }
}
