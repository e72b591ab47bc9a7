import Foundation
import RoostCoding
import Testing

/// Values as this version wrote them once, in `Fixtures/values`. They are on disks: later versions
/// read them as the same values, and write the same bytes.
///
/// `ROOST_WRITE_FIXTURES=1 swift test --filter FixtureTests` writes those that do not exist.
@Suite struct FixtureTests {
    private func check<Value: Equatable>(
        _ name: String, _ value: Value, encode: (Value) throws -> [UInt8],
        decode: ([UInt8]) throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let file = folder.appendingPathComponent("Fixtures/values/\(name).bin")
        if ProcessInfo.processInfo.environment["ROOST_WRITE_FIXTURES"] != nil,
            !FileManager.default.fileExists(atPath: file.path)
        {
            try Data(try encode(value)).write(to: file)
        }
        let bytes = [UInt8](try Data(contentsOf: file))
        #expect(try encode(value) == bytes, sourceLocation: sourceLocation)
        #expect(try decode(bytes) == value, sourceLocation: sourceLocation)
    }

    private func checkCoder<Value: Codable & Equatable>(
        _ name: String, _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try check(
            "coder-\(name)", value, encode: { try RoostCoder().encode($0) },
            decode: { try RoostCoder().decode(Value.self, from: $0) },
            sourceLocation: sourceLocation)
    }

    private func checkBinary<Value: BinaryCodable & Equatable>(
        _ name: String, _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try check(
            "binary-\(name)", value, encode: { try BinaryWriter.encode($0) },
            decode: { try BinaryReader.decode(Value.self, from: $0) },
            sourceLocation: sourceLocation)
    }

    @Test func valuesOfTheCoder() throws {
        var generator = SeededGenerator(seed: 42)
        try checkCoder("struct", Sample(random: &generator))
        try checkCoder("array", (0..<5).map { _ in Sample(random: &generator) })
        try checkCoder("enums", (0..<20).map { _ in Tree(random: &generator) })
        try checkCoder(
            "dictionary", ["a": [1: Date(timeIntervalSince1970: 0.5)], "the summer": [:]])
        try checkCoder("integers", [Int64.min, -33, -32, -1, 0, 127, 128, .max])
        try checkCoder("numbers", [0, -0.0, 0.25, 19.99, 1e300, .infinity, Double.pi])
        try checkCoder(
            "texts", ["", "a", "the summer", "漢字", String(repeating: "long ", count: 60)])
    }

    @Test func valuesOfTheBinaryForm() throws {
        var generator = SeededGenerator(seed: 43)
        try checkBinary("struct", Everything(random: &generator))
        try checkBinary("array", (0..<5).map { _ in Everything(random: &generator) })
        try checkBinary("enums", (0..<20).map { _ in Shape(random: &generator) })
        try checkBinary("dictionary", ["a": [1: Date(timeIntervalSince1970: 0.5)], "b": [:]])
    }
}
