import RoostFormat
import RoostTestSupport
import Testing

private let firstKey = Array("a key that is too long".utf8).withUnsafeBytes { FirstKey($0) }

/// A file of nothing but a header, one empty group's place, one line of each kind and a footer.
private func file() -> [UInt8] {
    let size = 16 + 16 + 64 + 64 + SnapshotFooter.sizeBytes
    var footer = SnapshotFooter()
    footer.salt = 3
    footer.number = 4
    footer.workspace = .init(first: 5, second: 6)
    footer.dictionaryRecordCount = 7
    footer.groupCount = 1
    footer.recordCount = 1
    footer.minimumSequence = 8
    footer.maximumSequence = 8
    footer.dictionaryOffset = 16
    footer.groupsOffset = 16
    footer.offsetsOffset = 32
    footer.indexOffset = 96
    footer.indexLineCount = 1
    footer.countsOffset = 160
    footer.countsCount = 1
    footer.fileSizeBytes = UInt64(size)
    footer.firstKey = firstKey
    var bytes = [UInt8](repeating: 0, count: size)
    bytes.withUnsafeMutableBytes { bytes in
        let start = bytes.baseAddress!
        start.store(SnapshotFooter.headerMagic, at: 0)
        start.store(SnapshotFooter.version, at: 8)
        footer.write(to: start + size - SnapshotFooter.sizeBytes)
    }
    return bytes
}

private func isValid(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
        if case .valid = SnapshotFooter.read(bytes) { true } else { false }
    }
}

@Suite struct SnapshotFooterTests {
    @Test func whatWasWrittenIsRead() {
        file().withUnsafeBytes { bytes in
            guard case .valid(let footer) = SnapshotFooter.read(bytes) else {
                Issue.record("not read")
                return
            }
            #expect(footer.number == 4)
            #expect(footer.dictionaryRecordCount == 7)
            #expect(footer.indexOffset == 96)
            #expect(footer.firstKey == firstKey)
            #expect(footer.firstKey.withBytes { Array($0) } == Array("a key that is too l".utf8))
        }
    }

    @Test func everyFlippedBitOfHeaderAndFooterIsRefused() {
        let original = file()
        let footerStart = original.count - SnapshotFooter.sizeBytes
        for byte in Array(0..<16) + Array(footerStart..<original.count) {
            for bit in 0..<8 {
                var damaged = original
                damaged[byte] ^= 1 << UInt8(bit)
                #expect(!isValid(damaged), "byte \(byte) bit \(bit)")
            }
        }
    }

    @Test func everyTruncationIsRefused() {
        let original = file()
        for count in 0..<original.count { #expect(!isValid(Array(original[..<count]))) }
        #expect(!isValid([0] + original))
    }

    @Test func partsThatDoNotFitAreRefusedThoughTheChecksumHolds() {
        var random = SeededGenerator(seed: testSeed())
        let original = file()
        let start = original.count - SnapshotFooter.sizeBytes
        for _ in 0..<20_000 {
            var hostile = original
            // The fields that say where things are.
            let field = start + 44 + random.below(36) * 4
            let value =
                random.once(in: 2)
                ? UInt32.max - UInt32(random.below(300)) : UInt32(random.below(400))
            hostile.withUnsafeMutableBytes { bytes in
                (bytes.baseAddress! + field).store(value, at: 0)
                let footer = bytes.baseAddress! + start
                footer.store(
                    ChecksumSeed(0).checksum(UnsafeRawPointer(footer), count: 188), at: 188)
            }
            hostile.withUnsafeBytes { bytes in
                guard case .valid(let footer) = SnapshotFooter.read(bytes) else { return }
                #expect(footer.firstKey.count <= FirstKey.capacity)
                #expect(
                    footer.indexOffset + UInt64(footer.indexLineCount) * 64 <= UInt64(bytes.count))
                #expect(footer.groupsOffset <= footer.offsetsOffset)
                #expect(
                    footer.dictionaryOffset + UInt64(footer.dictionaryCount) <= footer.groupsOffset)
            }
        }
    }
}
