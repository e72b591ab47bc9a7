import Foundation
import RoostCoding
import RoostIO
import Testing

/// Bytes that nobody wrote: each must give an error, and none a trap, a hang or large memory.
@Suite struct BinaryHostileBytesTests {
    @Test func everyTruncation() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<5 {
            let bytes = try BinaryWriter.encode(Everything(random: &generator))
            for count in 0..<bytes.count { expectFailure(Everything.self, Array(bytes[..<count])) }
        }
    }

    @Test(arguments: seeds) func mutations(seed: UInt64) throws {
        print("BinaryHostileBytesTests.mutations: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let original = try BinaryWriter.encode(Everything(random: &generator))
        for _ in 0..<5_000 {
            var bytes = original
            for _ in 0...(generator.next() % 4) {
                let index = Int(generator.next() % UInt64(bytes.count))
                bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            }
            do {
                _ = try BinaryReader.decode(Everything.self, from: bytes)
            } catch {
                #expect((error as? RoostError)?.code == .decodingFailed, "seed \(seed)")
            }
        }
    }

    @Test(arguments: seeds) func noise(seed: UInt64) throws {
        print("BinaryHostileBytesTests.noise: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bytes = generator.bytes()
            _ = try? BinaryReader.decode(Everything.self, from: bytes)
            _ = try? BinaryReader.decode([Shape].self, from: bytes)
            _ = try? BinaryReader.decode([Int128: [String?]].self, from: bytes)
            _ = try? BinaryReader.decode(Set<URL>.self, from: bytes)
        }
    }

    @Test func lengthBombs() {
        for length in [
            "ff ff ff ff 7f", "ff ff ff ff ff ff ff ff 7f", "ff ff ff ff ff ff ff ff ff 01",
        ] {
            expectFailure(String.self, hex(length + "61"))
            expectFailure([UInt8].self, hex(length + "61"))
            expectFailure([Int].self, hex(length + "02"))
            expectFailure([Shape].self, hex("06" + length))
            expectFailure(Data.self, hex(length))
            expectFailure(Set<Int>.self, hex(length))
            expectFailure([Int: Int].self, hex(length))
            expectFailure(Int?.self, hex(length))
            expectFailure(Shape.self, hex("03 0a" + length))
        }
    }

    @Test func recursionBombs() {
        /// Groups inside groups, written from the inside out.
        var bytes = hex("01")
        func varint(_ value: Int) -> [UInt8] {
            var rest = value
            var result: [UInt8] = []
            while rest >= 0x80 {
                result.append(UInt8(rest & 0x7f | 0x80))
                rest >>= 7
            }
            return result + [UInt8(rest)]
        }
        var reversed: [UInt8] = bytes
        for _ in 0..<100_000 {
            let element = varint(reversed.count)
            let array = varint(reversed.count + element.count)
            reversed += (hex("03 0a") + array + element).reversed()
        }
        bytes = reversed.reversed()
        #expect(expectFailure(Shape.self, bytes).contains("nested deeper than 512"))
    }

    @Test func numbersThatDoNotFit() {
        expectFailure(UInt8.self, hex("80 02"))
        expectFailure(Int8.self, hex("80 02"))
        expectFailure(UInt64.self, hex("ff ff ff ff ff ff ff ff ff 02"))
        expectFailure(UInt64.self, hex("80 80 80 80 80 80 80 80 80 80 01"))
        expectFailure(Bool.self, hex("02"))
        let ones = String(repeating: "ff", count: 18)
        expectFailure(UInt128.self, hex(ones + "04"))
        expectFailure(UInt128.self, hex(ones + "ff 01"))
        expectFailure(UInt64.self, hex("80 00"))
        expectFailure(UInt128.self, hex("80 00"))
    }

    @Test func text() {
        expectFailure(String.self, hex("01 ff"))
        expectFailure(String.self, hex("02 c0 80"))
        expectFailure(String.self, hex("03 ed a0 80"))
        expectFailure(URL.self, hex("00"))
        expectFailure(Decimal.self, hex("03 00 01"))
        expectFailure(Decimal.self, hex("01 01"))
        expectFailure(Decimal.self, hex("00 01 0a"))
        expectFailure(Theme.self, hex("01 61"))
    }

    @Test func bytesBehindTheValue() {
        expectFailure(Int.self, hex("02 02"))
        expectFailure(String.self, hex("00 00"))
        expectFailure([Int].self, hex("01 02 03"))
        expectFailure(Int?.self, hex("02 02 02"))
        expectFailure(Int.self, [])
    }

    @Test func repeatedElements() {
        expectFailure(Set<Int>.self, hex("02 02 02"))
        expectFailure([Int: Int].self, hex("04 02 02 02 04"))
    }

    @Test func malformedFields() {
        for bytes in ["01 00", "01 07", "01 0e 00", "01 0c", "01 0b 00", "01 0d 00", "01 09 00"] {
            expectFailure(Shape.self, hex(bytes))
        }
        expectFailure(Shape.self, hex("01 ff ff ff ff ff 0f 00"))
    }

    @Test func elementsThatTakeNoBytes() {
        struct Nothing: BinaryCodable {
            static var binaryShape: BinaryShape { .bytes }
            func encode(into writer: inout BinaryWriter) {}
            init(from reader: inout BinaryReader) {}
        }
        expectFailure([Nothing].self, hex("01 00"))
    }
}
