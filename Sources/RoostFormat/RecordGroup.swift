/// A few neighbouring records of a snapshot under one checksum, keys front-coded
/// (each says how much it shares with the one before). docs/FORMAT.md, "Groups".
///
/// ```
/// offset  size  field
///      0     4  CRC-32C of all that follows, padding excluded, seeded by snapshot and group number
///      4     4  length in bytes, header included, padding excluded
///      8     1  record count
///      9     v  sequence number of the first record (varint)
///              records: flags, shared, suffix length, sequence - first (zigzag),
///                       [puts: stored length, [compressed: raw length]], suffix, stored bytes
/// ```
public enum RecordGroup {
    /// A group ends with this one. Every look-up checks a whole group: fewer records cost space, more
    /// cost time. docs/decisions/0056.
    package static let maximumRecordCount = 8
    /// A group ends with the record that takes it past this.
    package static let targetSizeBytes = 1536
    package static let headerSizeBytes = 9
    package static let alignment = 8

    /// Not an `OptionSet`, whose generic forms other modules would call unspecialised, for every
    /// record.
    public struct Flags: Sendable, Equatable {
        public let rawValue: UInt8

        @inlinable
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable public static var put: Flags { Flags(rawValue: 1) }
        @inlinable public static var tombstone: Flags { Flags(rawValue: 2) }
        @inlinable public static var compressed: Flags { Flags(rawValue: 4) }
        /// The stored bytes begin with the kind and the deadline, never compressed.
        @inlinable public static var expires: Flags { Flags(rawValue: 8) }

        @inlinable
        public func contains(_ other: Flags) -> Bool { rawValue & other.rawValue == other.rawValue }

        @inlinable
        public func union(_ other: Flags) -> Flags { Flags(rawValue: rawValue | other.rawValue) }
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

        /// How many of the stored bytes stand before what is compressed.
        package var uncompressedCount: Int {
            flags.contains(.expires) ? ValueHeader.deadlineSizeBytes : 0
        }
    }
}
