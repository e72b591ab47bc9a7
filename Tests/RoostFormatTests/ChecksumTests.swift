import CRoost
import RoostFormat
import RoostTestSupport
import Testing

@Suite struct ChecksumTests {
    private func checksum(_ text: String) -> UInt32 {
        Array(text.utf8).withUnsafeBytes { ChecksumSeed(0).checksum($0) }
    }

    @Test func knownVectorsHold() {
        #expect(checksum("123456789") == 0xe306_9283)
        #expect(checksum("") == 0)
        // RFC 3720, B.4.
        #expect(
            [UInt8](repeating: 0, count: 32).withUnsafeBytes { ChecksumSeed(0).checksum($0) }
                == 0x8a91_36aa)
        #expect(
            [UInt8](repeating: 255, count: 32).withUnsafeBytes { ChecksumSeed(0).checksum($0) }
                == 0x62a8_ab43)
        #expect([UInt8](0..<32).withUnsafeBytes { ChecksumSeed(0).checksum($0) } == 0x46dd_794e)
    }

    @Test func instructionAndTableAgree() {
        var random = SeededGenerator(seed: testSeed())
        let bytes = random.bytes(20_000)
        bytes.withUnsafeBytes { bytes in
            for length in Array(0...400) + [3071, 3072, 3073, 6144, 6145, 10_000] {
                check(bytes, random.below(16), length, UInt32(truncatingIfNeeded: random.next()))
            }
            for _ in 0..<300 {
                check(
                    bytes, random.below(64), random.below(19_000),
                    UInt32(truncatingIfNeeded: random.next()))
            }
        }
    }

    private func check(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ length: Int, _ seed: UInt32
    ) {
        let start = bytes.baseAddress! + offset
        #expect(
            roost_crc32c(seed, start, length) == roost_crc32c_table(seed, start, length),
            "offset \(offset) length \(length) seed \(seed)")
    }

    @Test func checksumsChain() {
        var random = SeededGenerator(seed: testSeed())
        let bytes = random.bytes(5_000)
        bytes.withUnsafeBytes { bytes in
            for _ in 0..<100 {
                let cut = random.below(bytes.count)
                let first = roost_crc32c(7, bytes.baseAddress!, cut)
                let both = roost_crc32c(first, bytes.baseAddress! + cut, bytes.count - cut)
                #expect(both == roost_crc32c(7, bytes.baseAddress!, bytes.count))
            }
        }
    }

    @Test func aPartsSeedDependsOnItsPlace() {
        let seeds = (0..<10_000).map { ChecksumSeed(99).part(UInt64($0)).value }
        #expect(Set(seeds).count > 9_990)
    }
}
