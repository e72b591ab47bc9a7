import CRoost

/// The workspace's secret for placing keys: random, kept in the manifest, so that nobody who
/// chooses keys can make them collide.
package struct HashSeed: Sendable, Equatable {
    package var first: UInt64
    package var second: UInt64

    package init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    package static func random() -> HashSeed {
        HashSeed(first: .random(in: .min ... .max), second: .random(in: .min ... .max))
    }

    /// SipHash-1-3 of a record key.
    @inline(__always)
    package func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        roost_siphash13(first, second, key.baseAddress, key.count)
    }
}

/// The shard that a hash belongs to; `shardCount` is a power of two. The low bits, because the
/// tables and indexes within a shard go by the high ones.
@inline(__always)
package func shardIndex(of hash: UInt64, shardCount: Int) -> Int {
    Int(truncatingIfNeeded: hash) & (shardCount - 1)
}
