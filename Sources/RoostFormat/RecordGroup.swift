/// A few neighbouring records of a snapshot under one checksum, keys front-coded: each says how much
/// it shares with the one before, the first with the snapshot's `FirstKey`. docs/FORMAT.md, "Groups".
///
/// ```
/// offset  size  field
///      0     4  CRC-32C of all that follows, padding excluded, seeded by snapshot and group number
///      4     4  length in bytes, header included, padding excluded
///      8     1  bits 0-4: record count; bits 5-7: how many bytes a sequence number takes, 0: a varint
///      9     v  what is added to each sequence number (varint): the least
///              short records: flags, key shape, sequence - least, [puts: stored length unless it is
///                       the last put's, [compressed: raw length likewise]], suffix, stored bytes
///              long records: flags, shared, suffix length, sequence - least, [puts: stored length,
///                       [compressed: raw length]], suffix, stored bytes
/// ```
public enum RecordGroup {
    /// A group ends with this one. Every look-up checks a whole group: fewer records cost space, more
    /// cost time. docs/decisions/0059.
    package static let maximumRecordCount = 12
    /// A group ends with the record that takes it past this.
    package static let targetSizeBytes = 1536
    package static let headerSizeBytes = 9
    package static let alignment = 8

    /// `count` rounded up to where something of a snapshot may begin.
    package static func padded(_ count: Int) -> Int {
        (count + alignment - 1) / alignment * alignment
    }

    /// What bits of the ninth byte count records.
    static let countMask: UInt8 = 0x1f
    static let widthShift: UInt8 = 5

    /// Not an `OptionSet`, whose generic forms other modules would call unspecialised, for every
    /// record.
    public struct Flags: Sendable, Equatable {
        public let rawValue: UInt8

        @inlinable
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable public static var put: Flags { Flags(rawValue: 1) }
        @inlinable public static var tombstone: Flags { Flags(rawValue: 2) }
        /// An LZ4 block.
        @inlinable public static var compressed: Flags { Flags(rawValue: 4) }
        /// The stored bytes begin with the kind and the deadline, never compressed.
        @inlinable public static var expires: Flags { Flags(rawValue: 8) }
        /// The block of the value with twelve zeros after it, less the sequence of just these.
        @inlinable static var compressedLessSequence: Flags { Flags(rawValue: 0x10) }
        /// The same, less the zeros, which end the last sequence.
        @inlinable static var compressedLessZeros: Flags { Flags(rawValue: 0x14) }
        @inlinable static var compression: UInt8 { 0x14 }

        /// How the record is laid out, which nobody but its group looks at.
        static var hasLastStoredCount: Flags { Flags(rawValue: 0x20) }
        static var hasLastRawCount: Flags { Flags(rawValue: 0x40) }
        static var isShort: Flags { Flags(rawValue: 0x80) }
        /// Those that say what a record is.
        static var meaning: UInt8 { 0x1f }

        @inlinable
        public func contains(_ other: Flags) -> Bool { rawValue & other.rawValue == other.rawValue }

        /// Whether the stored bytes are an LZ4 block, in one of three ways.
        @inlinable
        public var isCompressed: Bool { rawValue & Self.compression != 0 }

        /// How many bytes of the block are left out: its end, which is always the same.
        @inlinable public var leftOutCount: Int {
            @inline(__always) get {
                switch rawValue & Self.compression {
                case Self.compressedLessSequence.rawValue: 13
                case Self.compressedLessZeros.rawValue: 12
                default: 0
                }
            }
        }

        /// Of a block that has this many bytes left out.
        package static func compressed(leftOutCount: Int) -> Flags {
            switch leftOutCount {
            case 13: .compressedLessSequence
            case 12: .compressedLessZeros
            default: .compressed
            }
        }

        @inlinable
        public func union(_ other: Flags) -> Flags { Flags(rawValue: rawValue | other.rawValue) }
    }

    /// How many records a group has, whose checksum holds.
    package static func recordCount(_ group: UnsafeRawBufferPointer) -> Int {
        group.count < headerSizeBytes ? 0 : Int(group[8] & countMask)
    }

    /// A record as it stands in its group: its key is `shared` bytes of the key before it, then
    /// `suffix`.
    package struct Record {
        package var flags: Flags
        package var shared: Int
        package var suffix: UnsafeRawBufferPointer
        package var sequence: UInt64
        package var stored: UnsafeRawBufferPointer
        /// The value's length once decompressed.
        package var rawCount: Int

        package init(
            flags: Flags, shared: Int, suffix: UnsafeRawBufferPointer, sequence: UInt64,
            stored: UnsafeRawBufferPointer, rawCount: Int
        ) {
            self.flags = flags
            self.shared = shared
            self.suffix = suffix
            self.sequence = sequence
            self.stored = stored
            self.rawCount = rawCount
        }

        package var isPut: Bool { flags.contains(.put) }

        /// When a put's value expires.
        package var deadline: Deadline {
            // A record that expires has the bytes: the cursor has looked.
            flags.contains(.expires) ? ValueHeader.deadline(at: stored.baseAddress!) : .never
        }

        /// Of a value that is compressed.
        package var compressed: CompressedValue { .init(stored, flags, rawCount: rawCount) }
    }
}
