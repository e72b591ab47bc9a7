import CRoost

/// CRC-32C with a seed that says where the bytes belong, so that intact bytes in a wrong place
/// never pass.
package struct ChecksumSeed: Sendable, Equatable {
    package let value: UInt32

    package init(_ value: UInt32) { self.value = value }

    /// The seed for the `index`th part of what this seed covers.
    @inline(__always)
    package func part(_ index: UInt64) -> ChecksumSeed {
        // Fibonacci hashing spreads neighbouring indices over all bits.
        ChecksumSeed(value ^ UInt32(truncatingIfNeeded: (index &* 0x9e37_79b9_7f4a_7c15) >> 32))
    }

    @inline(__always)
    package func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        roost_crc32c(value, bytes.baseAddress, bytes.count)
    }

    @inline(__always)
    package func checksum(_ start: UnsafeRawPointer, count: Int) -> UInt32 {
        roost_crc32c(value, start, count)
    }
}
