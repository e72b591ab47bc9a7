/// One put or tombstone inside a frame. docs/FORMAT.md, "Operations".
///
/// An operation knows how far behind its frame's begin it stands, so that its address alone
/// leads to its sequence number.
public struct Operation: Sendable {
    /// On disk: never renumber; zero is never valid.
    public enum Kind: UInt8 {
        case put = 1
        case remove = 2
        /// Removes every key of the dictionary whose prefix is the key.
        case clear = 3
        /// A put of a value with a deadline: a put, with the bit of `expiresBit` set.
        case expiringPut = 5
    }

    @inlinable static var expiresBit: UInt8 { 4 }

    @inlinable public static var headerSizeBytes: Int { 12 }

    /// The address at which the operation begins; never zero.
    public let location: UInt

    @inlinable @inline(__always)
    public init(address: UnsafeRawPointer) { location = UInt(bitPattern: address) }

    @inlinable @inline(__always)
    public init(location: UInt) { self.location = location }

    @inlinable @inline(__always) public var address: UnsafeRawPointer {
        UnsafeRawPointer(bitPattern: location).unsafelyUnwrapped
    }

    /// Asks for the operation ahead of its use, as far as one with a value of 100 bytes goes.
    @inlinable @inline(__always)
    public func prefetchValue() {
        prefetch()
        RoostFormat.prefetch(address + 128)
    }

    /// Looks at every page that the operation stands on, so that one that cannot be read is known
    /// before its bytes are believed.
    @inlinable @inline(__always)
    public func touch() {
        let end = sizeBytes - 1
        // Most are shorter than the smallest page.
        if end >= 4096 { touchInside() }
        RoostFormat.touch(address + end)
    }

    @usableFromInline @inline(never)
    func touchInside() {
        for offset in stride(from: 4096, to: sizeBytes, by: 4096) {
            RoostFormat.touch(address + offset)
        }
    }

    /// Asks for the operation's first bytes ahead of their use.
    @inlinable @inline(__always)
    public func prefetch() {
        RoostFormat.prefetch(address)
        RoostFormat.prefetch(address + 64)
    }

    @inlinable @inline(__always) public var keyField: UInt32 { address.load(UInt32.self, at: 0) }
    @inlinable @inline(__always) public var rawKind: UInt8 { UInt8(keyField >> 24) }
    @inlinable @inline(__always) public var isPut: Bool {
        rawKind & ~Self.expiresBit == Kind.put.rawValue
    }
    @inlinable @inline(__always) public var expires: Bool {
        rawKind == Kind.expiringPut.rawValue
    }
    @inlinable @inline(__always) public var keyCount: Int { Int(keyField & 0xff_ffff) }
    @inlinable @inline(__always) public var valueCount: Int {
        Int(address.load(UInt32.self, at: 4))
    }
    @inlinable @inline(__always) public var frameOffset: Int {
        Int(address.load(UInt32.self, at: 8))
    }

    @inlinable @inline(__always) public var key: UnsafeRawBufferPointer {
        .init(start: address + Self.headerSizeBytes, count: keyCount)
    }

    @inlinable @inline(__always) public var value: UnsafeRawBufferPointer {
        .init(start: address + Self.headerSizeBytes + keyCount, count: valueCount)
    }

    /// When a put's value expires.
    @inlinable @inline(__always) public var deadline: Deadline {
        expires ? ValueHeader.deadline(at: address + Self.headerSizeBytes + keyCount) : .never
    }

    /// Whether the kind says of the value what the value says itself. Its length is checked.
    var isConsistent: Bool {
        guard isPut else { return true }
        let hasFlag = (value.first ?? 0) & ValueHeader.expiresFlag != 0
        return expires == hasFlag && (!expires || valueCount >= ValueHeader.deadlineSizeBytes)
    }

    /// The sequence number of the batch that it belongs to.
    @inlinable @inline(__always) public var sequence: UInt64 {
        (address - frameOffset).load(UInt64.self, at: Frame.sequenceOffset)
    }

    @inlinable @inline(__always) public var sizeBytes: Int {
        Self.headerSizeBytes + keyCount + valueCount
    }

    @inlinable @inline(__always)
    public static func writeHeader(
        to target: UnsafeMutableRawPointer, kind: Kind, keyCount: Int, valueCount: Int,
        frameOffset: Int
    ) {
        target.store(UInt32(keyCount) | UInt32(kind.rawValue) << 24, at: 0)
        target.store(UInt32(valueCount), at: 4)
        target.store(UInt32(frameOffset), at: 8)
    }
}
