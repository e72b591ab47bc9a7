/// What stands before a value's payload: the kind, and where the kind's flags say so a deadline
/// and a version. docs/FORMAT.md, "Values".
public struct ValueHeader: Sendable, Equatable {
    /// Flags in the kind's byte; never a kind's own bits.
    @inlinable public static var expiresFlag: UInt8 { 0x80 }
    @inlinable public static var versionFlag: UInt8 { 0x40 }
    @inlinable public static var flags: UInt8 { 0xc0 }

    /// The kind's byte and the deadline, of a value that expires.
    @inlinable public static var deadlineSizeBytes: Int { 9 }

    /// A `ValueKind`'s raw value, or one that this version does not know.
    public var kind: UInt8
    public var deadline = Deadline.never
    /// What the value's type was at when it was written; 1 where the value does not say.
    public var version: UInt32 = 1
    /// What the header takes.
    public private(set) var sizeBytes = 1

    public init(kind: UInt8, deadline: Deadline = .never, version: UInt32 = 1) {
        self.kind = kind
        self.deadline = deadline
        self.version = version
        if deadline != .never { sizeBytes += 8 }
        if version != 1 { sizeBytes += Varint.sizeBytes(of: UInt64(version)) }
    }

    /// The header of a stored value; `nil` where the bytes end before it does, or make no sense.
    public init?(_ stored: UnsafeRawBufferPointer) {
        guard let first = stored.first else { return nil }
        kind = first & ~Self.flags
        if first & Self.expiresFlag != 0 {
            guard stored.count >= Self.deadlineSizeBytes else { return nil }
            deadline = Self.deadline(at: stored.baseAddress!)
            sizeBytes += 8
        }
        if first & Self.versionFlag != 0 {
            var offset = sizeBytes
            guard let number = Varint.read(stored, &offset), number > 1,
                let version = UInt32(exactly: number)
            else { return nil }
            self.version = version
            sizeBytes = offset
        }
    }

    /// The deadline of a value that is known to have one.
    @inlinable @inline(__always)
    public static func deadline(at value: UnsafeRawPointer) -> Deadline {
        Deadline(milliseconds: value.load(UInt64.self, at: 1))
    }

    /// How many bytes of a stored value are never compressed, so that its deadline can be read
    /// where it stands.
    package static func uncompressedCount(_ stored: UnsafeRawBufferPointer) -> Int {
        guard stored.count >= deadlineSizeBytes, stored[0] & expiresFlag != 0 else { return 0 }
        return deadlineSizeBytes
    }

    /// The bytes of the header.
    public var bytes: [UInt8] {
        var bytes = [kind]
        if deadline != .never {
            bytes[0] |= Self.expiresFlag
            withUnsafeBytes(of: deadline.milliseconds.littleEndian) { bytes.append(contentsOf: $0) }
        }
        if version != 1 {
            bytes[0] |= Self.versionFlag
            var rest = version
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        return bytes
    }
}
