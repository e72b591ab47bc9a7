import RoostIO

/// Appends encoded values to a growing run of bytes.
///
/// Invariants:
/// - `base <= cursor <= end`, and the bytes from `base` to `cursor` are initialised.
/// - `ownsBuffer` says whether `base` was allocated here; a buffer that was lent is never freed,
///   and is left behind at the first growth.
/// - Once `isTooDeep` or `isRefused` is set the bytes are worthless and are never handed out.
public struct BinaryWriter: ~Copyable {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var cursor: UnsafeMutableRawPointer
    @usableFromInline var end: UnsafeMutableRawPointer
    @usableFromInline var ownsBuffer: Bool
    @usableFromInline var isTooDeep = false
    /// A value found that it cannot be written.
    @usableFromInline var isRefused = false
    @usableFromInline var depth = 0

    /// Begins in memory that the caller lends for the writer's life.
    @usableFromInline
    init(lending buffer: UnsafeMutableRawBufferPointer) {
        precondition(!buffer.isEmpty)
        base = buffer.baseAddress.unsafelyUnwrapped
        cursor = base
        end = base + buffer.count
        ownsBuffer = false
    }

    /// Begins in memory of its own.
    @usableFromInline
    init(capacity: Int) {
        base = .allocate(byteCount: max(capacity, 1), alignment: 16)
        cursor = base
        end = base + max(capacity, 1)
        ownsBuffer = true
    }

    deinit {
        if ownsBuffer { base.deallocate() }
    }

    /// The number of bytes written so far.
    @inlinable
    public var count: Int { cursor - base }

    /// Makes room for `byteCount` more bytes.
    @inlinable @inline(__always)
    mutating func reserve(_ byteCount: Int) {
        if end - cursor < byteCount { grow(by: byteCount) }
    }

    /// Makes encoding fail when it is over, for a value that cannot be written.
    package mutating func refuse() { isRefused = true }

    @usableFromInline @inline(never)
    mutating func grow(by byteCount: Int) {
        let used = cursor - base
        let capacity = max((end - base) * 2, used + byteCount)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: used)
        if ownsBuffer { base.deallocate() }
        base = larger
        cursor = larger + used
        end = larger + capacity
        ownsBuffer = true
    }
}

extension BinaryWriter {
    /// Bytes of stack that encoding begins with, before it asks for heap memory.
    @usableFromInline static var stackByteCount: Int { 1024 }

    /// The bytes of `value`.
    ///
    /// - Throws: `RoostError` with `.encodingFailed` when the value is nested deeper than 512
    ///   levels, and could not be read back.
    /// - Complexity: O(size); one allocation for values of up to 1 KiB.
    @inlinable
    public static func encode(_ value: some BinaryCodable) throws -> [UInt8] {
        try withEncodedBytes(of: value) { [UInt8]($0) }
    }

    /// Calls `body` with the bytes of `value`, which are valid during the call only.
    ///
    /// - Throws: as ``encode(_:)``, and what `body` throws.
    /// - Complexity: O(size); no allocation for values of up to 1 KiB.
    @inlinable
    public static func withEncodedBytes<Value: BinaryCodable, Result>(
        of value: Value, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(byteCount: stackByteCount, alignment: 16) { buffer in
            var writer = BinaryWriter(lending: buffer)
            value.encode(into: &writer)
            guard !writer.isTooDeep else { throw encodingTooDeep(Value.self) }
            guard !writer.isRefused else { throw encodingRefused(Value.self) }
            return try body(UnsafeRawBufferPointer(start: writer.base, count: writer.count))
        }
    }
}
