/// A record as an ordered scan compares it and hands it out. It takes one line of the cache.
public struct RecordHead {
    /// The sixteen bytes after what all keys of the scan share, as a number, so that the scan's next
    /// key has the smallest: complemented in a descending scan.
    public var leading: UInt128
    @usableFromInline var keyBase: UnsafeRawPointer
    @usableFromInline var storedBase: UnsafeRawPointer
    @usableFromInline var knownSequence: UInt64
    @usableFromInline var keyCount: UInt32
    @usableFromInline var storedCount: UInt32
    @usableFromInline var rawSizeBytes: UInt32
    public let flags: RecordGroup.Flags

    /// Set where the record is an operation, whose sequence number stands with its frame: another
    /// look at memory, for those who ask. Never in a snapshot.
    @inlinable static var isOperation: RecordGroup.Flags { .init(rawValue: 0x80) }

    @inlinable @inline(__always)
    public init(_ operation: Operation, prefixCount: Int, mask: UInt128) {
        let key = operation.key
        leading = leadingNumber(key, from: prefixCount) ^ mask
        keyBase = key.baseAddress.unsafelyUnwrapped
        keyCount = UInt32(truncatingIfNeeded: key.count)
        storedBase = keyBase + key.count
        storedCount = UInt32(truncatingIfNeeded: operation.valueCount)
        rawSizeBytes = storedCount
        knownSequence = 0
        let kind: RecordGroup.Flags = operation.isPut ? .put : .tombstone
        flags = kind.union(Self.isOperation).union(
            operation.expires ? .expires : .init(rawValue: 0))
    }

    @inline(__always)
    init(
        _ record: RecordGroup.Record, key: UnsafeRawBufferPointer, prefixCount: Int, mask: UInt128
    ) {
        leading = leadingNumber(key, from: prefixCount) ^ mask
        keyBase = key.baseAddress.unsafelyUnwrapped
        keyCount = UInt32(truncatingIfNeeded: key.count)
        storedBase = record.stored.baseAddress.unsafelyUnwrapped
        storedCount = UInt32(truncatingIfNeeded: record.stored.count)
        rawSizeBytes = UInt32(truncatingIfNeeded: record.rawCount)
        knownSequence = record.sequence
        // A record's flags have no bit for operations.
        flags = record.flags
    }

    @inlinable public var key: UnsafeRawBufferPointer {
        @inline(__always) get { .init(start: keyBase, count: Int(keyCount)) }
    }

    @inlinable public var stored: UnsafeRawBufferPointer {
        @inline(__always) get { .init(start: storedBase, count: Int(storedCount)) }
    }

    /// The value's length once decompressed.
    @inlinable public var rawCount: Int { Int(rawSizeBytes) }

    @inlinable public var sequence: UInt64 {
        guard flags.contains(Self.isOperation) else { return knownSequence }
        return Operation(address: keyBase - Operation.headerSizeBytes).sequence
    }

    /// When a put's value expires.
    @inlinable public var deadline: Deadline {
        // Whoever made the head has looked that the value is as long.
        flags.contains(.expires) ? ValueHeader.deadline(at: storedBase) : .never
    }

    /// Of a value that is compressed.
    @inlinable public var compressed: CompressedValue {
        @inline(__always) get { .init(stored, flags, rawCount: rawCount) }
    }

    /// After the key was moved to `target`.
    mutating func moveKey(to target: UnsafeRawPointer) { keyBase = target }
}
