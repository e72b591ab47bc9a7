/// Writes the properties of an object, or the entries of a map.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let sink: EncodingSink
    let level: Int
    let serial: UInt32
    let isMap: Bool

    var codingPath: [any CodingKey] { sink.path(to: level) }

    /// Notes the key of the value that is written next.
    @inline(__always)
    private func begin(_ key: Key) throws {
        try sink.check(level, serial)
        if isMap {
            sink.beginEntry(MapKey(codingKey: key), at: level)
        } else {
            sink.advance(level, name: key.stringValue)
        }
    }

    func encodeNil(forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.writeFixed(CoderTag.null)
    }

    private func encodeAbsent(forKey key: Key) throws {
        guard !isMap else { return }
        try begin(key)
        sink.state.pointee.writer.writeFixed(CoderTag.absent)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try begin(key)
        try sink.encode(value, at: level)
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nestedEncoder(key, isContainer: true).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(key, isContainer: true).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        guard let key = Key(stringValue: "super") else { return nestedEncoder(CoderKey("super")) }
        return nestedEncoder(key)
    }

    func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(key) }

    private func nestedEncoder(_ key: any CodingKey, isContainer: Bool = false) -> ValueEncoder {
        // A failure is noted in the sink, and thrown when the message is finished.
        if (try? sink.check(level, serial)) != nil {
            if isContainer, let first = sink.nestedContainer(at: level, named: key.stringValue) {
                return first
            }
            if isMap {
                sink.beginEntry(MapKey(codingKey: key), at: level)
            } else {
                sink.advance(level, name: key.stringValue)
            }
        }
        return sink.nestedSink(at: level, key: key, isContainer: isContainer)
    }
}

/// The standard types.
extension KeyedEncoder {
    func encode(_ value: Bool, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: Int, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int8, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int16, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int32, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int64, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int128, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt8, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt16, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt32, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt64, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt128, forKey key: Key) throws {
        try begin(key)
        sink.state.pointee.writer.tagged(integer: value)
    }
}

/// The standard types where they are optional.
extension KeyedEncoder {
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
        guard let value else { return try encodeAbsent(forKey: key) }
        try encode(value, forKey: key)
    }
}
