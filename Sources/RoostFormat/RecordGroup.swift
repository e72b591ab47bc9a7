/// Up to sixteen neighbouring records of a snapshot under one checksum, keys front-coded
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
    package static let maximumRecordCount = 16
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

    /// Steps through a group whose checksum holds; still believes no length.
    package struct Cursor {
        private let bytes: UnsafeRawBufferPointer
        private var offset: Int
        private var remaining: Int
        private let baseSequence: UInt64

        /// `nil` where the group's header makes no sense.
        package init?(_ group: UnsafeRawBufferPointer) {
            guard group.count > headerSizeBytes else { return nil }
            bytes = group
            remaining = Int(group[8])
            offset = headerSizeBytes
            guard remaining > 0, let base = Varint.read(bytes, &offset) else { return nil }
            baseSequence = base
        }

        package var isAtEnd: Bool { remaining == 0 }
        var remainingCount: Int { remaining }

        /// The next record; `nil` where the bytes make no sense. Not to be called at the end.
        @inline(__always)
        package mutating func next() -> Record? {
            guard offset < bytes.count else { return nil }
            let flags = Flags(rawValue: bytes[offset])
            offset += 1
            guard let shared = Varint.read(bytes, &offset),
                let suffixCount = Varint.read(bytes, &offset),
                let delta = Varint.read(bytes, &offset),
                shared <= Limits.recordKeySizeBytes, suffixCount <= Limits.recordKeySizeBytes,
                shared + suffixCount <= Limits.recordKeySizeBytes, shared + suffixCount > 0
            else { return nil }
            var storedCount: UInt64 = 0
            var rawCount: UInt64 = 0
            if flags.contains(.put) {
                guard let stored = Varint.read(bytes, &offset) else { return nil }
                storedCount = stored
                rawCount = stored
                if flags.contains(.compressed) {
                    guard let raw = Varint.read(bytes, &offset) else { return nil }
                    rawCount = raw
                }
                let limit = UInt64(Limits.valueSizeBytes + Limits.valueOverheadBytes)
                guard storedCount <= limit, rawCount <= limit else { return nil }
                let least = UInt64(flags.contains(.expires) ? ValueHeader.deadlineSizeBytes : 0)
                guard storedCount >= least, rawCount >= least else { return nil }
            } else if !flags.contains(.tombstone) || flags.contains(.expires) {
                return nil
            }
            guard UInt64(bytes.count - offset) >= suffixCount + storedCount else { return nil }
            let suffixStart = offset
            offset += Int(suffixCount + storedCount)
            remaining -= 1
            let sequence = baseSequence &+ UInt64(bitPattern: Varint.unzigzag(delta))
            let start = bytes.baseAddress! + suffixStart
            return Record(
                flags: flags, shared: Int(shared),
                suffix: .init(start: start, count: Int(suffixCount)), sequence: sequence,
                stored: .init(start: start + Int(suffixCount), count: Int(storedCount)),
                rawCount: Int(rawCount))
        }
    }

    package enum Search {
        case found(Record)
        case absent
        case damaged
    }

    /// Finds `key` in a group whose checksum holds, without building the keys before it: while
    /// the keys are smaller than `key`, only a record that shares exactly the matched prefix can
    /// change how much matches.
    package static func find(_ key: UnsafeRawBufferPointer, in group: UnsafeRawBufferPointer)
        -> Search
    {
        guard var cursor = Cursor(group) else { return .damaged }
        var matched = 0
        var previousCount = 0
        while !cursor.isAtEnd {
            guard let record = cursor.next(), record.shared <= previousCount else {
                return .damaged
            }
            previousCount = record.shared + record.suffix.count
            if record.shared > matched { continue }
            if record.shared < matched { return .absent }
            var index = 0
            let limit = min(record.suffix.count, key.count - matched)
            while index < limit && record.suffix[index] == key[matched + index] { index += 1 }
            if index == record.suffix.count && matched + index == key.count {
                return .found(record)
            }
            // The key ends within the record's, or is smaller at the first difference.
            if matched + index == key.count { return .absent }
            if index < record.suffix.count && key[matched + index] < record.suffix[index] {
                return .absent
            }
            matched += index
        }
        return .absent
    }
}
