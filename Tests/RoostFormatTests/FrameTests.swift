import RoostFormat
import RoostTestSupport
import Testing

/// A payload of one put.
private func payload(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Operation.headerSizeBytes)
    bytes.withUnsafeMutableBytes {
        Operation.writeHeader(
            to: $0.baseAddress!, kind: .put, keyCount: key.count, valueCount: value.count,
            frameOffset: Frame.headerSizeBytes)
    }
    return bytes + key + value
}

private func frame(_ payload: [UInt8], _ sequence: UInt64, _ seed: ChecksumSeed) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Frame.sizeBytes(payloadCount: payload.count))
    bytes.replaceSubrange(24..<(24 + payload.count), with: payload)
    bytes.withUnsafeMutableBytes {
        Frame.finish(
            at: $0.baseAddress!, payloadCount: payload.count, sequence: sequence,
            durableSequence: sequence - 3, flags: .synced, seed: seed)
    }
    return bytes
}

private func isFrame(_ bytes: [UInt8], _ seed: ChecksumSeed, at offset: Int = 0) -> Bool {
    bytes.withUnsafeBytes { Frame.view(in: $0, at: offset, seed: seed) != nil }
}

@Suite struct FrameTests {
    let seed = ChecksumSeed(0x1234_5678).part(9)

    @Test func whatWasWrittenIsRead() throws {
        let bytes = frame(payload([1, 65, 66], [9, 8, 7]), 77, seed)
        try bytes.withUnsafeBytes { bytes in
            let view = try #require(Frame.view(in: bytes, at: 0, seed: seed))
            #expect(view.sequence == 77)
            #expect(view.durableSequence == 74)
            #expect(view.flags == .synced)
            #expect(view.sizeBytes == bytes.count)
            var found = 0
            let isWhole = view.forEachOperation { operation in
                found += 1
                #expect(Array(operation.key) == [1, 65, 66])
                #expect(Array(operation.value) == [9, 8, 7])
                #expect(operation.sequence == 77)
                #expect(operation.isPut)
            }
            #expect(isWhole)
            #expect(found == 1)
        }
    }

    @Test func everyFlippedBitIsFound() {
        let body = payload([1, 65, 66], Array(0..<30))
        let bytes = frame(body, 1 << 40, seed)
        // The padding is not under the checksum, so that it may be written later or never.
        for bit in 0..<(8 * (Frame.headerSizeBytes + body.count)) {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!isFrame(damaged, seed), "bit \(bit)")
        }
    }

    @Test func everyTruncationIsFound() {
        let body = payload([1, 65], Array(0..<14))
        let bytes = frame(body, 5, seed)
        for count in 0..<(Frame.headerSizeBytes + body.count) {
            #expect(!isFrame(Array(bytes[..<count]), seed))
        }
    }

    @Test func aFrameOfAnotherSegmentIsNone() {
        let bytes = frame(payload([1, 65], [1]), 5, seed)
        for number in 0..<1_000 where number != 9 {
            #expect(!isFrame(bytes, ChecksumSeed(0x1234_5678).part(UInt64(number))))
        }
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<1_000 {
            #expect(
                !isFrame(bytes, ChecksumSeed(UInt32(truncatingIfNeeded: random.next())).part(9)))
        }
    }

    /// Such a key went into a snapshot, whose counts nobody could read from then on.
    @Test(
        arguments: [(2, true), (1, true), (0, true), (3, false), (255, false)] as [(UInt8, Bool)])
    func aKeyHasAWholeDictionaryName(nameCount: UInt8, isWhole: Bool) {
        let bytes = frame(payload([nameCount, 65, 66], [9, 0]), 7, seed)
        bytes.withUnsafeBytes { bytes in
            let view = Frame.view(in: bytes, at: 0, seed: seed)
            #expect(view?.forEachOperation { _ in } == isWhole)
        }
    }

    @Test func zerosAreNoFrame() {
        #expect(!isFrame([UInt8](repeating: 0, count: 64), seed))
        #expect(!isFrame([UInt8](repeating: 0, count: 64), ChecksumSeed(0)))
        #expect(!isFrame([], seed))
    }

    @Test func hostilePayloadsWithAPassingChecksumAreWalkedWithoutATrap() {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<5_000 {
            var body = payload([1] + random.bytes(random.below(20)), random.bytes(random.below(20)))
            body += payload([0, 65], [])
            for _ in 0..<(1 + random.below(3)) {
                body[random.below(body.count)] = random.bytes(1)[0]
            }
            let bytes = frame(body, 9, seed)
            bytes.withUnsafeBytes { bytes in
                guard let view = Frame.view(in: bytes, at: 0, seed: seed) else { return }
                var sum = 0
                _ = view.forEachOperation {
                    sum &+= Int($0.key.last ?? 0) + Int($0.value.last ?? 0)
                }
                #expect(sum >= 0)
            }
        }
    }
}
