/// The keys and values of the engines' table: 16-byte keys in an order that sorts as the numbers
/// do, values of 100 bytes unless another size is asked for, of which half is random and half repeats.
struct Workload: Sendable {
    let keyCount: Int
    let valueSizeBytes: Int
    private var isAbsent = false
    private let valuePool: [[UInt8]]
    /// Random halves come again after this many keys: further apart than any window or dictionary of
    /// a compression sees.
    private static let mostInPool = 1 << 15
    /// A power of two; fewer where values are large, so that the pool takes 64 MiB at most.
    private let poolCount: Int

    init(keyCount: Int, valueSizeBytes: Int = 100) {
        precondition(valueSizeBytes >= 8, "a value has its key's word")
        self.keyCount = keyCount
        self.valueSizeBytes = valueSizeBytes
        var count = Self.mostInPool
        while count > 16, count * valueSizeBytes > 64 << 20 { count /= 2 }
        poolCount = count
        var random = SplitMix(state: 7)
        let half = valueSizeBytes / 2
        valuePool = (0..<count).map { _ in
            (0..<half).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                + [UInt8](repeating: 0x61, count: valueSizeBytes - half)
        }
    }

    /// The same workload with keys that are not in the store, but between those that are.
    var absent: Workload {
        var other = self
        other.isAbsent = true
        return other
    }

    /// 16 bytes: a letter and fifteen digits.
    func key(_ index: Int) -> String {
        String(unsafeUninitializedCapacity: 16) { buffer in
            var rest = index
            for place in stride(from: 15, to: 0, by: -1) {
                buffer[place] = UInt8(48 + rest % 10)
                rest /= 10
            }
            buffer[0] = 0x6b
            // A letter for the last digit sorts after that ten's keys, before the next ten's.
            if isAbsent { buffer[15] += 0x61 - 0x30 }
            return 16
        }
    }

    func value(_ index: Int) -> [UInt8] { value(index, generation: 0) }

    /// Distinct for each index and generation in its first eight bytes; `index(ofWord:)` tells
    /// the index from them. An index has at most 40 bits.
    func value(_ index: Int, generation: UInt64) -> [UInt8] {
        var value = valuePool[index & (poolCount - 1)]
        var word = (UInt64(index) | generation << 40) &* Self.multiplier
        for place in 0..<8 {
            value[place] = UInt8(truncatingIfNeeded: word)
            word >>= 8
        }
        return value
    }

    private static let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    /// The product of both is 1.
    private static let inverse: UInt64 = {
        var inverse = multiplier
        for _ in 0..<5 { inverse = inverse &* (2 &- multiplier &* inverse) }
        return inverse
    }()

    /// Which index a value is of, by its first eight bytes as a little-endian word.
    static func index(ofWord word: UInt64) -> Int { Int((word &* inverse) & (1 << 40 - 1)) }

    /// A permutation of all indices that jumps about, without a table to hold it: a full-period
    /// linear congruential generator over the next power of two, out-of-range values skipped.
    func shuffledIndices() -> ShuffledIndices { ShuffledIndices(count: keyCount) }
}

struct ShuffledIndices: Sequence, IteratorProtocol {
    private let count: Int
    private let mask: Int
    private var state = 12_345
    private var steps = 0

    init(count: Int) {
        self.count = count
        var size = 1
        while size < count { size *= 2 }
        mask = size - 1
    }

    mutating func next() -> Int? {
        while steps <= mask {
            steps += 1
            state = (state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407) & mask
            // The low bits of such a generator repeat soon; mixing within the range keeps it a
            // permutation.
            let mixed = (state ^ (state >> 7)) & mask
            if mixed < count { return mixed }
        }
        return nil
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
