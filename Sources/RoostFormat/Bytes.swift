import CRoost

/// Unaligned little-endian access, the only way in which this module reads and writes numbers
/// on disk.
extension UnsafeRawPointer {
    @inlinable @inline(__always)
    public func load<Integer: FixedWidthInteger>(_ type: Integer.Type, at offset: Int) -> Integer {
        Integer(littleEndian: loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }

    // The two that are read most, by a call that a debug build does not look a type up for.

    @inlinable @inline(__always)
    public func load(_ type: UInt32.Type, at offset: Int) -> UInt32 {
        UInt32(littleEndian: roost_unaligned_32(self + offset))
    }

    @inlinable @inline(__always)
    public func load(_ type: UInt64.Type, at offset: Int) -> UInt64 {
        UInt64(littleEndian: roost_unaligned_64(self + offset))
    }
}

extension UnsafeMutableRawPointer {
    @inlinable @inline(__always)
    public func store<Integer: FixedWidthInteger>(_ value: Integer, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Integer.self)
    }
}

@inlinable @inline(__always)
public func compareMemory(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Int
{
    Int(roost_compare(left, right, count))
}

/// Asks for the memory at `address` ahead of its use.
@inlinable @inline(__always)
public func prefetch(_ address: UnsafeRawPointer) { roost_prefetch(address) }

/// Looks at the byte at `address`, whatever becomes of it.
@inlinable @inline(__always)
public func touch(_ address: UnsafeRawPointer) { roost_touch(address) }

@inlinable @inline(__always)
public func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count
        && (left.count == 0
            || roost_compare(left.baseAddress!, right.baseAddress!, left.count) == 0)
}

/// How many bytes are zero before the first that is not.
package func leadingZeroCount(_ bytes: UnsafeRawBufferPointer) -> Int {
    bytes.baseAddress.map { roost_leading_zeros($0, bytes.count) } ?? 0
}

/// How many bytes are zero after the last that is not.
package func trailingZeroCount(_ bytes: UnsafeRawBufferPointer) -> Int {
    bytes.baseAddress.map { roost_trailing_zeros($0, bytes.count) } ?? 0
}

/// How many bytes the two have in common before they differ or one ends.
@inlinable @inline(__always)
public func commonPrefixCount(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer)
    -> Int
{
    let limit = min(left.count, right.count)
    var index = 0
    while limit - index >= 8 {
        let difference =
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if difference != 0 {
            return index + UInt64(littleEndian: difference).trailingZeroBitCount / 8
        }
        index += 8
    }
    while index < limit && left[index] == right[index] { index += 1 }
    return index
}
