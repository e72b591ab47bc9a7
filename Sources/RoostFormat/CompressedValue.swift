/// The stored bytes of a compressed value, and what is needed to decompress them. Nothing in it is
/// believed yet.
public struct CompressedValue {
    public let stored: UnsafeRawBufferPointer
    public let flags: RecordGroup.Flags
    /// The value's length once decompressed, as its record says.
    public let rawCount: Int

    @inlinable @inline(__always)
    public init(_ stored: UnsafeRawBufferPointer, _ flags: RecordGroup.Flags, rawCount: Int) {
        self.stored = stored
        self.flags = flags
        self.rawCount = rawCount
    }

    /// Whether the length may be believed: LZ4 gives at most 255 bytes for one, and more is a lie that
    /// would cost memory.
    @inlinable public var isCountSound: Bool {
        @inline(__always) get { rawCount / 255 <= stored.count }
    }

    /// How many of the stored bytes stand before what is compressed.
    @inlinable public var uncompressedCount: Int {
        @inline(__always) get { flags.contains(.expires) ? ValueHeader.deadlineSizeBytes : 0 }
    }
}
