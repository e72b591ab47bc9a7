import RoostFormat

/// An engine's shards by the hashes of their keys, for calls that shall count no reference to a shard,
/// to the array, or to the engine: what is counted costs a look-up in memory a tenth.
///
/// - Holds no reference itself: valid as long as the engine is, which whoever calls it holds.
///
/// `@unchecked Sendable`: written by `init` alone.
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
    func withShard<Result: ~Copyable>(
        of hash: UInt64, _ body: (Shard) throws -> Result
    ) rethrows -> Result {
        // As `_withUnsafeGuaranteedRef`, which takes no result that cannot be copied: an unmanaged
        // reference is laid out as the reference.
        var place = base[shardIndex(of: hash, shardCount: count)]
        return try withUnsafePointer(to: &place) {
            try body(UnsafeRawPointer($0).assumingMemoryBound(to: Shard.self).pointee)
        }
    }
}
