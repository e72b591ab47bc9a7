import Testing

@testable import RoostCoding

@Suite struct CoderTextTests {
    @Test(arguments: seeds) func anyTextRoundTrips(seed: UInt64) throws {
        print("CoderTextTests.anyTextRoundTrips: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let pieces = TextSymbols.all + NameSymbols.words + ["é", "漢", "\0", "\u{10ffff}", "\u{7f}"]
        for _ in 0..<300 {
            let text = (0..<(generator.next() % 30)).map { _ in
                String(pieces[Int(generator.next() % UInt64(pieces.count))])
            }.joined()
            try coderRoundTrip(text, "seed \(seed)")
            try coderRoundTrip([text: text], "seed \(seed)")
            let name = NameCodec.shared.encode(text)
            let decoded = name.withUnsafeBytes { NameCodec.shared.decode($0) }
            #expect(decoded?.utf8.elementsEqual(text.utf8) == true, "seed \(seed)")
        }
    }

    @Test func everySymbolRoundTrips() throws {
        let symbols = TextSymbols.all + NameSymbols.short + NameSymbols.words
        for symbol in symbols.map(String.init) {
            for text in [symbol, symbol + "\0", "\0" + symbol, symbol + symbol] {
                try coderRoundTrip(text)
            }
        }
        let lengths = (0...300).map { String(repeating: "ab", count: $0 / 2) }
        try coderRoundTrip(lengths)
    }

    @Test func codesNeverTakeMoreThanTheText() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let text = generator.string()
            let plain = text.utf8.count + (text.utf8.count < 32 ? 1 : text.utf8.count < 128 ? 2 : 3)
            #expect(try RoostCoder().encode(text).count <= 2 + plain)
        }
    }

    /// Keys that Swift holds to be equal are different properties.
    @Test func namesAreToldApartByTheirBytes() throws {
        struct Names: Codable, Equatable {
            var composed = 1
            var decomposed = 2
            enum CodingKeys: String, CodingKey {
                case composed = "caf\u{e9}"
                case decomposed = "cafe\u{301}"
            }
        }
        try coderRoundTrip([Names(), Names(composed: 3, decomposed: 4)])
    }

    @Test func propertiesBeyondCountOfShapesInTags() throws {
        let shapes: [[String: Int]] = (0..<40).map { ["key\($0)": $0] }
        struct Dynamic: Codable, Equatable {
            var values: [String: Int]
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            init(_ values: [String: Int]) { self.values = values }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                values = [:]
                for key in container.allKeys {
                    values[key.stringValue] = try container.decode(Int.self, forKey: key)
                }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    try container.encode(value, forKey: Key(stringValue: name))
                }
            }
        }
        try coderRoundTrip(shapes.map(Dynamic.init))
        try coderRoundTrip(
            Dynamic(Dictionary(uniqueKeysWithValues: (0..<300).map { ("k\($0)", $0) })))
    }
}
