/// Growable memory to build bytes in, for one user at a time.
///
/// - `count` bytes from `base` are written; room beyond them comes from `reserve`.
package final class OutputBuffer {
    package private(set) var base: UnsafeMutableRawPointer
    package private(set) var capacity: Int
    package var count = 0

    package init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    package var bytes: UnsafeRawBufferPointer { .init(start: base, count: count) }

    /// Room for `more` bytes behind what is written; whoever fills it moves `count`.
    @inline(__always)
    package func reserve(_ more: Int) -> UnsafeMutableRawPointer {
        if capacity - count < more { grow(more) }
        return base + count
    }

    @inline(never)
    private func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
    }

    @inline(__always)
    package func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    package func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    @inline(__always)
    package func append<Integer: FixedWidthInteger>(_ value: Integer) {
        reserve(MemoryLayout<Integer>.size).store(value, at: 0)
        count += MemoryLayout<Integer>.size
    }

    @inline(__always)
    package func appendVarint(_ value: UInt64) {
        count += Varint.write(value, to: reserve(Varint.maximumSizeBytes))
    }

    /// Zeros up to the next multiple of `alignment`.
    package func pad(to alignment: Int) {
        let padding = (alignment - count % alignment) % alignment
        reserve(padding).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        count += padding
    }
}
