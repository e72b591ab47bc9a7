import Foundation
import RoostCoding
import RoostIO
import Testing

func coderRoundTrip<Value: Codable & Equatable>(
    _ value: Value, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let bytes = try RoostCoder().encode(value)
    let decoded = try RoostCoder().decode(Value.self, from: bytes)
    #expect(decoded == value, comment, sourceLocation: sourceLocation)
    let again = try RoostCoder().encode(decoded)
    #expect(again == bytes, comment, sourceLocation: sourceLocation)
}

/// A key that is text, and may look like a number.
private struct PostalCode: RawRepresentable, Codable, Hashable, CodingKeyRepresentable {
    var rawValue: String
}

/// A key that has a number beside its name.
private enum Named: Int, Codable, CodingKey, CodingKeyRepresentable {
    case one = 1
    case two

    var codingKey: any CodingKey { self }

    init?(codingKey: some CodingKey) {
        guard let number = codingKey.intValue else { return nil }
        self.init(rawValue: number)
    }
}

/// Writes a dictionary into its own coder.
private struct HandedOn: Codable, Equatable {
    var numbers: [String: Int]
    init(_ numbers: [String: Int]) { self.numbers = numbers }
    func encode(to encoder: any Encoder) throws { try numbers.encode(to: encoder) }
    init(from decoder: any Decoder) throws { numbers = try [String: Int](from: decoder) }
}

@Suite struct CoderRoundTripTests {
    @Test(arguments: seeds) func samples(seed: UInt64) throws {
        print("CoderRoundTripTests.samples: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 { try coderRoundTrip(Sample(random: &generator), "seed \(seed)") }
        try coderRoundTrip((0..<50).map { _ in Sample(random: &generator) }, "seed \(seed)")
        try coderRoundTrip((0..<50).map { _ in Tree(random: &generator) }, "seed \(seed)")
    }

    @Test func edgesOfNumbers() throws {
        func check<Value: FixedWidthInteger & Codable>(_ type: Value.Type) throws {
            let near: [Value] = [0, 1, 31, 32, 33, 63, 64, 126, 127]
            for value in near + [.min, .min + 1, .max - 1, .max] {
                try coderRoundTrip(value)
                try coderRoundTrip([0 &- value, value])
            }
        }
        try check(Int8.self)
        try check(Int16.self)
        try check(Int32.self)
        try check(Int64.self)
        try check(Int.self)
        try check(Int128.self)
        try check(UInt8.self)
        try check(UInt16.self)
        try check(UInt32.self)
        try check(UInt64.self)
        try check(UInt.self)
        try check(UInt128.self)
    }

    @Test func floatingPointKeepsEveryBit() throws {
        var generator = SeededGenerator(seed: 9)
        var values: [Double] = [
            0, -0.0, 0.1, 19.99, -19.99, 1e-5, 1e300, 0x1p53, 0x1p53 - 1, -0x1p53, 0.005, 1.005,
            .infinity, -.infinity, .nan, .signalingNaN, .leastNonzeroMagnitude, .pi,
            .greatestFiniteMagnitude, 1e10 + 0.01,
        ]
        for _ in 0..<2_000 { values.append(Double(bitPattern: generator.next())) }
        for _ in 0..<2_000 { values.append(Double(generator.integer(Int32.self)) / 100) }
        let coder = RoostCoder()
        let decoded = try coder.decode([Double].self, from: coder.encode(values))
        #expect(decoded.map(\.bitPattern) == values.map(\.bitPattern))
        let floats = values.map { Float($0) } + [Float(bitPattern: 0x7fa0_0001)]
        let decodedFloats = try coder.decode([Float].self, from: coder.encode(floats))
        #expect(decodedFloats.map(\.bitPattern) == floats.map(\.bitPattern))
    }

    @Test func foundationTypes() throws {
        let base = try #require(URL(string: "https://example.org/a/"))
        try coderRoundTrip(base)
        try coderRoundTrip(try #require(URL(string: "b?c", relativeTo: base)))
        try coderRoundTrip([Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 0.1)])
        try coderRoundTrip([Data(), Data([1, 2, 3])])
        let texts = [
            "0", "1", "-1", "0.1", "-123.456", "1e127", "1e-128", "3e-127", "1000000",
            "340282366920938463463374607431768211455", "-340282366920938463463374607431768211455",
            "10e127", "100e127", "-5000e127", "340282366920938463463374607431768211450e127",
            "18446744073709551616", "12345678901234567890123456789.123456",
        ]
        for text in texts {
            let value = try #require(Decimal(string: text))
            try coderRoundTrip(value)
        }
        try coderRoundTrip([Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .nan])
        // Their sum has the highest exponent, and a significand that ends in zero.
        let half = Decimal(sign: .plus, exponent: 127, significand: 5)
        try coderRoundTrip(half + half)
        try coderRoundTrip(Locale(identifier: "de_CH"))
        try coderRoundTrip(DateComponents(year: 2026, month: 2))
        try coderRoundTrip(IndexSet([1, 2, 9]))
        try coderRoundTrip(Measurement(value: 2.5, unit: UnitLength.meters))
    }

    @Test func dictionariesOfEveryKindOfKey() throws {
        try coderRoundTrip([1: "a", -5: "b", 300: "c"])
        try coderRoundTrip(["": 1, "b": 2, "é": 3])
        try coderRoundTrip([Mood.calm: 1, .loud: 2])
        try coderRoundTrip([UInt8(1): ["a": [UInt8(3): Mood.calm]]])
        try coderRoundTrip([Date(timeIntervalSince1970: 5): 1, .distantPast: 2])
        try coderRoundTrip([[1, 2]: "x", []: "y"])
    }

    @Test func keysKeepTheSpellingOfTheirNumbers() throws {
        let numbers = ["007": 1, "+7": 2, "-0": 3, "7": 4, "": 5]
        let codes = numbers.map { (PostalCode(rawValue: $0), $1) }
        try coderRoundTrip(Dictionary(uniqueKeysWithValues: codes))
        try coderRoundTrip(numbers)
        try coderRoundTrip(HandedOn(numbers))
        try coderRoundTrip([HandedOn(numbers), HandedOn(["0012": 1])])
    }

    @Test func keysWhoseNumberIsTheirTextAreNumbers() throws {
        let bytes = try RoostCoder().encode([PostalCode(rawValue: "7"): 1])
        #expect(bytes == hex("0200 11 02 87 81"))
        // The number of a key whose text is a name of it.
        #expect(try RoostCoder().encode([Named.one: 2]) == hex("0200 11 02 81 82"))
        try coderRoundTrip([Named.one: 2, .two: 3])
    }

    @Test func optionals() throws {
        try coderRoundTrip(Int?.none)
        try coderRoundTrip(Int?.some(4))
        try coderRoundTrip([nil, "a", nil] as [String?])
        try coderRoundTrip(["a": nil, "b": 1] as [String: Int?])
    }

    @Test func manyShapesAndLongContents() throws {
        struct Wide: Codable, Equatable {
            var values: [[String: Tree]]
            var text: String
        }
        let trees = (0..<300).map { ["key \($0)": Tree.number($0, label: "\($0)")] }
        for count in [0, 100, 125, 126, 127, 128, 129, 20_000] {
            let text = String(repeating: "x", count: count)
            try coderRoundTrip(Wide(values: trees, text: text))
            try coderRoundTrip(Tree.many([.number(1, label: text), .number(2, label: text)]))
        }
    }

    @Test func equalValuesHaveEqualBytes() throws {
        let trees = (0..<200).map { index -> Tree in
            index % 2 == 0 ? .number(index, label: nil) : .branch(left: .leaf, right: .many([]))
        }
        var grown = Set<Tree>(minimumCapacity: 5_000)
        for tree in trees.reversed() { grown.insert(tree) }
        #expect(try RoostCoder().encode(grown) == RoostCoder().encode(Set(trees)))
        var byTree: [Tree: Tree] = [:]
        byTree.reserveCapacity(5_000)
        for tree in trees { byTree[tree] = tree }
        let other = Dictionary(trees.reversed().map { ($0, $0) }) { one, _ in one }
        #expect(try RoostCoder().encode(byTree) == RoostCoder().encode(other))
        let names = (0..<500).map { "name \($0)" }
        var byName: [String: Tree] = Dictionary(minimumCapacity: 9_000)
        for name in names { byName[name] = name.hasSuffix("7") ? .leaf : .many([]) }
        let smaller = Dictionary(uniqueKeysWithValues: byName.map { ($0, $1) })
        #expect(try RoostCoder().encode(byName) == RoostCoder().encode(smaller))
        #expect(
            try RoostCoder().encode(Decimal(string: "1.50")) == RoostCoder().encode(Decimal(1.5)))
    }

    @Test func noLargerThanHalfOfJSON() throws {
        var generator = SeededGenerator(seed: 4)
        let samples = (0..<100).map { _ in Person(index: Int(generator.next() % 100_000)) }
        let json = try JSONEncoder().encode(samples).count
        #expect(try RoostCoder().encode(samples).count * 2 <= json)
    }
}

private struct Person: Codable {
    var id: Int
    var name: String
    var isActive: Bool
    var score: Double
    var joined: Date
    var tags: [String]

    init(index: Int) {
        id = index
        name = "Person \(index)"
        isActive = index % 2 == 0
        score = Double(index) / 8
        joined = Date(timeIntervalSinceReferenceDate: Double(index) * 1_000.25)
        tags = ["one", "two"]
    }
}
