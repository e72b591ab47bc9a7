import Foundation
import RoostCoding
import Testing

/// The bytes that docs/FORMAT.md shows. They are on disks: never change them.
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
        try expect(300, "01 00 00 07 ac 02")
        try expect(-1, "01 00 00 60")
        try expect(0.5, "01 00 00 13 64")
        try expect(3.0, "01 00 00 12 06")
        try expect(["b": 1, "a": 2], "01 00 00 11 06 21 61 82 21 62 81")
        try expect(try #require(Decimal(string: "-1.50")), "01 00 00 0d 01 01 0f")
        try expect(Data([7]), "01 00 00 0a 01 07")
    }

    @Test func objects() throws {
        let tables = "01 03 01 61 01 62 01 63 01 03 00 01 02"
        let object = "10 05 00 81 21 78 02"
        try expect(Model(), tables + object)
        try expect([Model(), Model()], tables + "0f 0e" + object + object)
    }
}
