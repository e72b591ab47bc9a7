/// LEB128: seven bits a byte, the lowest first, the high bit set on all but the last.
public enum Varint {
    public static let maximumSizeBytes = 10

    /// Writes `value` at `target`, which has room for ten bytes; returns the bytes used.
    @inlinable @inline(__always)
    public static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
        var rest = value
        var count = 0
        while rest >= 0x80 {
            target.storeBytes(
                of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
            rest >>= 7
            count += 1
        }
        target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        return count + 1
    }

    /// Small numbers of either sign become small numbers without one.
    @inlinable @inline(__always)
    public static func zigzag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: (value << 1) ^ (value >> 63))
    }

    @inlinable @inline(__always)
    public static func unzigzag(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    public static func sizeBytes(of value: UInt64) -> Int {
        max(1, (UInt64.bitWidth - value.leadingZeroBitCount + 6) / 7)
    }

    /// Reads a number at `offset` and moves `offset` past it; `nil` where `bytes` end before it
    /// does, or where it has more than 64 bits.
    @inlinable @inline(__always)
    public static func read(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> UInt64? {
        guard offset < bytes.count else { return nil }
        let first = bytes[offset]
        if first < 0x80 {
            offset += 1
            return UInt64(first)
        }
        return readLong(bytes, &offset)
    }

    @inline(never)
    @usableFromInline static func readLong(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int)
        -> UInt64?
    {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var at = offset
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if shift == 63 && byte > 1 { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 {
                offset = at
                return value
            }
            shift += 7
            if shift > 63 { return nil }
        }
        return nil
    }
}
