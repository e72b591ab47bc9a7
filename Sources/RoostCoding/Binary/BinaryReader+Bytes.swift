/// The parts that encoded values are made of.
extension BinaryReader {
    /// Reads an unsigned integer written by ``BinaryWriter/writeVarint(_:)``.
    ///
    /// - Throws: `.decodingFailed` when it is cut short, longer than needed, or above 64 bits.
    @inlinable @inline(__always)
    public mutating func readVarint() throws -> UInt64 {
        guard cursor < end else { throw cutShort() }
        let first = cursor.load(as: UInt8.self)
        guard first >= 0x80 else {
            cursor += 1
            return UInt64(first)
        }
        return try readLongVarint()
    }

    @usableFromInline
    mutating func readLongVarint() throws -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        var position = cursor
        while position < end {
            let byte = position.load(as: UInt8.self)
            position += 1
            // The tenth byte holds the highest bit alone.
            guard shift < 63 || byte <= 1 else { throw doesNotFit() }
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 {
                guard byte != 0 else { throw failure("a number is longer than it needs to be") }
                cursor = position
                return result
            }
            shift += 7
        }
        throw cutShort()
    }

    /// As ``readVarint()``, for up to 128 bits.
    @usableFromInline
    mutating func readWideVarint() throws -> UInt128 {
        var result: UInt128 = 0
        var shift: UInt128 = 0
        while cursor < end {
            let byte = cursor.load(as: UInt8.self)
            cursor += 1
            // The nineteenth byte holds the two highest bits alone.
            guard shift < 126 || byte <= 3 else { throw doesNotFit() }
            result |= UInt128(byte & 0x7f) << shift
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else {
                    throw failure("a number is longer than it needs to be")
                }
                return result
            }
            shift += 7
        }
        throw cutShort()
    }

    /// Reads an integer written by ``BinaryWriter/writeFixed(_:)``.
    ///
    /// - Throws: `.decodingFailed` when it is cut short.
    @inlinable @inline(__always)
    public mutating func readFixed<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type
    ) throws -> Value {
        guard end - cursor >= MemoryLayout<Value>.size else { throw cutShort() }
        let value = cursor.loadUnaligned(as: Value.self)
        cursor += MemoryLayout<Value>.size
        return Value(littleEndian: value)
    }

    /// The next `count` bytes, valid as long as the memory that is read from.
    @inlinable @inline(__always)
    mutating func takeRaw(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count >= 0, count <= end - cursor else { throw cutShort() }
        defer { cursor += count }
        return UnsafeRawBufferPointer(start: cursor, count: count)
    }

    /// A length, and as many bytes, valid as long as the memory that is read from.
    @inlinable @inline(__always)
    mutating func takeBytes() throws -> UnsafeRawBufferPointer {
        try takeRaw(takeLength())
    }

    /// Reads a length that is known to be no more than what is left.
    @inlinable @inline(__always)
    mutating func takeLength() throws -> Int {
        let length = try readVarint()
        guard length <= UInt64(end - cursor) else { throw cutShort() }
        return Int(truncatingIfNeeded: length)
    }

    /// Reads what ``BinaryWriter/writeBytes(_:)`` or ``BinaryWriter/writeRaw(_:)`` wrote, in
    /// place.
    ///
    /// - Parameter count: the number of bytes, or `nil` when their length is in front of them.
    /// - Throws: `.decodingFailed` when they are cut short, and what `body` throws.
    @inlinable
    public mutating func withBytes<Result>(
        count: Int? = nil, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try body(count.map { try takeRaw($0) } ?? takeBytes())
    }
}
