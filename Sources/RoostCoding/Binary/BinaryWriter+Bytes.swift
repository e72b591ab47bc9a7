/// The parts that encoded values are made of.
extension BinaryWriter {
    /// Appends an unsigned integer in groups of seven bits, lowest first.
    ///
    /// Values below 128 take one byte; the largest take ten.
    @inlinable @inline(__always)
    public mutating func writeVarint(_ value: UInt64) {
        reserve(10)
        storeVarint(value)
    }

    /// As ``writeVarint(_:)``, where room has been made already.
    @inlinable @inline(__always)
    mutating func storeVarint(_ value: UInt64) {
        if value < 0x80 {
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            cursor += 1
        } else {
            storeLongVarint(value)
        }
    }

    @inlinable
    mutating func storeLongVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            cursor += 1
            rest >>= 7
        }
        cursor.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        cursor += 1
    }

    /// As ``writeVarint(_:)`` for 128 bits: at most 19 bytes.
    @usableFromInline
    mutating func writeVarint(wide value: UInt128) {
        reserve(19)
        var rest = value
        while rest >= 0x80 {
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            cursor += 1
            rest >>= 7
        }
        cursor.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        cursor += 1
    }

    /// Appends an integer in its own width, lowest byte first.
    @inlinable @inline(__always)
    public mutating func writeFixed<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        reserve(MemoryLayout<Value>.size)
        cursor.storeBytes(of: value.littleEndian, as: Value.self)
        cursor += MemoryLayout<Value>.size
    }

    /// Appends bytes as they are, with no length.
    @inlinable
    public mutating func writeRaw(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        cursor.copyMemory(from: source, byteCount: bytes.count)
        cursor += bytes.count
    }

    /// Appends a length and the bytes.
    @inlinable
    public mutating func writeBytes(_ bytes: UnsafeRawBufferPointer) {
        reserve(10 + bytes.count)
        storeVarint(UInt64(bytes.count))
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        cursor.copyMemory(from: source, byteCount: bytes.count)
        cursor += bytes.count
    }

    /// Appends what `body` writes, preceded by its length.
    ///
    /// Beyond 512 such frames inside one another nothing is written, and encoding fails.
    @inlinable @inline(__always)
    mutating func frame(_ body: (inout BinaryWriter) -> Void) {
        guard depth < BinaryLimits.depth else {
            isTooDeep = true
            return
        }
        depth += 1
        reserve(1)
        cursor += 1
        let start = cursor - base
        body(&self)
        depth -= 1
        closeFrame(contentOffset: start)
    }

    /// Stores the length of what was written since `contentOffset` in the byte before it, and
    /// moves the content up where the length needs more than that byte.
    @inlinable @inline(__always)
    mutating func closeFrame(contentOffset: Int) {
        let length = (cursor - base) - contentOffset
        if length < 0x80 {
            (base + contentOffset - 1).storeBytes(of: UInt8(length), as: UInt8.self)
        } else {
            closeLongFrame(contentOffset: contentOffset, length: length)
        }
    }

    @usableFromInline
    mutating func closeLongFrame(contentOffset: Int, length: Int) {
        let lengthByteCount = (UInt64.bitWidth - UInt64(length).leadingZeroBitCount + 6) / 7
        reserve(lengthByteCount - 1)
        let content = base + contentOffset
        (content + lengthByteCount - 1).copyMemory(from: content, byteCount: length)
        cursor = content - 1
        storeLongVarint(UInt64(length))
        cursor += length
    }
}
