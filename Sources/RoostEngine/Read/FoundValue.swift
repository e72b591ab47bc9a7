import RoostFormat
import RoostSnapshot

/// A key's value as a read found it: resident, or as bytes, which are decompressed where they are
/// used. Not copied: counting what it holds cost a cold read more than its checksums.
///
/// - `owner` keeps `stored` in place: for as long as a call has the value it is held.
package struct FoundValue: ~Copyable {
    /// The decoded value, where it is resident, and its type.
    package let resident: Resident?
    /// Kind and payload as they are stored, valid as long as `owner` is held.
    private let stored: UnsafeRawBufferPointer
    /// The length once decompressed, where what is stored is compressed; then `owner` is the
    /// snapshot. Else zero.
    private let rawCount: UInt32
    private let flags: RecordGroup.Flags
    private let owner: AnyObject?
    /// What must still hold when the decoded value is made resident.
    package let origin: Origin
    /// The key's hash, where the look-up leaves it for `makeResident`.
    let hash: WideHash?

    package enum Origin: Hashable, Sendable {
        case resident
        /// At this address in the log.
        case log(UInt)
        /// In the snapshots of this epoch, the dictionary last emptied then.
        case cold(epoch: UInt64, clearedSequence: UInt64)
        /// In a snapshot that a read view holds.
        case view
    }

    init(_ resident: Resident) {
        self.resident = resident
        stored = .init(start: nil, count: 0)
        rawCount = 0
        flags = .put
        owner = nil
        origin = .resident
        hash = nil
    }

    init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject?, origin: Origin) {
        resident = nil
        stored = bytes
        rawCount = 0
        flags = .put
        self.owner = owner
        self.origin = origin
        hash = nil
    }

    /// A put that was found in `snapshot`.
    init(
        _ record: RecordGroup.Record, in snapshot: SnapshotReader, origin: Origin,
        hash: WideHash? = nil
    ) {
        resident = nil
        stored = record.stored
        flags = record.flags
        // Bounded by the size of values, which is less.
        rawCount = record.flags.contains(.compressed) ? UInt32(record.rawCount) : 0
        owner = snapshot
        self.origin = origin
        self.hash = hash
    }

    /// How many bytes kind and payload are.
    package var valueCount: Int { isCompressed ? Int(rawCount) : stored.count }

    private var isCompressed: Bool { flags.contains(.compressed) }

    /// What the snapshot needs to know of the record to decompress its value.
    private var compressed: RecordGroup.Record {
        RecordGroup.Record(
            flags: flags, shared: 0, suffix: stored, sequence: 0, stored: stored,
            rawCount: Int(rawCount))
    }

    /// When the value expires.
    package var deadline: Deadline {
        if let resident { return resident.deadline }
        if isCompressed { return compressed.deadline }
        return ValueHeader(stored)?.deadline ?? .never
    }

    /// Kind and payload where they are stored as they are, valid as long as this value is; `nil` where
    /// they are compressed. Empty for a resident value.
    package var plainBytes: UnsafeRawBufferPointer? { isCompressed ? nil : stored }

    /// Writes kind and payload, which are compressed, into `target`, which is `valueCount` bytes long.
    ///
    /// - Throws: `.corrupt`, where they do not decompress.
    package func decompress(into target: UnsafeMutableRawBufferPointer) throws {
        // The only initialiser that sets such flags sets `owner` to the snapshot.
        let snapshot = unsafeDowncast(owner!, to: SnapshotReader.self)
        let count = try snapshot.checkedValueCount(of: compressed)
        try snapshot.decompressValue(of: compressed, into: .init(rebasing: target[..<count]))
    }

    /// Kind and payload, decompressed into memory of their own where they have to be: for code that is
    /// generic over the value, which pays more for a result that a closure hands on.
    ///
    /// - Throws: `.corrupt`, where they do not decompress.
    package func decompressed() throws -> DecompressedValue {
        if let plainBytes { return DecompressedValue(bytes: plainBytes, owner: nil) }
        let owner = ValueBuffer.make(count: valueCount)
        let memory = owner.memory(count: valueCount)
        try decompress(into: memory)
        return DecompressedValue(bytes: UnsafeRawBufferPointer(memory), owner: owner)
    }

    /// What `body` makes of kind and payload, which are valid during the call. Not for a resident
    /// value. Other modules, where it would be called unspecialised, have their own on the hot path.
    ///
    /// - Throws: `.corrupt`, where they do not decompress; what `body` throws.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        if let plainBytes { return try body(plainBytes) }
        return try withUnsafeTemporaryAllocation(byteCount: valueCount, alignment: 16) { buffer in
            try decompress(into: buffer)
            return try body(UnsafeRawBufferPointer(buffer))
        }
    }
}

/// The bytes of a value that was found, valid as long as both are held.
package struct DecompressedValue: ~Copyable {
    package let bytes: UnsafeRawBufferPointer
    fileprivate let owner: AnyObject?
}

/// Memory for a value that was decompressed: the object's own, behind its header.
private final class ValueBuffer: ManagedBuffer<Void, UInt8> {
    static func make(count: Int) -> ValueBuffer {
        // What `create` of a subclass makes is of that class.
        unsafeDowncast(create(minimumCapacity: max(count, 1)) { _ in }, to: ValueBuffer.self)
    }

    /// Valid as long as the object is held.
    func memory(count: Int) -> UnsafeMutableRawBufferPointer {
        withUnsafeMutablePointerToElements { .init(start: $0, count: count) }
    }
}
