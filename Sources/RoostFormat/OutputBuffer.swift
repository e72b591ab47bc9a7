/// Growable memory to build bytes in, for one user at a time.
///
/// - `count` bytes from `base` are written; room beyond them comes from `reserve`.
/// - Not a class: every access to one of those is checked for exclusivity at run time, which was
///   a sixth of what writing a snapshot took.
public struct OutputBuffer: ~Copyable {
    public private(set) var base: UnsafeMutableRawPointer
    public private(set) var capacity: Int
    public var count = 0

    public init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// What is written; valid while the buffer lives and is not appended to.
    @inlinable
    public var bytes: UnsafeRawBufferPointer {
        @inline(__always) get { .init(start: base, count: count) }
    }

    /// Room for `more` bytes after what is written; whoever fills it moves `count`.
    @inlinable @inline(__always)
    public mutating func reserve(_ more: Int) -> UnsafeMutableRawPointer {
        if capacity - count < more { grow(more) }
        return base + count
    }

    @inline(never) @usableFromInline
    mutating func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
    }

    @inlinable @inline(__always)
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    public mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    @inlinable @inline(__always)
    public mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        reserve(MemoryLayout<Integer>.size).store(value, at: 0)
        count += MemoryLayout<Integer>.size
    }

    @inlinable @inline(__always)
    public mutating func appendVarint(_ value: UInt64) {
        count += Varint.write(value, to: reserve(Varint.maximumSizeBytes))
    }

    /// Zeros up to the next multiple of `alignment`.
    public mutating func pad(to alignment: Int) {
        let padding = (alignment - count % alignment) % alignment
        reserve(padding).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        count += padding
    }
}
