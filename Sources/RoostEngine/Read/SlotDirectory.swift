import RoostFormat

/// The slots of a shard's table, by extendible hashing (Fagin, Nievergelt, Pippenger, Strong:
/// "Extendible hashing", ACM TODS 4(3), 1979): a hash's high bits tell an entry, the entry a bucket.
/// Writers and readers of a shard wait while its table grows, so it grows by a bucket at a time.
///
/// - The entries of one bucket stand side by side: those that begin with the bits that all its
///   keys have in common.
/// - All buckets have `bucketCapacity` slots. Only one that is alone may have fewer than
///   `fullBucketCapacity`.
///
/// `@unchecked Sendable`: the memory is written only by the one table that holds the only
/// reference: `LogTable` checks before it writes, and is copied first where it is shared;
/// `ResidentTable` is never copied. So as
/// long as two threads can see the memory nobody writes to it.
final class SlotDirectory: @unchecked Sendable {
    let bucketCapacity: Int
    private let depth: Int
    private let entries: UnsafeMutablePointer<SlotBucket>
    /// The buckets are another directory's by now.
    private var isSpent = false

    /// 64 KiB: a few microseconds to split.
    static let fullBucketCapacity = 4096
    /// After it come the bits of a slot's home; there is no memory for as many buckets.
    private static let largestDepth = 32

    /// One bucket without a slot that is taken.
    init(capacity: Int) {
        precondition(capacity & (capacity - 1) == 0 && capacity <= Self.fullBucketCapacity)
        bucketCapacity = capacity
        depth = 0
        entries = .allocate(capacity: 1)
        entries.initialize(to: SlotBucket(capacity: capacity, depth: 0))
    }

    private init(bucketCapacity: Int, depth: Int) {
        precondition(depth <= Self.largestDepth, "keys whose hashes do not differ")
        self.bucketCapacity = bucketCapacity
        self.depth = depth
        entries = .allocate(capacity: 1 << depth)
    }

    deinit {
        if !isSpent {
            forEachBucket { bucket in
                bucket.deallocate()
                return true
            }
        }
        entries.deallocate()
    }

    private var entryCount: Int { 1 << depth }

    @inline(__always)
    var mask: Int { bucketCapacity - 1 }

    /// As if all entries had a bucket of their own.
    var capacity: Int { bucketCapacity << depth }

    var sizeBytes: Int {
        var count = 0
        forEachBucket { _ in
            count += 1
            return true
        }
        return count * SlotBucket.sizeBytes(capacity: bucketCapacity)
    }

    @inline(__always)
    func bucket(of hash: UInt64) -> SlotBucket { entries[entry(of: hash)] }

    @inline(__always)
    private func entry(of hash: UInt64) -> Int { Self.firstBits(of: hash, count: depth) }

    @inline(__always)
    private static func firstBits(of hash: UInt64, count: Int) -> Int {
        // In two steps: none of the bits is no step that the processor can make.
        Int(truncatingIfNeeded: (hash &>> 1) &>> UInt64(63 - count))
    }

    /// Brings the slot where `hash` will be looked for into the cache.
    @inline(__always)
    func prefetchSlot(_ hash: UInt64) {
        let home = SlotBucket.home(of: hash, mask: mask)
        prefetch(UnsafeRawPointer(bucket(of: hash).slots + home))
    }

    // MARK: Growing

    /// A directory in which the bucket of `hash` has room; this one is not to be used any more.
    func grown(for hash: UInt64) -> SlotDirectory {
        if bucketCapacity < Self.fullBucketCapacity { return withLargerBucket() }
        let directory = bucket(of: hash).depth == depth ? withTwiceTheEntries() : self
        directory.split(hash)
        return directory
    }

    private func withLargerBucket() -> SlotDirectory {
        let larger = SlotDirectory(capacity: bucketCapacity * 2)
        for slot in entries[0].all(capacity: bucketCapacity) where slot.location != 0 {
            larger.entries[0].add(slot, mask: larger.mask)
        }
        return larger
    }

    private func withTwiceTheEntries() -> SlotDirectory {
        let twice = SlotDirectory(bucketCapacity: bucketCapacity, depth: depth + 1)
        for index in 0..<entryCount {
            (twice.entries + 2 * index).initialize(repeating: entries[index], count: 2)
        }
        isSpent = true
        return twice
    }

    /// Gives half of the keys in the bucket of `hash`, which has more than one entry, to a new one.
    private func split(_ hash: UInt64) {
        let bucket = bucket(of: hash)
        let bit: UInt64 = 1 << UInt64(63 - bucket.depth)
        let entriesLeft = entriesOfBucket(at: entry(of: hash)) / 2
        let first = entry(of: hash) & ~(2 * entriesLeft - 1)
        (entries + first + entriesLeft).update(
            repeating: bucket.split(bit: bit, capacity: bucketCapacity), count: entriesLeft)
    }

    func copy() -> SlotDirectory {
        let other = SlotDirectory(bucketCapacity: bucketCapacity, depth: depth)
        var index = 0
        while index < entryCount {
            let count = entriesOfBucket(at: index)
            (other.entries + index).initialize(
                repeating: entries[index].copy(capacity: bucketCapacity), count: count)
            index += count
        }
        return other
    }

    // MARK: Visiting

    private func entriesOfBucket(at index: Int) -> Int { 1 << (depth - entries[index].depth) }

    /// The buckets, as long as `body` returns `true`.
    func forEachBucket(_ body: (SlotBucket) throws -> Bool) rethrows {
        var index = 0
        while index < entryCount {
            let bucket = entries[index]
            index += entriesOfBucket(at: index)
            guard try body(bucket) else { return }
        }
    }

    /// The slots that are taken by keys whose hash begins with the `bitCount` bits of `part`. The
    /// parts are the same ones after growing.
    func forEach(part: Int, bitCount: Int, _ body: (SlotBucket.Slot) -> Void) {
        // A bucket may hold more parts than one, and a part may lie in more than one.
        var index = bitCount >= depth ? part >> (bitCount - depth) : part << (depth - bitCount)
        let end = max(index + 1, bitCount >= depth ? 0 : (part + 1) << (depth - bitCount))
        index &= ~(entriesOfBucket(at: index) - 1)
        while index < end {
            for slot in entries[index].all(capacity: bucketCapacity)
            where slot.location != 0 && Self.firstBits(of: slot.hash, count: bitCount) == part {
                body(slot)
            }
            index += entriesOfBucket(at: index)
        }
    }
}
