import RoostFormat
import Testing

@Suite struct SegmentHeaderTests {
    let header = SegmentHeader(
        number: 12, firstSequence: 345, durableSequence: 300,
        workspace: .init(first: 1, second: 2), salt: 99, capacityPages: 256)

    private var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.sizeBytes)
        bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
        return bytes
    }

    private func read(_ bytes: [UInt8]) -> SegmentHeader.Reading {
        bytes.withUnsafeBytes { SegmentHeader.read($0) }
    }

    @Test func whatWasWrittenIsRead() {
        #expect(read(bytes) == .valid(header))
        #expect(read(bytes + [1, 2, 3]) == .valid(header))
        #expect(header.capacityBytes == 1 << 20)
    }

    @Test func everyFlippedBitIsDamage() {
        for bit in 0..<(8 * SegmentHeader.sizeBytes) {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(read(damaged) == .damaged, "bit \(bit)")
        }
    }

    @Test func everyTruncationIsDamageAndZerosAreBlank() {
        for count in 1..<SegmentHeader.sizeBytes {
            #expect(read(Array(bytes[..<count])) == .damaged)
        }
        #expect(read([]) == .blank)
        #expect(read([UInt8](repeating: 0, count: 10)) == .blank)
        #expect(read([UInt8](repeating: 0, count: 4096)) == .blank)
    }

    @Test func anotherVersionIsUnsupported() {
        var later = bytes
        later[8] = 2
        later.withUnsafeMutableBytes { bytes in
            let start = bytes.baseAddress!
            start.store(ChecksumSeed(0).checksum(UnsafeRawPointer(start), count: 60), at: 60)
        }
        #expect(read(later) == .unsupported(version: 2))
    }

    /// Batches are counted from one; what is before the first of them was reckoned with, and trapped.
    @Test func aSegmentThatBeginsWithBatchZeroIsDamaged() {
        let header = SegmentHeader(
            number: 1, firstSequence: 0, durableSequence: 0,
            workspace: .init(first: 1, second: 2), salt: 3, capacityPages: 1)
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.sizeBytes)
        bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
        guard case .damaged = bytes.withUnsafeBytes(SegmentHeader.read) else {
            Issue.record("it was believed")
            return
        }
    }
}
