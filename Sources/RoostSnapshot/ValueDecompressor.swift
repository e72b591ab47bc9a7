import CLZ4
import RoostFormat

/// How the blocks of short values end, which is not stored.
///
/// An LZ4 block ends in a sequence of literals, at least five, and no match begins in the last twelve
/// bytes: of a value of a hundred bytes that is six to twelve bytes of it. So the value is compressed
/// with twelve zeros after it, which are those literals. Where they are a sequence of their own, its
/// token is known too.
enum BlockEnd {
    /// A token of twelve literals and no match, and the literals.
    private static let bytes: (UInt64, UInt32, UInt8) = (UInt64(littleEndian: 0xc0), 0, 0)
    static let sizeBytes = 13
    static let zeroCount = 12
    /// Longer values gain too little for the copies.
    static let usedUpToSizeBytes = 1000

    @inline(__always)
    static func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        try withUnsafeBytes(of: bytes) { try body(.init(rebasing: $0[..<sizeBytes])) }
    }

    /// How much of the end of a padded value's block can be left out.
    static func count(in block: UnsafeRawBufferPointer) -> Int {
        let zerosBegin = block.count - zeroCount
        guard zerosBegin > 0, let base = block.baseAddress else { return 0 }
        return withBytes { end in
            let zeros = end.baseAddress.unsafelyUnwrapped + 1
            guard compareMemory(base + zerosBegin, zeros, zeroCount) == 0 else { return 0 }
            return zerosBegin > 1 && block[zerosBegin - 1] == end[0] ? sizeBytes : zeroCount
        }
    }
}

/// Decompresses `stored` into the begin of `room`; `false` where the bytes make no sense or give
/// another length than `count`, which is at most the room's. Reads and writes within its bounds
/// whatever they are. `leftOutCount` is how much of the block's end is not stored: 0, 12 or 13.
@inline(__always)
package func decompress(
    _ stored: UnsafeRawBufferPointer, leftOutCount: Int, dictionary: UnsafeRawBufferPointer,
    count: Int, into room: UnsafeMutableRawBufferPointer
) -> Bool {
    guard leftOutCount > 0 else {
        return decompress(stored, dictionary, LZ4_decompress_safe_usingDict, count, room)
    }
    // With room for the zeros LZ4 need not be careful about the value's last bytes.
    let wholeCount = count + BlockEnd.zeroCount
    guard room.count >= wholeCount, stored.count <= ROOST_LZ4_SHORT_SIZE,
        let source = stored.baseAddress, let target = room.baseAddress
    else { return decompressPart(stored, leftOutCount, dictionary, count, room) }
    let made = roost_lz4_decompress_short(
        source.assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
        Int32(truncatingIfNeeded: stored.count), Int32(truncatingIfNeeded: leftOutCount),
        Int32(truncatingIfNeeded: wholeCount),
        dictionary.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(truncatingIfNeeded: dictionary.count))
    return Int(made) == wholeCount
}

/// The same without a bound for the block's length, or without room for its end.
@inline(never)
private func decompressPart(
    _ stored: UnsafeRawBufferPointer, _ leftOutCount: Int, _ dictionary: UnsafeRawBufferPointer,
    _ count: Int, _ room: UnsafeMutableRawBufferPointer
) -> Bool {
    withUnsafeTemporaryAllocation(
        byteCount: stored.count + BlockEnd.sizeBytes, alignment: 8
    ) { block in
        block.copyMemory(from: stored)
        let end = UnsafeMutableRawBufferPointer(rebasing: block[stored.count...])
        BlockEnd.withBytes {
            end.copyMemory(from: .init(rebasing: $0[(BlockEnd.sizeBytes - leftOutCount)...]))
        }
        let whole = UnsafeRawBufferPointer(rebasing: block[..<(stored.count + leftOutCount)])
        let wholeCount = count + BlockEnd.zeroCount
        return room.count >= wholeCount
            ? decompress(whole, dictionary, LZ4_decompress_safe_usingDict, wholeCount, room)
            : decompress(whole, dictionary, roost_lz4_decompress_begin, count, room)
    }
}

private typealias Decompressing = (
    UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafePointer<CChar>?, Int32
) -> Int32

@inline(__always)
private func decompress(
    _ block: UnsafeRawBufferPointer, _ dictionary: UnsafeRawBufferPointer,
    _ decompressing: Decompressing, _ count: Int, _ room: UnsafeMutableRawBufferPointer
) -> Bool {
    guard let source = block.baseAddress, let target = room.baseAddress else { return false }
    let made = decompressing(
        source.assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
        Int32(block.count), Int32(count),
        dictionary.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(dictionary.count))
    return Int(made) == count
}
