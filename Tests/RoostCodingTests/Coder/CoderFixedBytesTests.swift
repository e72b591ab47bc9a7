import Foundation
import Testing

@testable import RoostCoding

/// The bytes that docs/FORMAT-values.md shows. They are on disks: never change them.
@Suite struct CoderFixedBytesTests {
    private struct Model: Codable, Equatable {
        var a = 1
        var b = "x"
        var c: Int?
    }

    private func expect<Value: Codable & Equatable>(
        _ value: Value, _ bytes: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try RoostCoder().encode(value) == hex(bytes), sourceLocation: sourceLocation)
        let decoded = try RoostCoder().decode(Value.self, from: hex(bytes))
        #expect(decoded == value, sourceLocation: sourceLocation)
    }

    @Test func values() throws {
        try expect(300, "02 00 07 ac 02")
        try expect(-1, "02 00 60")
        try expect(0.5, "02 00 13 64")
        try expect(3.0, "02 00 12 06")
        try expect(["b": 1, "a": 2], "02 00 11 06 21 61 82 21 62 81")
        try expect(try #require(Decimal(string: "-1.50")), "02 00 0d 01 01 0f")
        try expect(Data([7]), "02 00 0a 01 07")
        try expect(Date(timeIntervalSinceReferenceDate: 150), "02 00 14 ac 02")
        try expect(Date(timeIntervalSinceReferenceDate: 1.5), "02 00 0b 00 00 00 00 00 00 f8 3f")
    }

    @Test func text() throws {
        try expect("Ideas for the summer", "02 00 49 4f 7f 69 06 e1 d3 eb b3 ca")
        // Codes that would be no fewer than the bytes.
        try expect("xyz", "02 00 23 78 79 7a")
        try expect("漢", "02 00 23 e6 bc a2")
        try expect("the summer 漢", "02 00 4b e1 d3 eb b3 cb ff e6 ff bc ff a2")
        let sentence = String(repeating: "the summer ", count: 10)
        let codes = String(repeating: "e1 d3 eb b3 cb ", count: 10)
        try expect(sentence, "02 00 15 32" + codes)
    }

    @Test func objects() throws {
        let shape = "03 02 37 02 46 02 4b"
        try expect(Model(), "16 01" + shape + "81 21 78 02")
        let object = "18 04 81 21 78 02"
        try expect([Model(), Model()], "02 01" + shape + "0f 0c" + object + object)
        struct Note: Codable, Equatable {
            var title = ""
            var createdAt = 5
            var tags: [Model]? = [Model()]
        }
        let names = "03 02 dd 06 f9 88 0b 02 d3"
        let note = try RoostCoder().encode(Note())
        #expect(note.starts(with: hex("16 02" + shape + names)))
        try coderRoundTrip(Note())
    }

    /// What is written by symbols is read by them: the lists must stay what they are.
    @Test func symbols() {
        func hash(_ symbols: [Substring]) -> UInt64 {
            symbols.joined(separator: "\n").utf8.reduce(0xcbf2_9ce4_8422_2325) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
        }
        #expect(hash(TextSymbols.all) == 8_348_095_882_617_920_633)
        #expect(hash(NameSymbols.short) == 1_961_777_089_340_284_839)
        #expect(hash(NameSymbols.words) == 14_466_986_021_894_680_342)
    }
}
