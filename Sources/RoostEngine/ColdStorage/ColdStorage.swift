import RoostFormat
import RoostIO
import RoostSnapshot

/// The workspace's snapshots at one moment. Immutable; a flush or a merge replaces it whole.
///
/// - `tiers` stand with the newest first: of a key's records, that in the first tier which has one
///   counts.
/// - `generation` is higher in what replaces it.
package final class ColdStorage: Sendable {
    package let tiers: [ColdTier]
    package let generation: UInt64
    /// Those of `tiers`, which count no reference for a look-up.
    ///
    /// `nonisolated(unsafe)`: written by `init` alone, before anybody else has the object.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<TierPlaces>
    private let tierCount: Int

    package init(_ tiers: [ColdTier] = [], generation: UInt64 = 0) {
        self.tiers = tiers
        self.generation = generation
        tierCount = tiers.count
        places = .allocate(capacity: tierCount)
        for (index, tier) in tiers.enumerated() { (places + index).initialize(to: tier.places) }
    }

    deinit { places.deallocate() }

    static let none = ColdStorage()

    /// The snapshots of all tiers.
    package var snapshots: [SnapshotReader] { tiers.flatMap { $0.parts.map(\.snapshot) } }

    /// The memory of the snapshot that has `location`.
    func region(of location: UInt) -> MappedRegion? {
        for tier in tiers {
            for part in tier.parts where part.snapshot.region.contains(location) {
                return part.snapshot.region
            }
        }
        return nil
    }

    /// The newest record of a key, put or tombstone, and where it stands.
    @inline(__always)
    package func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> ColdRecord? {
        try find(key, hash: hash, from: 0)
    }

    /// As above, in the tiers from `first` on.
    @inline(__always)
    func find(
        _ key: UnsafeRawBufferPointer, hash: UInt64, from first: Int
    ) throws -> ColdRecord? {
        for index in first..<tierCount {
            if let found = try places[index].find(key, hash: hash) { return found }
        }
        return nil
    }

    /// Asks for what a look-up in the oldest tier, which has most keys, will begin with.
    @inline(__always)
    func prefetch(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        if tierCount > 0 { places[tierCount - 1].prefetch(key, hash: hash) }
    }
}

/// A shard's reference to the cold storage, one object for each shard: look-ups in different shards,
/// on different cores, would otherwise count the references to one object. docs/decisions/0068.
package final class ColdHold: Sendable {
    package let storage: ColdStorage
    private let reference: Unmanaged<ColdStorage>

    package init(_ storage: ColdStorage) {
        self.storage = storage
        reference = .passUnretained(storage)
    }

    @inline(__always)
    package func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> ColdRecord? {
        defer { withExtendedLifetime(self) {} }
        return try reference._withUnsafeGuaranteedRef { try $0.find(key, hash: hash) }
    }

    @inline(__always)
    func prefetch(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        reference._withUnsafeGuaranteedRef { $0.prefetch(key, hash: hash) }
    }
}
