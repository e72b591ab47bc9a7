/// Writes the elements of an array.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
    let sink: EncodingSink
    let level: Int
    let serial: UInt32

    var codingPath: [any CodingKey] { sink.path(to: level) }

    var count: Int {
        (try? sink.check(level, serial)).map { sink.state.pointee.frames[level].elementCount } ?? 0
    }

    @inline(__always)
    private func begin() throws {
        try sink.check(level, serial)
        sink.state.pointee.frames[level].elementCount += 1
    }

    func encodeNil() throws {
        try begin()
        sink.state.pointee.writer.writeFixed(CoderTag.null)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try begin()
        try sink.encode(value, at: level)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nestedEncoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nestedEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nestedEncoder() }

    private func nestedEncoder() -> ValueEncoder {
        // A failure is noted in the sink, and thrown when the message is finished.
        try? begin()
        return sink.nestedSink(at: level, key: CoderKey(count - 1), isContainer: false)
    }
}

/// The standard types.
extension UnkeyedEncoder {
    func encode(_ value: Bool) throws {
        try begin()
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: String) throws {
        try begin()
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: Double) throws {
        try begin()
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: Float) throws {
        try begin()
        sink.state.pointee.writer.tagged(value)
    }

    func encode(_ value: Int) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int8) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int16) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int32) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int64) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: Int128) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt8) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt16) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt32) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt64) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }

    func encode(_ value: UInt128) throws {
        try begin()
        sink.state.pointee.writer.tagged(integer: value)
    }
}
