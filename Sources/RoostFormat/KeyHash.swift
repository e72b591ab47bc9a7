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

    /// Both halves of what a key is known by.
    @inlinable @inline(__always)
    public func wideHash(_ key: UnsafeRawBufferPointer) -> WideHash {
        WideHash(state: roost_hash_key(first, second, key.baseAddress, key.count))
    }
}

/// A key's hash and, where it is asked for, its fingerprint: 128 bits of keyed hash, which no two
/// keys have in common.
public struct WideHash: Sendable {
    @usableFromInline let state: roost_key_hash

    @usableFromInline
    init(state: roost_key_hash) { self.state = state }

    @inlinable public var hash: UInt64 { state.hash }
    /// Costs a third of what the hash did.
    @inlinable public var fingerprint: UInt64 { roost_second_hash(state) }
}

/// The shard that a hash belongs to; `shardCount` is a power of two. The low bits, because the
/// tables and indexes within a shard go by the high ones.
@inlinable @inline(__always)
public func shardIndex(of hash: UInt64, shardCount: Int) -> Int {
    Int(truncatingIfNeeded: hash) & (shardCount - 1)
}
