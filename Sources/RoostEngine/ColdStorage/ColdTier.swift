import RoostFormat
import RoostSnapshot

/// One tier of cold storage: snapshots of disjoint ranges of keys, in key order. Immutable.
///
/// - Each snapshot counts from its lower bound up to the next one's. Where `isTrimmed`, the file has
///   records before its lower bound too, which a merge has taken over.
/// - No file has records at or after the next one's lower bound.
package final class ColdTier: Sendable {
    package struct Part: Sendable {
        package let snapshot: SnapshotReader
        package let lowerBound: [UInt8]
        package var isTrimmed = false

        /// Whether the file has records of keys from `lower` on that do not count.
        func hides(recordsFrom lower: [UInt8]) -> Bool {
            isTrimmed && lower.lexicographicallyPrecedes(lowerBound)
        }
    }

    package let parts: [Part]
    let places: TierPlaces

    package init(_ parts: [Part]) {
        precondition(!parts.isEmpty, "a tier has at least one snapshot")
        self.parts = parts
        places = TierPlaces(parts)
    }

    deinit { places.deallocate() }

    /// Which part `key` belongs to; negative where it stands before the first.
    @inline(__always)
    func index(of key: UnsafeRawBufferPointer) -> Int { places.index(of: key) }

    /// The parts that may have keys from `lower` up to `upper`.
    func overlapping(_ lower: [UInt8], _ upper: [UInt8]?) -> Range<Int> {
        let first = max(0, lower.withUnsafeBytes { index(of: $0) })
        let end = upper.map { upper in
            parts.partitionIndex { $0.lowerBound.lexicographicallyPrecedes(upper) }
        }
        return first..<max(first, end ?? parts.count)
    }
}

/// A record that a look-up found in cold storage. Holds no reference: valid as long as the storage.
package struct ColdRecord {
    package let record: RecordGroup.Record
    package let snapshot: Unmanaged<SnapshotReader>
}

/// A tier's lower bounds and snapshots, laid out for look-ups that count no reference.
///
/// - `words[i]` is the eight bytes of lower bound i after `shared`, which all but the first begin with.
///   The first is mostly empty, and would leave them nothing in common.
///
/// `@unchecked Sendable`: `init` alone writes what the pointers point to, before anybody else has them.
struct TierPlaces: @unchecked Sendable {
    let count: Int
    let words: UnsafeMutablePointer<UInt64>
    let bounds: UnsafeMutablePointer<UnsafeRawBufferPointer>
    let snapshots: UnsafeMutablePointer<Unmanaged<SnapshotReader>>
    let indexes: UnsafeMutablePointer<SnapshotIndexPlace>
    let shared: UnsafeRawBufferPointer

    init(_ parts: [ColdTier.Part]) {
        count = parts.count
        words = .allocate(capacity: count)
        bounds = .allocate(capacity: count)
        snapshots = .allocate(capacity: count)
        indexes = .allocate(capacity: count)
        for (index, part) in parts.enumerated() {
            let bound = UnsafeMutableRawBufferPointer.allocate(
                byteCount: part.lowerBound.count, alignment: 1)
            bound.copyBytes(from: part.lowerBound)
            (bounds + index).initialize(to: UnsafeRawBufferPointer(bound))
            (snapshots + index).initialize(to: .passUnretained(part.snapshot))
            (indexes + index).initialize(to: part.snapshot.indexPlace)
        }
        // The bounds are in order: what the outer two have in common, all have.
        let sharedCount = count < 2 ? 0 : commonPrefixCount(bounds[1], bounds[count - 1])
        shared = count < 2 ? bounds[0] : UnsafeRawBufferPointer(rebasing: bounds[1][..<sharedCount])
        for index in 0..<count {
            let word = index == 0 ? 0 : leadingWord(bounds[index], from: sharedCount)
            (words + index).initialize(to: word)
        }
    }

    func deallocate() {
        for index in 0..<count { bounds[index].deallocate() }
        words.deallocate()
        bounds.deallocate()
        snapshots.deallocate()
        indexes.deallocate()
    }

    /// The record of a key, put or tombstone, and its snapshot, which is valid as long as the tier.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> ColdRecord? {
        let index = index(of: key)
        if index < 0 { return nil }
        guard
            let record = try snapshots[index]._withUnsafeGuaranteedRef({
                try $0.find(key, hash: hash)
            })
        else { return nil }
        return ColdRecord(record: record, snapshot: snapshots[index])
    }

    /// Asks for the memory that a look-up of the key begins with.
    @inline(__always)
    func prefetch(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        let index = index(of: key)
        if index >= 0 { indexes[index].prefetch(hash: hash) }
    }

    /// The last bound that is not after `key`; negative where all are.
    @inline(__always)
    func index(of key: UnsafeRawBufferPointer) -> Int {
        if bounds[0].count > 0, compareBytes(key, bounds[0]) < 0 { return -1 }
        return count == 1 ? 0 : lastIndex(of: key)
    }

    private func lastIndex(of key: UnsafeRawBufferPointer) -> Int {
        let common = min(shared.count, key.count)
        let comparison = compareBytes(
            .init(rebasing: key[..<common]), .init(rebasing: shared[..<common]))
        if comparison < 0 || (comparison == 0 && key.count < shared.count) { return 0 }
        if comparison > 0 { return count - 1 }
        let word = leadingWord(key, from: shared.count)
        var low = 1
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let isAtOrBefore =
                words[middle] != word
                ? words[middle] < word : compareBytes(bounds[middle], key) <= 0
            if isAtOrBefore { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}
