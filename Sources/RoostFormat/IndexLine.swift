import CRoost

/// The hash index of a snapshot: lines of 64 bytes, one cache line each, checksummed each.
/// docs/FORMAT.md, "Index".
///
/// ```
/// offset  size  field
///      0     4  CRC-32C of bytes 4-63, seeded by snapshot and line number
///      4     4  bits 0-3 entry count, bit 4: some of this line's entries stand in the next, bits
///               5-31: a mark for each of them
///      8    56  fourteen entries of four bytes: the group's number in the low bits, above it
///               as many bits of the key's hash as remain
/// ```
/// The hash bits in the entries make the index its own filter: a look-up of an absent key
/// touches a record once in some thousand times.
/// Public, as the compiler inlines nothing of a `package` type into another module.
public enum IndexLine {
    @inlinable public static var sizeBytes: Int { 64 }
    @inlinable public static var capacity: Int { 14 }
    /// A look-up takes 1.12 lines on average; one of eleven entries 1.05, one of thirteen 1.4 and, of
    /// a key that is not there, 2. docs/decisions/0059.
    package static let targetEntryCount = 12
    @inlinable public static var overflowBit: UInt32 { 16 }
    @inlinable static var overflowShift: UInt32 { 5 }

    package static func lineCount(recordCount: Int) -> Int {
        max(1, (recordCount + targetEntryCount - 1) / targetEntryCount)
    }

    /// How many low bits of an entry hold the group's number.
    package static func groupBits(groupCount: Int) -> Int {
        max(1, Int.bitWidth - max(groupCount - 1, 1).leadingZeroBitCount)
    }

    /// The line that a hash belongs to: its high half scaled to the line count.
    @inlinable @inline(__always)
    public static func home(of hash: UInt64, lineCount: Int) -> Int {
        Int(((hash >> 32) &* UInt64(lineCount)) >> 32)
    }

    @inlinable @inline(__always)
    public static func tag(of hash: UInt64, groupBits: Int) -> UInt32 {
        // Multiplied, so that the tag is not made of the bits that choose the line.
        UInt32(truncatingIfNeeded: (hash &* 0x9e37_79b9_7f4a_7c15) >> 24) << UInt32(groupBits)
    }

    /// Builds all lines for `entries` into `target`, which is zeroed and `lineCount` lines long.
    package static func build(
        _ entries: [(hash: UInt64, group: UInt32)], groupCount: Int, lineCount: Int,
        seed: ChecksumSeed, into target: UnsafeMutableRawPointer
    ) {
        let groupBits = groupBits(groupCount: groupCount)
        for entry in entries {
            var line = home(of: entry.hash, lineCount: lineCount)
            while true {
                let start = target + line * sizeBytes
                let state = start.load(fromByteOffset: 4, as: UInt32.self)
                let count = Int(state & 15)
                if count < capacity {
                    start.store(
                        tag(of: entry.hash, groupBits: groupBits) | entry.group, at: 8 + 4 * count)
                    start.store(state + 1, at: 4)
                    break
                }
                start.store(state | overflowBit | overflowMark(of: entry.hash), at: 4)
                line = line + 1 == lineCount ? 0 : line + 1
            }
        }
        for line in 0..<lineCount {
            let start = target + line * sizeBytes
            start.store(seed.part(UInt64(line)).checksum(start + 4, count: sizeBytes - 4), at: 0)
        }
    }

    @inlinable @inline(__always)
    public static func isIntact(_ start: UnsafeRawPointer, line: Int, seed: ChecksumSeed) -> Bool {
        seed.part(UInt64(line)).checksum(start + 4, count: sizeBytes - 4)
            == start.load(UInt32.self, at: 0)
            && start.load(UInt32.self, at: 4) & 15 <= UInt32(capacity)
    }

    /// Whether the entry of a hash may stand in the next line.
    @inlinable @inline(__always)
    public static func overflows(_ start: UnsafeRawPointer, hash: UInt64) -> Bool {
        let state = start.load(UInt32.self, at: 4)
        guard state & overflowBit != 0 else { return false }
        return state & overflowMark(of: hash) != 0
    }

    /// The mark that an entry leaves in each line that it did not fit into: one of 27 bits.
    @inlinable @inline(__always)
    static func overflowMark(of hash: UInt64) -> UInt32 {
        // The bits above chose the line.
        let bits = UInt32(truncatingIfNeeded: hash >> 16) & 0xffff
        return 1 << (overflowShift + ((bits * 27) >> 16))
    }

    package static func count(_ start: UnsafeRawPointer) -> Int {
        Int(start.load(UInt32.self, at: 4) & 15)
    }

    /// Which of the line's entries have `tag` above the group's number: bit 0 for the first.
    @inlinable @inline(__always)
    public static func matches(_ start: UnsafeRawPointer, tag: UInt32, groupBits: Int) -> UInt32 {
        let count = Int(start.load(UInt32.self, at: 4) & 15)
        let matches = roost_matches(start, tag, ~UInt32(0) << UInt32(groupBits))
        // The line's first eight bytes are no entries.
        return matches >> 2 & ((1 << UInt32(count)) - 1)
    }

    @inlinable @inline(__always)
    public static func entry(_ start: UnsafeRawPointer, _ index: Int) -> UInt32 {
        start.load(UInt32.self, at: 8 + 4 * index)
    }
}

/// Where a snapshot's index is in memory. Only numbers, so that asking for a line counts no
/// reference; a request for memory that is gone has no effect.
public struct SnapshotIndexPlace: Sendable {
    @usableFromInline let address: UInt
    @usableFromInline let lineCount: Int

    package init(address: UInt, lineCount: Int) {
        self.address = address
        self.lineCount = lineCount
    }

    package static let none = SnapshotIndexPlace(address: 0, lineCount: 0)

    /// Asks for the line where the look-up of a hash begins.
    @inlinable @inline(__always)
    public func prefetch(hash: UInt64) {
        let line = IndexLine.home(of: hash, lineCount: lineCount)
        let address = address &+ UInt(bitPattern: line &* IndexLine.sizeBytes)
        roost_prefetch(UnsafeRawPointer(bitPattern: address))
    }
}

/// Where each group begins: lines of 64 bytes of a checksum and fifteen offsets in units of
/// eight bytes. docs/FORMAT.md, "Group offsets".
public enum OffsetLine {
    @inlinable public static var sizeBytes: Int { 64 }
    package static let capacity = 15

    package static func lineCount(groupCount: Int) -> Int { (groupCount + capacity - 1) / capacity }

    package static func build(
        _ offsets: [UInt32], seed: ChecksumSeed, into target: UnsafeMutableRawPointer
    ) {
        for (index, offset) in offsets.enumerated() {
            target.store(offset, at: index / capacity * sizeBytes + 4 + index % capacity * 4)
        }
        for line in 0..<lineCount(groupCount: offsets.count) {
            let start = target + line * sizeBytes
            start.store(seed.part(UInt64(line)).checksum(start + 4, count: sizeBytes - 4), at: 0)
        }
    }

    @inlinable @inline(__always)
    public static func isIntact(_ start: UnsafeRawPointer, line: Int, seed: ChecksumSeed) -> Bool {
        seed.part(UInt64(line)).checksum(start + 4, count: sizeBytes - 4)
            == start.load(UInt32.self, at: 0)
    }
}
