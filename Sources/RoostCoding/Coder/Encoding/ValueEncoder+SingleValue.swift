/// Writes a value that is a single other value.
extension ValueEncoder: SingleValueEncodingContainer {
    @inline(__always)
    private func begin() throws {
        guard sink.topLevel == level, sink.state.pointee.frames[level].content == .nothing else {
            throw sink.fail("a single value was written twice, or too late")
        }
        sink.state.pointee.frames[level].content = .whole
    }

    func encodeNil() throws {
        try begin()
        sink.state.pointee.writer.writeFixed(CoderTag.null)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try begin()
        try sink.encode(value, at: level)
    }
}

/// The standard types.
extension ValueEncoder {
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
