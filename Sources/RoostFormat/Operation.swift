/// One put or tombstone inside a frame. docs/FORMAT.md, "Operations".
///
/// An operation knows how far behind its frame's begin it stands, so that its address alone
/// leads to its sequence number.
package struct Operation: Sendable {
    /// On disk: never renumber; zero is never valid.
    package enum Kind: UInt8 {
        case put = 1
        case remove = 2
        /// Removes every key of the dictionary whose prefix is the key.
        case clear = 3
    }

    package static let headerSizeBytes = 12

    /// The address at which the operation begins; never zero.
    package let location: UInt

    @inline(__always)
    package init(address: UnsafeRawPointer) { location = UInt(bitPattern: address) }

    @inline(__always)
    package init(location: UInt) { self.location = location }

    @inline(__always) private var address: UnsafeRawPointer {
        UnsafeRawPointer(bitPattern: location).unsafelyUnwrapped
    }

    @inline(__always) private var keyField: UInt32 { address.load(UInt32.self, at: 0) }
    @inline(__always) package var rawKind: UInt8 { UInt8(keyField >> 24) }
    @inline(__always) package var isPut: Bool { rawKind == Kind.put.rawValue }
    @inline(__always) package var keyCount: Int { Int(keyField & 0xff_ffff) }
    @inline(__always) package var valueCount: Int { Int(address.load(UInt32.self, at: 4)) }
    @inline(__always) package var frameOffset: Int { Int(address.load(UInt32.self, at: 8)) }

    @inline(__always) package var key: UnsafeRawBufferPointer {
        .init(start: address + Self.headerSizeBytes, count: keyCount)
    }

    @inline(__always) package var value: UnsafeRawBufferPointer {
        .init(start: address + Self.headerSizeBytes + keyCount, count: valueCount)
    }

    /// The sequence number of the batch that it belongs to.
    @inline(__always) package var sequence: UInt64 {
        (address - frameOffset).load(UInt64.self, at: Frame.sequenceOffset)
    }

    @inline(__always) package var sizeBytes: Int { Self.headerSizeBytes + keyCount + valueCount }

    @inline(__always)
    package static func writeHeader(
        to target: UnsafeMutableRawPointer, kind: Kind, keyCount: Int, valueCount: Int,
        frameOffset: Int
    ) {
        target.store(UInt32(keyCount) | UInt32(kind.rawValue) << 24, at: 0)
        target.store(UInt32(valueCount), at: 4)
        target.store(UInt32(frameOffset), at: 8)
    }
}
