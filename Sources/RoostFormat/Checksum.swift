import CRoost

/// CRC-32C with a seed that says where the bytes belong, so that intact bytes in a wrong place
/// never pass.
public struct ChecksumSeed: Sendable, Equatable {
    public let value: UInt32

    public init(_ value: UInt32) { self.value = value }

    /// The seed for the `index`th part of what this seed covers.
    @inlinable @inline(__always)
    public func part(_ index: UInt64) -> ChecksumSeed {
        // Fibonacci hashing spreads neighbouring indices over all bits.
        ChecksumSeed(value ^ UInt32(truncatingIfNeeded: (index &* 0x9e37_79b9_7f4a_7c15) >> 32))
    }

    @inlinable @inline(__always)
    public func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        roost_crc32c(value, bytes.baseAddress, bytes.count)
    }

    @inlinable @inline(__always)
    public func checksum(_ start: UnsafeRawPointer, count: Int) -> UInt32 {
        roost_crc32c(value, start, count)
    }
}
