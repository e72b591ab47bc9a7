import Foundation

/// Writing any `Encodable` value.
extension EncodingSink {
    /// Appends a value. The key is where the value stands, for messages to people.
    func encode<Value: Encodable>(_ value: Value, at level: Int, key: any CodingKey) throws {
        let kind = cache.pointee.kinds.kind(of: Value.self)
        if kind != .plain, try encodeKnown(value, kind, at: level, key: key) { return }
        try nest(under: key, at: level) { encoder in try value.encode(to: encoder) }
    }

    /// Opens a frame for a value inside the one at `level`, and closes it again.
    @inline(__always)
    func nest(
        under key: any CodingKey, at level: Int, _ body: (ValueEncoder) throws -> Void
    ) throws {
        guard depth + level < CoderLimits.depth else {
            throw fail("values are nested deeper than \(CoderLimits.depth) levels")
        }
        state.pointee.frames[level].openKey = key
        openFrame()
        try body(ValueEncoder(sink: self, level: level + 1))
        closeFrames(to: level + 1)
        state.pointee.frames[level].openKey = nil
    }

    /// Writes a value of a type that has a form of its own.
    private func encodeKnown<Value: Encodable>(
        _ value: Value, _ kind: CoderTypeKind, at level: Int, key: any CodingKey
    ) throws -> Bool {
        withUnsafePointer(to: value) { pointer in
            // The kind was derived from the identity of the type, so the memory is of that type.
            func known<Known>(_ type: Known.Type) -> Known {
                UnsafeRawPointer(pointer).assumingMemoryBound(to: type).pointee
            }
            switch kind {
            case .plain, .hashed: break
            case .bool: state.pointee.writer.tagged(known(Bool.self))
            case .int: state.pointee.writer.tagged(integer: known(Int.self))
            case .int8: state.pointee.writer.tagged(integer: known(Int8.self))
            case .int16: state.pointee.writer.tagged(integer: known(Int16.self))
            case .int32: state.pointee.writer.tagged(integer: known(Int32.self))
            case .int64: state.pointee.writer.tagged(integer: known(Int64.self))
            case .int128: state.pointee.writer.tagged(integer: known(Int128.self))
            case .uint: state.pointee.writer.tagged(integer: known(UInt.self))
            case .uint8: state.pointee.writer.tagged(integer: known(UInt8.self))
            case .uint16: state.pointee.writer.tagged(integer: known(UInt16.self))
            case .uint32: state.pointee.writer.tagged(integer: known(UInt32.self))
            case .uint64: state.pointee.writer.tagged(integer: known(UInt64.self))
            case .uint128: state.pointee.writer.tagged(integer: known(UInt128.self))
            case .float: state.pointee.writer.tagged(known(Float.self))
            case .double: state.pointee.writer.tagged(known(Double.self))
            case .string: state.pointee.writer.tagged(known(String.self))
            case .bytes:
                known([UInt8].self).withUnsafeBytes { state.pointee.writer.tagged(bytes: $0) }
            case .data: known(Data.self).withUnsafeBytes { state.pointee.writer.tagged(bytes: $0) }
            case .date: state.pointee.writer.tagged(known(Date.self))
            case .uuid: state.pointee.writer.tagged(known(UUID.self))
            case .url: state.pointee.writer.tagged(known(URL.self))
            case .decimal:
                state.pointee.writer.writeFixed(CoderTag.decimal)
                CoderDecimal(known(Decimal.self)).encode(into: &state.pointee.writer)
            case .strings: encodeElements(known([String].self)) { $0.tagged($1) }
            case .ints: encodeElements(known([Int].self)) { $0.tagged(integer: $1) }
            case .doubles: encodeElements(known([Double].self)) { $0.tagged($1) }
            }
        }
        guard kind == .hashed, let hashed = value as? any HashedEncodable else {
            return kind != .hashed
        }
        try nest(under: key, at: level) { try hashed.encodeInOrder(to: $0) }
        return true
    }

    @inline(__always)
    private func encodeElements<Element>(
        _ elements: [Element], _ write: (inout BinaryWriter, Element) -> Void
    ) {
        state.pointee.writer.writeFixed(CoderTag.array)
        state.pointee.writer.frame { writer in
            for element in elements { write(&writer, element) }
        }
    }
}
