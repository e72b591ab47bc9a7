import Foundation
import RoostCoding
import RoostIO
import Testing

@Suite struct CoderHostileBytesTests {
    private let coder = RoostCoder()

    private func expectFailure<Value: Decodable>(
        _ type: Value.Type, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: sourceLocation) {
            _ = try coder.decode(type, from: bytes)
        } throws: { ($0 as? RoostError)?.code == .decodingFailed }
    }

    /// A map of two bytes whose key says that it has five: the text after the map is not its.
    /// Found by the fuzzer's inputs under the address sanitizer: `allKeys` read a key before it
    /// was known to end within the map.
    @Test func aKeyThatReachesPastItsMapIsNotRead() {
        let bytes: [UInt8] =
            [2, 0, 0x0f, 9, 0x11, 2, 0x25] + "a".utf8 + [0x24] + "bcde".utf8
        #expect {
            _ = try coder.decode([AllKeys].self, from: bytes)
        } throws: { "\($0)".contains("keys([])") }
    }

    @Test func everyTruncation() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<3 {
            let bytes = try coder.encode(Sample(random: &generator))
            for count in 0..<bytes.count { expectFailure(Sample.self, Array(bytes[..<count])) }
            expectFailure(Sample.self, bytes + [1])
        }
    }

    @Test(arguments: seeds) func mutations(seed: UInt64) throws {
        print("CoderHostileBytesTests.mutations: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let original = try coder.encode(Sample(random: &generator))
        // The table of shapes is about as long as this.
        let names = 200
        for round in 0..<5_000 {
            var bytes = original
            for _ in 0...(generator.next() % 4) {
                // Mostly after the names, where the values are.
                let first = round % 4 == 0 ? 0 : names
                let index = first + Int(generator.next() % UInt64(bytes.count - first))
                bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            }
            do {
                _ = try coder.decode(Sample.self, from: bytes)
            } catch {
                #expect((error as? RoostError)?.code == .decodingFailed, "seed \(seed)")
            }
        }
    }

    @Test(arguments: seeds) func noise(seed: UInt64) throws {
        print("CoderHostileBytesTests.noise: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bytes = [2, 0] + generator.bytes()
            _ = try? coder.decode([String: Int].self, from: bytes)
            _ = try? coder.decode([Tree].self, from: bytes)
            _ = try? coder.decode(Decimal.self, from: bytes)
        }
        for tag in UInt8.min...UInt8.max {
            _ = try? coder.decode(Decimal.self, from: [2, 0, 0x0d, 0, tag, 0xfe, 1, 10])
            _ = try? coder.decode(Decimal.self, from: [2, 0, 0x0d, 0, 0xfe, 1, tag])
        }
    }

    @Test func lengthBombs() {
        for length in [
            "ff ff ff ff 7f", "ff ff ff ff ff ff ff ff 7f", "ff ff ff ff ff ff ff ff ff 01",
        ] {
            expectFailure(String.self, hex("02" + length))
            expectFailure(String.self, hex("02 01" + length))
            expectFailure(String.self, hex("16 01" + length))
            expectFailure(String.self, hex("16 01 01" + length))
            expectFailure(String.self, hex("16 7f 7f" + length))
            for tag in ["09", "0a", "0e", "0f", "10", "11", "15", "18", "1f"] {
                expectFailure([String: [Int]].self, hex("02 00" + tag + length + "61"))
                expectFailure(Data.self, hex("02 00" + tag + length + "61"))
                expectFailure([Int].self, hex("02 00 0f 0a" + tag + length))
            }
        }
    }

    @Test func recursionBombs() {
        indirect enum Nest: Decodable {
            case nest([Nest])
            init(from decoder: any Decoder) throws {
                self = .nest(try decoder.singleValueContainer().decode([Nest].self))
            }
        }
        func varint(_ value: Int) -> [UInt8] {
            var rest = value
            var result: [UInt8] = []
            while rest >= 0x80 {
                result.append(UInt8(rest & 0x7f | 0x80))
                rest >>= 7
            }
            return result + [UInt8(rest)]
        }
        for tag: UInt8 in [0x0f, 0x10, 0x18] {
            var reversed: [UInt8] = []
            for _ in 0..<100_000 {
                if tag == 0x10 { reversed.append(0) }
                reversed += ([tag] + varint(reversed.count)).reversed()
            }
            let next = hex("02 01 01 10 ff 6e ff 65 ff 78 ff 74")
            let bytes = (tag == 0x0f ? [2, 0] : next) + reversed.reversed()
            if tag == 0x0f {
                expectFailure(Nest.self, bytes)
            } else {
                expectFailure(Linked.self, bytes)
            }
        }
    }

    @Test func malformed() {
        expectFailure(Int.self, [])
        expectFailure(Int.self, hex("01 00 00 85"))
        expectFailure(Int.self, hex("03 00 85"))
        expectFailure(Int.self, hex("02 00"))
        expectFailure(Int.self, hex("02 00 00"))
        expectFailure(Int.self, hex("02 00 17"))
        expectFailure(Int.self, hex("02 00 85 85"))
        expectFailure(String.self, hex("02 00 22 c0 80"))
        expectFailure([String: Int].self, hex("02 00 11 01 21"))
    }

    @Test func malformedShapes() {
        // Of shapes that are not there.
        expectFailure(Linked.self, hex("02 00 18 00"))
        expectFailure(Linked.self, hex("02 00 10 01 00"))
        expectFailure(Linked.self, hex("02 01 00 19 00"))
        expectFailure(Linked.self, hex("16 00"))
        // A name that is cut short, or is no text, or refers to one that is not there.
        expectFailure(Linked.self, hex("16 01 01 02 ff 01"))
        expectFailure(Linked.self, hex("16 01 01 02 f8 01"))
        expectFailure(Linked.self, hex("16 01 01 04 ff c0 01"))
        expectFailure(Linked.self, hex("16 01 01 01 01"))
        // More values than names, or fewer.
        expectFailure(Linked.self, hex("16 01 00 01"))
        expectFailure(Linked.self, hex("16 01 01 10 ff 6e ff 65 ff 78 ff 74"))
        expectFailure(Linked.self, hex("16 01 01 10 ff 6e ff 65 ff 78 ff 74 01 01"))
        // A root object is nowhere but at the root.
        expectFailure([Linked].self, hex("02 01 00 0f 01 16"))
        expectFailure(Int.self, hex("16 01 00"))
        expectFailure([Int].self, hex("16 01 00"))
        expectFailure(String.self, hex("16 01 00"))
    }

    @Test func malformedText() {
        expectFailure(String.self, hex("02 00 41 ff"))
        expectFailure(String.self, hex("02 00 42 ff c0"))
        expectFailure(String.self, hex("02 00 42 94"))
        expectFailure(String.self, hex("02 00 15 01 ff"))
        expectFailure(String.self, hex("02 00 15 02 94"))
    }

    @Test func damagedEntriesAreNotLeftOut() {
        // The second of two entries has a tag that there is none of.
        expectFailure([String: Int].self, hex("02 00 11 05 21 61 82 21 00"))
        expectFailure([String: Int].self, hex("02 00 11 06 21 61 82 21 62 00"))
        expectFailure([Int].self, hex("02 00 0f 02 81 00"))
    }
}

private final class Linked: Decodable { var next: Linked? }

/// The keys of a map, thrown so that what fails after it does not hide them.
private struct AllKeys: Decodable {
    enum Found: Error { case keys([String]) }

    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        throw Found.keys(try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue))
    }
}
