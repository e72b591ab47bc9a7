import RoostSnapshot
import RoostTestSupport
import Testing

private func record(_ number: Int) -> [UInt8] {
    Array(
        #"{"name":"package-\#(number)","section":"libs","version":"1.\#(number % 7)","size":\#(number * 31)}"#
            .utf8)
}

private func roundTrip(_ value: [UInt8], _ compressor: inout ValueCompressor) -> [UInt8]? {
    value.withUnsafeBytes { bytes in
        guard let stored = compressor.compress(bytes) else { return nil }
        var result = [UInt8](repeating: 0xaa, count: value.count)
        let isWhole = result.withUnsafeMutableBytes { target in
            compressor.dictionary.bytes.withUnsafeBytes {
                decompress(stored, dictionary: $0, into: target)
            }
        }
        return isWhole ? result : []
    }
}

@Suite struct CompressionTests {
    @Test func smallRecordsCompressAgainstATrainedDictionary() {
        let dictionary = CompressionDictionary.train(
            samples: (0..<500).map(record), recordCount: 500)
        #expect(!dictionary.bytes.isEmpty)
        #expect(dictionary.bytes.count <= CompressionDictionary.targetSizeBytes)
        var compressor = ValueCompressor(dictionary: dictionary)
        var stored = 0
        var raw = 0
        for number in 1_000..<1_200 {
            #expect(roundTrip(record(number), &compressor) == record(number))
            raw += record(number).count
            stored += record(number).withUnsafeBytes { compressor.compress($0)?.count ?? $0.count }
        }
        #expect(stored * 3 < raw * 2, "\(stored) of \(raw) bytes")
    }

    @Test func valuesOfEverySizeComeBack() {
        var random = SeededGenerator(seed: testSeed())
        let dictionary = CompressionDictionary.train(
            samples: (0..<100).map(record), recordCount: 100)
        for dictionary in [dictionary, .init()] {
            var compressor = ValueCompressor(dictionary: dictionary)
            for size in [64, 100, 1_000, 65_535, 65_536, 65_537, 200_000, 1 << 20] {
                let word = random.bytes(9)
                let value = (0..<size).map { word[$0 % 9] }
                #expect(roundTrip(value, &compressor) == value, "\(size) bytes")
            }
        }
    }

    @Test func whatDoesNotShrinkIsLeftAlone() {
        var random = SeededGenerator(seed: testSeed())
        var compressor = ValueCompressor(dictionary: .init())
        for size in [0, 1, 19, 20, 100, 10_000] {
            #expect(roundTrip(random.bytes(size), &compressor) == nil)
        }
        // After many failures in a row some values are still tried.
        for _ in 0..<200 { _ = roundTrip(random.bytes(64), &compressor) }
        let easy = [UInt8](repeating: 7, count: 500)
        #expect((0..<20).contains { _ in roundTrip(easy, &compressor) == easy })
    }

    @Test func hostileBytesAreRefusedWithinTheirBounds() {
        var random = SeededGenerator(seed: testSeed())
        let dictionary = CompressionDictionary.train(
            samples: (0..<100).map(record), recordCount: 100)
        var compressor = ValueCompressor(dictionary: dictionary)
        for round in 0..<20_000 {
            var stored = record(round).withUnsafeBytes { Array(compressor.compress($0) ?? $0) }
            for _ in 0..<(1 + random.below(3)) {
                stored[random.below(stored.count)] = random.bytes(1)[0]
            }
            if random.once(in: 3) { stored.removeLast(random.below(stored.count)) }
            var target = [UInt8](repeating: 0xaa, count: random.below(200) + 8)
            target.withUnsafeMutableBytes { whole in
                let inner = UnsafeMutableRawBufferPointer(rebasing: whole[..<(whole.count - 8)])
                _ = stored.withUnsafeBytes { stored in
                    dictionary.bytes.withUnsafeBytes {
                        decompress(stored, dictionary: $0, into: inner)
                    }
                }
            }
            #expect(target.suffix(8).allSatisfy { $0 == 0xaa })
        }
    }

    @Test func tooFewSamplesTeachNothing() {
        #expect(
            CompressionDictionary.train(samples: (0..<31).map(record), recordCount: 31).bytes
                .isEmpty)
        #expect(CompressionDictionary.train(samples: [], recordCount: 0).bytes.isEmpty)
        var random = SeededGenerator(seed: testSeed())
        let noise = (0..<200).map { _ in random.bytes(40) }
        #expect(CompressionDictionary.train(samples: noise, recordCount: 200).bytes.count < 600)
    }

    @Test func aShardOutgrowsItsDictionaryAtEightTimesItsSize() {
        #expect(!CompressionDictionary().isOutgrown(byRecordCount: 31))
        #expect(CompressionDictionary().isOutgrown(byRecordCount: 32))
        let dictionary = CompressionDictionary(bytes: [1], recordCount: 100)
        #expect(!dictionary.isOutgrown(byRecordCount: 799))
        #expect(dictionary.isOutgrown(byRecordCount: 800))
    }
}
