/// One checksummed record of the log: one batch. docs/FORMAT.md, "Frames".
///
/// ```
/// offset  size  field
///      0     4  CRC-32C of all that follows, padding excluded, seeded by the segment
///      4     4  payload length in bytes
///      8     8  sequence number
///     16     4  how many sequence numbers up to this one were not yet known to be on disk
///     20     4  flags
///     24     n  operations
/// ```
/// Frames begin at multiples of eight; the padding is zero.
public enum Frame {
    @inlinable public static var headerSizeBytes: Int { 24 }
    @inlinable public static var sequenceOffset: Int { 8 }
    @inlinable public static var alignment: Int { 8 }

    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt32
        @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

        @inlinable public static var none: Flags { Flags(rawValue: 0) }

        /// Somebody waits for this batch to be on disk: recovery syncs it before it shows it.
        @inlinable public static var synced: Flags { Flags(rawValue: 1) }
        /// The log was closed after this frame, which holds no operations.
        @inlinable public static var seal: Flags { Flags(rawValue: 2) }
    }

    @inlinable @inline(__always)
    public static func sizeBytes(payloadCount: Int) -> Int {
        (headerSizeBytes + payloadCount + alignment - 1) & ~(alignment - 1)
    }

    /// Writes the header over a payload that is in place, the checksum last.
    @inlinable @inline(__always)
    public static func finish(
        at start: UnsafeMutableRawPointer, payloadCount: Int, sequence: UInt64,
        durableSequence: UInt64, flags: Flags, seed: ChecksumSeed
    ) {
        start.store(UInt32(payloadCount), at: 4)
        start.store(sequence, at: sequenceOffset)
        start.store(UInt32(clamping: sequence - durableSequence), at: 16)
        start.store(flags.rawValue, at: 20)
        let checksum = seed.checksum(
            UnsafeRawPointer(start) + 4, count: headerSizeBytes - 4 + payloadCount)
        start.store(checksum, at: 0)
    }

    /// A frame whose length and checksum hold.
    public struct View {
        public let start: UnsafeRawPointer
        public let payloadCount: Int

        public var sequence: UInt64 { start.load(UInt64.self, at: Frame.sequenceOffset) }
        public var flags: Flags { Flags(rawValue: start.load(UInt32.self, at: 20)) }
        public var sizeBytes: Int { Frame.sizeBytes(payloadCount: payloadCount) }

        /// Every batch up to this one was on disk when the frame was written. Where the
        /// distance did not fit its field, nothing is claimed.
        public var durableSequence: UInt64 {
            let distance = start.load(UInt32.self, at: 16)
            return distance == .max ? 0 : sequence - min(sequence, UInt64(distance))
        }

        /// Calls `body` with each operation; `false` where the payload does not divide into
        /// operations that keep the limits, which a passing checksum makes the writer's fault.
        public func forEachOperation(_ body: (Operation) throws -> Void) rethrows -> Bool {
            var offset = Frame.headerSizeBytes
            let end = Frame.headerSizeBytes + payloadCount
            while offset < end {
                guard end - offset >= Operation.headerSizeBytes else { return false }
                let operation = Operation(address: start + offset)
                guard Operation.Kind(rawValue: operation.rawKind) != nil,
                    operation.frameOffset == offset,
                    operation.keyCount > 0, operation.keyCount <= Limits.recordKeySizeBytes,
                    operation.valueCount <= Limits.valueSizeBytes + Limits.valueOverheadBytes,
                    end - offset >= operation.sizeBytes, operation.isConsistent,
                    // The dictionary's name is whole.
                    operation.keyCount > Int(operation.key[0])
                else { return false }
                try body(operation)
                offset += operation.sizeBytes
            }
            return true
        }
    }

    /// The frame at `offset`, which was checked before; `nil` from `limit` on.
    package static func unchecked(
        in bytes: UnsafeRawBufferPointer, at offset: Int, limit: Int
    ) -> View? {
        guard min(limit, bytes.count) - offset >= headerSizeBytes else { return nil }
        let start = bytes.baseAddress! + offset
        return View(start: start, payloadCount: Int(start.load(UInt32.self, at: 4)))
    }

    /// The frame at `offset` of a segment's `bytes`, or `nil` where none stands that checks.
    public static func view(
        in bytes: UnsafeRawBufferPointer, at offset: Int, seed: ChecksumSeed
    ) -> View? {
        guard bytes.count - offset >= headerSizeBytes else { return nil }
        let start = bytes.baseAddress! + offset
        let payloadCount = Int(start.load(UInt32.self, at: 4))
        guard payloadCount <= Limits.framePayloadSizeBytes,
            payloadCount <= bytes.count - offset - headerSizeBytes,
            start.load(UInt64.self, at: sequenceOffset) != 0,
            seed.checksum(start + 4, count: headerSizeBytes - 4 + payloadCount)
                == start.load(UInt32.self, at: 0)
        else { return nil }
        return View(start: start, payloadCount: payloadCount)
    }
}
