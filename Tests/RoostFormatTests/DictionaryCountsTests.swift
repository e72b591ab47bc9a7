import RoostFormat
import RoostTestSupport
import Testing

@Suite struct DictionaryCountsTests {
    private func counts() -> DictionaryCounts {
        var counts = DictionaryCounts()
        for (key, isPut, sequence) in [
            ([0, 1], true, 5), ([1, 97, 1], true, 3), ([1, 97, 2], false, 9), ([1, 98], true, 4),
            ([2, 97, 98, 7], true, 2),
        ] as [([UInt8], Bool, UInt64)] {
            key.withUnsafeBytes { counts.add($0, isPut: isPut, sequence: sequence) }
        }
        counts.finish()
        return counts
    }

    @Test func recordsAreCountedByDictionary() throws {
        let counts = counts()
        #expect(counts.entries.map(\.prefix) == [[0], [1, 97], [1, 98], [2, 97, 98]])
        let entry = try #require(counts.entry([1, 97]))
        #expect(entry.putCount == 1 && entry.tombstoneCount == 1)
        #expect(entry.minimumSequence == 3 && entry.maximumSequence == 9)
        #expect(counts.entry([1, 99]) == nil)
        #expect(counts.entry([]) == nil)
    }

    @Test func whatWasWrittenIsReadAndNothingElse() {
        let counts = counts()
        let bytes = counts.encoded()
        bytes.withUnsafeBytes { #expect(DictionaryCounts($0, count: 4) == counts) }
        for count in [0, 3, 5, .max] {
            bytes.withUnsafeBytes { #expect(DictionaryCounts($0, count: count) == nil) }
        }
        for length in bytes.indices {
            bytes[..<length].withUnsafeBytes { #expect(DictionaryCounts($0, count: 4) == nil) }
        }
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<2_000 {
            let noise = random.bytes(random.below(200))
            noise.withUnsafeBytes { _ = DictionaryCounts($0, count: random.below(6)) }
        }
    }
}
