import CRoost

/// The workspace's secret for placing keys: random, kept in the manifest, so that nobody who
/// chooses keys can make them collide.
public struct HashSeed: Sendable, Equatable {
    public var first: UInt64
    public var second: UInt64

    public init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    public static func random() -> HashSeed {
        HashSeed(first: .random(in: .min ... .max), second: .random(in: .min ... .max))
    }

    /// SipHash-1-3 of a record key.
    @inlinable @inline(__always)
    public func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        roost_siphash13(first, second, key.baseAddress, key.count)
    }
}

/// The shard that a hash belongs to; `shardCount` is a power of two. The low bits, because the
/// tables and indexes within a shard go by the high ones.
@inlinable @inline(__always)
public func shardIndex(of hash: UInt64, shardCount: Int) -> Int {
    Int(truncatingIfNeeded: hash) & (shardCount - 1)
}
