import CLZ4
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
                decompress(
                    stored.bytes, leftOutCount: stored.leftOutCount, dictionary: $0,
                    count: value.count, into: target)
            }
        }
        guard isWhole else { return [] }
        // With some room more.
        var roomy = [UInt8](repeating: 0xaa, count: value.count + 12)
        let isWholeAgain = roomy.withUnsafeMutableBytes { room in
            compressor.dictionary.bytes.withUnsafeBytes {
                decompress(
                    stored.bytes, leftOutCount: stored.leftOutCount, dictionary: $0,
                    count: value.count, into: room)
            }
        }
        return isWholeAgain && roomy.starts(with: result) ? result : []
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
            stored += record(number).withUnsafeBytes {
                compressor.compress($0)?.bytes.count ?? $0.count
            }
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

    @Test func theEndOfAShortBlockIsLeftOut() {
        var random = SeededGenerator(seed: testSeed())
        let dictionary = CompressionDictionary.train(
            samples: (0..<100).map(record), recordCount: 100)
        var seen: Set<Int> = []
        for dictionary in [dictionary, .init()] {
            var compressor = ValueCompressor(dictionary: dictionary)
            for round in 0..<4_000 {
                var value = record(round) + random.bytes([0, 0, 1, 5, 20][random.below(5)])
                // Ends that repeat, also as the zeros that stand after them when it is compressed.
                value += [UInt8](
                    repeating: [0, 0x61, 0xc0][random.below(3)], count: random.below(40))
                if random.once(in: 10) { value += random.bytes(980) }
                let back = roundTrip(value, &compressor)
                // Noise is left alone.
                #expect(back == nil || back == value)
                value.withUnsafeBytes { bytes in
                    if let stored = compressor.compress(bytes) { seen.insert(stored.leftOutCount) }
                }
            }
        }
        #expect(seen == [0, 12, 13])
    }

    /// As an older LZ4 decompresses them.
    @Test func blocksAreDecompressedByWayOfTheWholeAlike() {
        var compressor = ValueCompressor(dictionary: .init())
        for size in 20..<200 {
            let value = (0..<size).map { UInt8($0 / 8) } + [UInt8](repeating: 1, count: 30)
            value.withUnsafeBytes { bytes in
                guard let stored = compressor.compress(bytes) else { return }
                let end = [0xc0] + [UInt8](repeating: 0, count: 12)
                let block = Array(stored.bytes) + end.suffix(stored.leftOutCount)
                for decompress in [roost_lz4_decompress_begin, roost_lz4_decompress_whole] {
                    var target = [CChar](repeating: -1, count: value.count + 8)
                    let count = block.withUnsafeBufferPointer { block in
                        block.withMemoryRebound(to: CChar.self) {
                            decompress(
                                $0.baseAddress, &target, Int32(block.count), Int32(value.count),
                                nil, 0)
                        }
                    }
                    #expect(Int(count) == value.count)
                    #expect(
                        target.map { UInt8(bitPattern: $0) } == value
                            + [UInt8](repeating: 255, count: 8))
                }
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
            var stored = record(round).withUnsafeBytes {
                Array(compressor.compress($0)?.bytes ?? $0)
            }
            let leftOutCount = [0, 12, 13][random.below(3)]
            for _ in 0..<(1 + random.below(3)) {
                stored[random.below(stored.count)] = random.bytes(1)[0]
            }
            if random.once(in: 3) { stored.removeLast(random.below(stored.count)) }
            var target = [UInt8](repeating: 0xaa, count: random.below(200) + 8)
            target.withUnsafeMutableBytes { whole in
                let inner = UnsafeMutableRawBufferPointer(rebasing: whole[..<(whole.count - 8)])
                _ = stored.withUnsafeBytes { stored in
                    dictionary.bytes.withUnsafeBytes {
                        decompress(
                            stored, leftOutCount: leftOutCount, dictionary: $0,
                            count: max(inner.count - random.below(20), 0), into: inner)
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

    @Test func runsOfOneByteNeedNoDictionary() throws {
        var random = SeededGenerator(seed: testSeed())
        func value(_ random: inout SeededGenerator) -> [UInt8] {
            random.bytes(50) + [UInt8](repeating: 0x61, count: 50)
        }
        let dictionary = CompressionDictionary.train(
            samples: (0..<500).map { _ in value(&random) }, recordCount: 500)
        #expect(dictionary.bytes.isEmpty)
        var compressor = ValueCompressor(dictionary: dictionary)
        for _ in 0..<100 {
            let value = value(&random)
            #expect(roundTrip(value, &compressor) == value)
            // A token and the lengths' further bytes, the noise and one of the run, an offset.
            let count = value.withUnsafeBytes { compressor.compress($0)?.bytes.count }
            #expect(try #require(count) <= 57)
        }
    }

    @Test func aShardOutgrowsItsDictionaryAtEightTimesItsSize() {
        #expect(!CompressionDictionary().isOutgrown(byRecordCount: 31))
        #expect(CompressionDictionary().isOutgrown(byRecordCount: 32))
        let dictionary = CompressionDictionary(bytes: [1], recordCount: 100)
        #expect(!dictionary.isOutgrown(byRecordCount: 799))
        #expect(dictionary.isOutgrown(byRecordCount: 800))
    }
}
