import RoostFormat

/// An engine's shards by the hashes of their keys, for look-ups that count no reference to the engine,
/// to its array, or to the shard.
///
/// - Holds no reference itself: valid as long as the engine is, which every call of it holds.
///
/// `@unchecked Sendable`: what `base` points to is written by `init` alone.
struct ShardPlaces: @unchecked Sendable {
    private let base: UnsafeMutablePointer<Unmanaged<Shard>>
    private let count: Int

    init(_ shards: [Shard]) {
        count = shards.count
        base = .allocate(capacity: count)
        for (index, shard) in shards.enumerated() {
            (base + index).initialize(to: .passUnretained(shard))
        }
    }

    func deallocate() { base.deallocate() }

    /// Calls `body` with the shard of a hash.
    @inline(__always)
    func withShard<Result>(of hash: UInt64, _ body: (Shard) throws -> Result) rethrows -> Result {
        try base[shardIndex(of: hash, shardCount: count)]._withUnsafeGuaranteedRef(body)
    }
}
