import RoostFormat
import RoostTestSupport
import Testing

@Suite struct VarintTests {
    static let edges: [UInt64] =
        [0, 1, 127, 128, 16_383, 16_384, .max, .max - 1, UInt64(Int64.max), 1 << 63]
        + (0..<64).flatMap { bit -> [UInt64] in [1 << bit, (1 << bit) - 1, (1 << bit) + 1] }

    private func encoded(_ value: UInt64) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xee, count: Varint.maximumSizeBytes)
        let count = bytes.withUnsafeMutableBytes { Varint.write(value, to: $0.baseAddress!) }
        return Array(bytes[..<count])
    }

    private func decoded(_ bytes: [UInt8], at start: Int = 0) -> (UInt64?, Int) {
        var offset = start
        let value = bytes.withUnsafeBytes { Varint.read($0, &offset) }
        return (value, offset)
    }

    @Test func everyEdgeComesBack() {
        for value in Self.edges {
            let bytes = encoded(value)
            #expect(decoded(bytes) == (value, bytes.count))
            #expect(Varint.sizeBytes(of: value) == bytes.count)
            #expect(decoded([1, 2] + bytes + [3], at: 2) == (value, bytes.count + 2))
        }
    }

    @Test func aNumberThatIsCutShortIsNoneAndMovesNothing() {
        for value in Self.edges where value > 127 {
            let bytes = encoded(value)
            for count in 0..<bytes.count { #expect(decoded(Array(bytes[..<count])) == (nil, 0)) }
        }
        #expect(decoded([], at: 0) == (nil, 0))
    }

    @Test func moreThanSixtyFourBitsAreNoNumber() {
        #expect(decoded([UInt8](repeating: 0xff, count: 9) + [0x01]).0 == .max)
        #expect(decoded([UInt8](repeating: 0xff, count: 9) + [0x02]).0 == nil)
        #expect(decoded([UInt8](repeating: 0x80, count: 10) + [0x01]).0 == nil)
        #expect(decoded([UInt8](repeating: 0xff, count: 20)).0 == nil)
    }

    @Test func smallNumbersOfEitherSignBecomeSmall() {
        let values: [Int64] = [0, -1, 1, -2, 2, .min, .max, .min + 1, 1 << 40, -(1 << 40)]
        for value in values { #expect(Varint.unzigzag(Varint.zigzag(value)) == value) }
        #expect([0, -1, 1, -2, 2].map(Varint.zigzag) == [0, 1, 2, 3, 4])
    }
}
