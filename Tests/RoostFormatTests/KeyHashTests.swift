import RoostFormat
import RoostTestSupport
import Testing

/// SipHash with any numbers of rounds, written from the paper, to compare with; and 64 bits more, as
/// the second half of 128 is made.
private func sipHash(_ bytes: [UInt8], _ k0: UInt64, _ k1: UInt64, rounds: Int, finalRounds: Int)
    -> (first: UInt64, second: UInt64)
{
    var v = [
        k0 ^ 0x736f_6d65_7073_6575, k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261, k1 ^ 0x7465_6462_7974_6573,
    ]
    func rotate(_ x: UInt64, _ b: UInt64) -> UInt64 { x << b | x >> (64 - b) }
    func round() {
        v[0] &+= v[1]
        v[2] &+= v[3]
        v[1] = rotate(v[1], 13) ^ v[0]
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = rotate(v[0], 32)
        v[2] &+= v[1]
        v[0] &+= v[3]
        v[1] = rotate(v[1], 17) ^ v[2]
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = rotate(v[2], 32)
    }
    var padded = bytes + [UInt8](repeating: 0, count: 7 - bytes.count % 8)
    padded.append(UInt8(truncatingIfNeeded: bytes.count))
    for start in stride(from: 0, to: padded.count, by: 8) {
        let word = (0..<8).reduce(UInt64(0)) { $0 | UInt64(padded[start + $1]) << UInt64(8 * $1) }
        v[3] ^= word
        for _ in 0..<rounds { round() }
        v[0] ^= word
    }
    v[2] ^= 0xff
    for _ in 0..<finalRounds { round() }
    let first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xdd
    for _ in 0..<finalRounds { round() }
    return (first, v[0] ^ v[1] ^ v[2] ^ v[3])
}

private let k0: UInt64 = 0x0706_0504_0302_0100
private let k1: UInt64 = 0x0f0e_0d0c_0b0a_0908

@Suite struct KeyHashTests {
    @Test func theComparisonIsSipHashAsPublished() {
        // The first vectors of SipHash-2-4 in its authors' reference implementation.
        let vectors: [UInt64] = [
            0x726f_db47_dd0e_0e31, 0x74f8_39c5_93dc_67fd, 0x0d6c_8009_d9a9_4f5a,
            0x8567_6696_d7fb_7e2d, 0xcf27_94e0_2771_87b7, 0x1876_5564_cd99_a68d,
            0xcbc9_466e_58fe_e3ce, 0xab02_00f5_8b01_d137, 0x93f5_f579_9a93_2462,
        ]
        for (count, vector) in vectors.enumerated() {
            let input = (0..<count).map { UInt8($0) }
            #expect(sipHash(input, k0, k1, rounds: 2, finalRounds: 4).first == vector)
        }
    }

    @Test func keysAreHashedBySipHash13() {
        for count in 0...300 {
            let input = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let seed = HashSeed(first: k0, second: k1)
            let (hash, wide) = input.withUnsafeBytes { (seed.hash($0), seed.wideHash($0)) }
            let expected = sipHash(input, k0, k1, rounds: 1, finalRounds: 3)
            #expect(hash == expected.first && wide.hash == expected.first, "\(count) bytes")
            #expect(wide.fingerprint == expected.second, "\(count) bytes")
        }
        // The first vector of SipHash-1-3 for this key, as Rust's standard library tests it.
        let empty = HashSeed(first: k0, second: k1).hash(.init(start: nil, count: 0))
        #expect(empty == 0xabac_0158_050f_c4dc)
    }

    @Test func shardsShareRandomKeysEvenly() {
        let seed = HashSeed.random()
        var counts = [Int](repeating: 0, count: 16)
        for number in 0..<32_000 {
            let hash = Array("key-\(number)".utf8).withUnsafeBytes { seed.hash($0) }
            counts[shardIndex(of: hash, shardCount: 16)] += 1
        }
        #expect(counts.allSatisfy { $0 > 1_700 && $0 < 2_300 }, "\(counts)")
    }
}
