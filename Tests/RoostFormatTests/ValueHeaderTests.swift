import RoostFormat
import RoostTestSupport
import Testing

@Suite struct ValueHeaderTests {
    @Test func aHeaderComesBackWithWhatItWasMadeOf() throws {
        for deadline in [Deadline.never, .init(milliseconds: 0), .init(milliseconds: 1), .latest] {
            for version: UInt32 in [1, 2, 127, 128, 300, .max] {
                let header = ValueHeader(kind: 35, deadline: deadline, version: version)
                let read = (header.bytes + [9, 9]).withUnsafeBytes { ValueHeader($0) }
                #expect(read == header)
                #expect(read?.sizeBytes == header.bytes.count)
            }
        }
        #expect(ValueHeader(kind: 2).bytes == [2])
        #expect(
            ValueHeader(kind: 2, deadline: .init(milliseconds: 0x0102)).bytes == [
                0x82, 2, 1, 0, 0, 0, 0, 0, 0,
            ])
        #expect(ValueHeader(kind: 35, version: 300).bytes == [0x63, 0xac, 0x02])
    }

    @Test func bytesThatEndTooSoonOrMakeNoSenseAreNoHeader() {
        func read(_ bytes: [UInt8]) -> ValueHeader? { bytes.withUnsafeBytes { ValueHeader($0) } }
        #expect(read([]) == nil)
        let whole = ValueHeader(kind: 35, deadline: .init(milliseconds: 5), version: 300).bytes
        for count in 0..<whole.count { #expect(read(Array(whole.prefix(count))) == nil) }
        // A version of 0 or 1 is not written, and none is beyond 32 bits.
        #expect(read([0x63, 0]) == nil)
        #expect(read([0x63, 1]) == nil)
        #expect(read([0x63, 0xff, 0xff, 0xff, 0xff, 0x7f]) == nil)
        #expect(read([0x63] + [UInt8](repeating: 0xff, count: 20)) == nil)
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<2000 {
            let bytes = random.bytes(random.below(24))
            if let header = read(bytes) { #expect(header.sizeBytes <= bytes.count) }
        }
    }

    @Test func anOperationThatSaysAnotherThingThanItsValueMakesNoSense() {
        func isWhole(_ kind: Operation.Kind, _ value: [UInt8]) -> Bool {
            let payloadCount = Operation.headerSizeBytes + 1 + value.count
            var frame = [UInt8](repeating: 0, count: Frame.sizeBytes(payloadCount: payloadCount))
            return frame.withUnsafeMutableBytes { buffer in
                let start = buffer.baseAddress!
                Operation.writeHeader(
                    to: start + Frame.headerSizeBytes, kind: kind, keyCount: 1,
                    valueCount: value.count, frameOffset: Frame.headerSizeBytes)
                for (index, byte) in value.enumerated() {
                    buffer[Frame.headerSizeBytes + Operation.headerSizeBytes + 1 + index] = byte
                }
                let seed = ChecksumSeed(1)
                Frame.finish(
                    at: start, payloadCount: payloadCount, sequence: 1, durableSequence: 0,
                    flags: .none, seed: seed)
                let view = Frame.view(in: UnsafeRawBufferPointer(buffer), at: 0, seed: seed)
                return view!.forEachOperation { _ in }
            }
        }
        let expiring = ValueHeader(kind: 2, deadline: .init(milliseconds: 5)).bytes
        #expect(isWhole(.put, [2, 0]))
        #expect(isWhole(.expiringPut, expiring))
        #expect(!isWhole(.put, expiring))
        #expect(!isWhole(.expiringPut, [2, 0]))
        #expect(!isWhole(.expiringPut, Array(expiring.dropLast())))
        #expect(!isWhole(.expiringPut, []))
    }
}
