import Foundation
import RoostCoding
import RoostIO
import Testing

@Suite struct BinaryRoundTripTests {
    @Test(arguments: seeds) func everything(seed: UInt64) throws {
        print("BinaryRoundTripTests.everything: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            try roundTrip(Everything(random: &generator), "seed \(seed)")
        }
    }

    @Test(arguments: seeds) func arraysOfStructs(seed: UInt64) throws {
        print("BinaryRoundTripTests.arraysOfStructs: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        try roundTrip((0..<50).map { _ in Everything(random: &generator) }, "seed \(seed)")
        try roundTrip((0..<50).map { _ in Shape(random: &generator) }, "seed \(seed)")
    }

    @Test func edgesOfIntegers() throws {
        func check<Value: FixedWidthInteger & BinaryCodable>(_ type: Value.Type) throws {
            for value in [Value.min, Value.min + 1, 0, 1, 63, 64, 127, Value.max - 1, Value.max] {
                try roundTrip(value)
                try roundTrip([value, value])
                try roundTrip(Optional(value))
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

    @Test func optionalsInsideOptionals() throws {
        let values: [Int??] = [.none, .some(.none), .some(.some(0)), .some(.some(-1))]
        for value in values { try roundTrip(value) }
        try roundTrip(values)
        let arrays: [[Int]?] = [nil, [], [1]]
        try roundTrip(arrays)
        try roundTrip(["": nil, "a": ""] as [String: String?])
    }

    @Test func bitsOfNotANumberSurvive() throws {
        let double = Double(bitPattern: 0x7ff8_0000_dead_beef)
        let bytes = try BinaryWriter.encode(double)
        #expect(try BinaryReader.decode(Double.self, from: bytes).bitPattern == double.bitPattern)
    }

    @Test func urls() throws {
        let base = try #require(URL(string: "https://example.org/a/b/"))
        try roundTrip(base)
        let relative = try #require(URL(string: "../c?d#e", relativeTo: base))
        try roundTrip(relative)
        try roundTrip(URL(fileURLWithPath: "/tmp/a b/ü"))
    }

    @Test func decimals() throws {
        for text in ["0", "1.50", "-12345678901234567890.0123456789", "1e127", "-1e-127", "10e127"]
        {
            try roundTrip(try #require(Decimal(string: text)))
        }
        try roundTrip([Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .nan])
        try roundTrip([Decimal(1): [0.5, -0.5] as Set<Decimal>])
    }

    @Test func lengthsThatNeedMoreThanOneByte() throws {
        for count in [126, 127, 128, 129, 1_021, 1_022, 16_383, 16_384, 100_000] {
            try roundTrip(String(repeating: "x", count: count))
            try roundTrip([[[String(repeating: "x", count: count)], []]])
            try roundTrip(Shape([.group([], name: String(repeating: "y", count: count)), .point]))
        }
    }

    @Test func equalCollectionsHaveEqualBytes() throws {
        let forward = (0..<1_000).map { "key \($0)" }
        var set = Set<String>(minimumCapacity: 10_000)
        for key in forward.reversed() { set.insert(key) }
        #expect(try BinaryWriter.encode(set) == BinaryWriter.encode(Set(forward)))
        var dictionary: [String: Int] = [:]
        for (index, key) in forward.enumerated().reversed() { dictionary[key] = index }
        let other = Dictionary(uniqueKeysWithValues: zip(forward, 0...))
        #expect(try BinaryWriter.encode(dictionary) == BinaryWriter.encode(other))
        try roundTrip(dictionary)
    }

    @Test func depthThatCannotBeReadIsNotWritten() throws {
        func nested(_ depth: Int) -> Shape {
            (0..<depth).reduce(.point) { inner, _ in Shape([inner]) }
        }
        try roundTrip(nested(256))
        #expect { try BinaryWriter.encode(nested(257)) } throws: {
            ($0 as? RoostError)?.code == .encodingFailed
        }
    }
}
