import Foundation
import RoostCoding
import Testing

/// The bytes that docs/FORMAT.md shows. They are on disks: never change them.
@Suite struct BinaryFixedBytesTests {
    private func expect<Value: BinaryCodable & Equatable>(
        _ value: Value, _ bytes: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try BinaryWriter.encode(value) == hex(bytes), sourceLocation: sourceLocation)
        let decoded = try BinaryReader.decode(Value.self, from: hex(bytes))
        #expect(decoded == value, sourceLocation: sourceLocation)
    }

    @Test func scalars() throws {
        try expect(true, "01")
        try expect(UInt8(200), "c8 01")
        try expect(300 as UInt, "ac 02")
        try expect(-1, "01")
        try expect(150, "ac 02")
        try expect(Int64.min, "ff ff ff ff ff ff ff ff ff 01")
        try expect(UInt128.max, String(repeating: "ff", count: 18) + "03")
        try expect(1.5 as Float, "00 00 c0 3f")
        try expect(1.5, "00 00 00 00 00 00 f8 3f")
        try expect("é", "02 c3 a9")
        try expect(Theme.dark, "04 64 61 72 6b")
    }

    @Test func foundation() throws {
        try expect(Data([1, 2]), "02 01 02")
        try expect(Date(timeIntervalSinceReferenceDate: 1.5), "00 00 00 00 00 00 f8 3f")
        let text = "00112233-4455-6677-8899-AABBCCDDEEFF"
        let uuid = try #require(UUID(uuidString: text))
        try expect(uuid, "00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff")
        try expect(try #require(URL(string: "a:b")), "03 61 3a 62")
        try expect(try #require(Decimal(string: "-1.50")), "01 01 0f")
    }

    @Test func collections() throws {
        try expect([1, -1, 64], "04 02 01 80 01")
        try expect([200, 1] as [UInt8], "02 c8 01")
        try expect([nil, 3] as [Int?], "03 00 01 06")
        try expect(["b", "a"] as Set, "04 01 61 01 62")
        try expect(["b": 1, "a": 2], "06 01 61 04 01 62 02")
    }

    @Test func structsAndEnums() throws {
        try expect(Shape.point, "01")
        try expect(Shape.group([.point], name: "x"), "03 0a 02 01 01 12 01 78")
    }
}
