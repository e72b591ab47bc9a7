import Foundation

/// Writing any `Encodable` value.
extension EncodingSink {
    /// Appends a value inside the frame at `level`.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, at level: Int) throws {
        let kind = cache.pointee.kinds.kind(of: Value.self)
        if kind != .plain {
            if withUnsafePointer(to: value, { encodeKnown(UnsafeRawPointer($0), kind) }) { return }
            if let hashed = value as? any HashedEncodable {
                return try nest(at: level) { try hashed.encodeInOrder(to: $0) }
            }
        }
        try nest(at: level) { encoder in try value.encode(to: encoder) }
    }

    /// Writes the value that the sink is for.
    func encodeRoot<Value: Encodable>(_ value: Value) throws {
        let kind = cache.pointee.kinds.kind(of: Value.self)
        let root = ValueEncoder(sink: self, level: 0)
        if kind != .plain {
            if withUnsafePointer(to: value, { encodeKnown(UnsafeRawPointer($0), kind) }) {
                state.pointee.frames[0].content = .whole
                return
            }
            if let hashed = value as? any HashedEncodable {
                return try hashed.encodeInOrder(to: root)
            }
        }
        try value.encode(to: root)
    }

    /// Opens a frame for a value inside the one at `level`, and closes it again.
    @inline(__always)
    func nest(at level: Int, _ body: (ValueEncoder) throws -> Void) throws {
        guard depth + level < CoderLimits.depth else {
            throw fail("values are nested deeper than \(CoderLimits.depth) levels")
        }
        openFrame()
        do { try body(ValueEncoder(sink: self, level: level + 1)) } catch {
            takeBackValue(inside: level)
            throw error
        }
        closeFrames(to: level + 1)
    }

    /// Writes a value of a type that has a form of its own. Says whether the type has one.
    private func encodeKnown(_ value: UnsafeRawPointer, _ kind: CoderTypeKind) -> Bool {
        // The kind was derived from the identity of the type, so the memory is of that type.
        @inline(__always)
        func known<Known>(_ type: Known.Type) -> Known {
            value.assumingMemoryBound(to: type).pointee
        }
        switch kind {
        case .plain, .hashed: return false
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
