/// Room for the heads of one group, and for its keys. Freed by whoever has it.
///
/// - `heads[..<count]` are filled in, in the order of the scan; their keys stand in `keys`.
/// - It begins in memory that is given to it, and takes some of its own where that is too small.
package struct HeadRoom {
    package private(set) var heads: UnsafeMutablePointer<RecordHead>
    package private(set) var count = 0
    private var capacity: Int
    private var keys: UnsafeMutableRawPointer
    private var keyCapacity: Int
    private var keySizeBytes = 0
    private var ownsHeads = false
    private var ownsKeys = false

    /// What a room begins with: most groups fit.
    package static let usualSizeBytes =
        usualRecordCount * (MemoryLayout<RecordHead>.stride + usualKeySizeBytes)
    private static let usualRecordCount = 16
    private static let usualKeySizeBytes = 48

    /// `memory` is of `usualSizeBytes`, and as aligned as a head.
    package init(in memory: UnsafeMutableRawPointer) {
        capacity = Self.usualRecordCount
        heads = memory.bindMemory(to: RecordHead.self, capacity: capacity)
        keys = UnsafeMutableRawPointer(heads + capacity)
        keyCapacity = capacity * Self.usualKeySizeBytes
    }

    package func free() {
        if ownsHeads { heads.deallocate() }
        if ownsKeys { keys.deallocate() }
    }

    package mutating func removeAll() { count = 0 }

    package mutating func removeLast() { count -= 1 }

    /// Fills in the records of a group whose checksum holds, from the last where `isReversed`;
    /// `false` where its bytes make no sense, or its keys are not in order: a scan would leave its range.
    package mutating func decode(
        _ group: UnsafeRawBufferPointer, firstKey: FirstKey, isReversed: Bool, prefixCount: Int
    ) -> Bool {
        count = 0
        guard var cursor = RecordGroup.Cursor(group, firstKeyCount: firstKey.count) else {
            return false
        }
        firstKey.withBytes {
            UnsafeMutableRawBufferPointer(start: keys, count: keyCapacity).copyMemory(from: $0)
        }
        keySizeBytes = firstKey.count
        let recordCount = cursor.remainingCount
        if recordCount > capacity { growHeads(recordCount) }
        let mask: UInt128 = isReversed ? .max : 0
        var previous = keys
        var previousCount = keySizeBytes
        var place = isReversed ? recordCount - 1 : 0
        while !cursor.isAtEnd {
            guard let record = cursor.next() else { return false }
            let keyCount = record.shared + record.suffix.count
            // A key shares as much as it can with the one before, and is greater: the group's first may be the
            // snapshot's first itself.
            if record.shared < previousCount {
                let first = record.suffix.baseAddress.unsafelyUnwrapped
                guard keyCount > record.shared,
                    first.load(as: UInt8.self)
                        > previous.load(fromByteOffset: record.shared, as: UInt8.self)
                else { return false }
            } else if keyCount == record.shared, previous != keys {
                return false
            }
            if keyCapacity - keySizeBytes < keyCount {
                let offset = previous - keys
                growKeys(keyCount, placesFilled: isReversed ? place + 1..<recordCount : 0..<place)
                previous = keys + offset
            }
            let key = keys + keySizeBytes
            copyShort(previous, to: key, record.shared)
            copyShort(
                record.suffix.baseAddress.unsafelyUnwrapped, to: key + record.shared,
                record.suffix.count)
            (heads + place).initialize(
                to: RecordHead(
                    record, key: .init(start: key, count: keyCount), prefixCount: prefixCount,
                    mask: mask))
            place += isReversed ? -1 : 1
            previous = key
            previousCount = keyCount
            keySizeBytes += keyCount
        }
        count = recordCount
        return true
    }

    @inline(never)
    private mutating func growHeads(_ needed: Int) {
        if ownsHeads { heads.deallocate() }
        heads = .allocate(capacity: needed)
        capacity = needed
        ownsHeads = true
    }

    @inline(never)
    private mutating func growKeys(_ more: Int, placesFilled: Range<Int>) {
        let capacity = max(keyCapacity * 2, keySizeBytes + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: keys, byteCount: keySizeBytes)
        for place in placesFilled {
            heads[place].moveKey(
                to: larger + (heads[place].key.baseAddress! - UnsafeRawPointer(keys)))
        }
        if ownsKeys { keys.deallocate() }
        keys = larger
        keyCapacity = capacity
        ownsKeys = true
    }
}

/// Copies a few bytes without a call where there are at most sixteen.
@inline(__always)
private func copyShort(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int)
{
    if count > 16 {
        target.copyMemory(from: source, byteCount: count)
    } else if count >= 8 {
        copyEnds(source, target, count, UInt64.self)
    } else if count >= 4 {
        copyEnds(source, target, count, UInt32.self)
    } else {
        for index in 0..<count {
            target.storeBytes(
                of: source.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index,
                as: UInt8.self)
        }
    }
}

/// The first bytes and the last, which may overlap.
@inline(__always)
private func copyEnds<Word: FixedWidthInteger & BitwiseCopyable>(
    _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int, _ word: Word.Type
) {
    let end = count - MemoryLayout<Word>.size
    let first = source.loadUnaligned(as: word)
    let last = source.loadUnaligned(fromByteOffset: end, as: word)
    target.storeBytes(of: first, as: word)
    target.storeBytes(of: last, toByteOffset: end, as: word)
}
