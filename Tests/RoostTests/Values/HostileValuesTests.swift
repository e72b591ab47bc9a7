import Foundation
import RoostFormat
import RoostIO
import Testing

@testable import Roost

/// Bytes that nobody wrote, where JSON or a property list is read: each gives an error, and none
/// a trap, a hang or large memory.
@Suite struct HostileValuesTests {
    private indirect enum Nest: Codable {
        case nest([Nest])
        init(from decoder: any Decoder) throws {
            self = .nest(try decoder.singleValueContainer().decode([Nest].self))
        }
        func encode(to encoder: any Encoder) throws {
            guard case .nest(let inner) = self else { return }
            var container = encoder.singleValueContainer()
            try container.encode(inner)
        }
        init(_ inner: [Nest]) { self = .nest(inner) }
    }

    private struct Sample: Codable, Equatable {
        var name = "the summer"
        var numbers = Array(0..<40)
        var byName: [String: [Double]] = ["a": [0.5, 1e300], "b": []]
        var date = Date(timeIntervalSinceReferenceDate: 0.5)
        var data = Data(repeating: 7, count: 20)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ kind: ValueKind, _ bytes: [UInt8]
    ) throws -> Value? {
        try bytes.withUnsafeBytes { try decodeCodable(type, kind, $0) }
    }

    /// A property list of these objects, of which the first is the top.
    private func propertyList(_ objects: [[UInt8]]) -> [UInt8] {
        func number(_ value: Int, _ sizeBytes: Int) -> [UInt8] {
            (0..<sizeBytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += number(bytes.count, 4)
            bytes += object
        }
        let table = bytes.count
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 4, 4] + number(objects.count, 8)
            + number(0, 8) + number(table, 8)
    }

    private func array(of objects: [Int]) -> [UInt8] {
        [0xa0 + UInt8(objects.count)]
            + objects.flatMap { object in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: object >> $0) }
            }
    }

    @Test func recursionBombs() {
        for count in [513, 100_000] {
            let list = propertyList(
                (1..<count).map { array(of: [$0]) } + [array(of: [])])
            #expect(throws: RoostError.self) { try decode(Nest.self, .propertyList, list) }
            let json = Array(
                (String(repeating: "[", count: count) + String(repeating: "]", count: count)).utf8)
            #expect(throws: (any Error).self) { try decode(Nest.self, .json, json) }
            #expect(throws: (any Error).self) { try decode([Int].self, .json, json) }
            let text = String(repeating: "<array>", count: count)
            #expect(throws: RoostError.self) {
                try decode(Nest.self, .propertyList, Array("<plist>\(text)".utf8))
            }
        }
    }

    @Test func aListThatContainsItselfOrGrowsWithoutEnd() {
        #expect(throws: RoostError.self) {
            try decode(Nest.self, .propertyList, propertyList([array(of: [0])]))
        }
        let doubling = (1...60).map { array(of: [$0, $0]) } + [array(of: [])]
        #expect(throws: RoostError.self) {
            try decode(Nest.self, .propertyList, propertyList(doubling))
        }
    }

    @Test func lengthBombs() {
        for count: [UInt8] in [
            [0xaf, 0x13] + [UInt8](repeating: 0xff, count: 8), [0xdf, 0x13, 0x7f] + Array(1...7),
            [0xaf, 0x12, 0xff, 0xff, 0xff, 0xff], [0xaf, 0x17], [0xaf], [0xaf, 0x40],
        ] {
            #expect(throws: (any Error).self) {
                try decode([Int].self, .propertyList, propertyList([array(of: [1]), count]))
            }
        }
    }

    @Test func nestingWithinTheLimitIsRead() throws {
        var nest = Nest([])
        for _ in 0..<200 { nest = Nest([nest]) }
        for coder in [ValueCoder.json, .propertyList] {
            let bytes = try encodeCodable(nest, coder)
            let read = try #require(try decode(Nest.self, coder.kind, bytes))
            #expect(try encodeCodable(read, coder) == bytes)
        }
    }

    @Test func whatCouldNotBeReadIsNotWritten() throws {
        for coder in [ValueCoder.roost, .json, .propertyList] {
            var nest = Nest([])
            for _ in 0..<600 { nest = Nest([nest]) }
            #expect(throws: (any Error).self) { _ = try encodeCodable(nest, coder) }
        }
    }

    @Test func everyTruncationAndEveryDamagedByte() throws {
        for coder in [ValueCoder.json, .propertyList] {
            let bytes = try encodeCodable(Sample(), coder)
            #expect(try decode(Sample.self, coder.kind, bytes) == Sample())
            for count in 0..<bytes.count {
                #expect(throws: (any Error).self) {
                    try decode(Sample.self, coder.kind, Array(bytes[..<count]))
                }
            }
            for index in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[index] ^= 1 << UInt8(bit)
                    // Some are values still; none may trap.
                    do { _ = try decode(Sample.self, coder.kind, damaged) } catch {}
                }
            }
        }
    }

    /// Each reference to one text becomes a text of its own.
    @Test func aListThatStandsForFarMoreThanItsSize() throws {
        let text: [UInt8] =
            [0x5f, 0x12] + [0, 16, 0, 0] + [UInt8](repeating: 0x61, count: 1 << 20)
        let references = [UInt8](repeating: 0, count: 3).flatMap { [$0, $0, $0, 1] as [UInt8] }
        let few = propertyList([[0xa3] + references, text])
        #expect(try decode(String.self, .propertyList, few)?.utf8.count == 1 << 20)
        let many = propertyList([
            [0xaf, 0x11, 1, 44] + (0..<300).flatMap { _ in [0, 0, 0, 1] as [UInt8] }, text,
        ])
        let error = #expect(throws: RoostError.self) {
            try decode(String.self, .propertyList, many)
        }
        #expect(error?.message.contains("as often as it is referred to") == true)
    }

    /// One of their values would be lost.
    @Test func aDictionaryWithKeysThatSwiftHoldsToBeEqual() throws {
        let composed: [UInt8] = [0x61, 0, 0xe9]
        let decomposed: [UInt8] = [0x62, 0, 0x65, 3, 1]
        let list = propertyList([
            array(of: [1]), [0xd2] + [2, 3, 4, 4].flatMap { [0, 0, 0, $0] as [UInt8] }, composed,
            decomposed, [0x10, 7],
        ])
        let error = #expect(throws: RoostError.self) {
            try decode([String: Int].self, .propertyList, list)
        }
        #expect(error?.message.contains("(U+E9)") == true)
        #expect(error?.message.contains("(U+65 U+301)") == true)
    }

    /// Some characters beyond ASCII are held to be equal to one of ASCII, and a key may stand there twice.
    @Test(
        arguments: [
            ([0x51, 0x4b], [0x61, 0x21, 0x2a]), ([0x61, 0x03, 0x7e], [0x51, 0x3b]),
            ([0x51, 0x60], [0x61, 0x1f, 0xef]), ([0x51, 0x4b], [0x51, 0x4b]),
            ([0x51, 0x4b], [0x61, 0, 0x4b]),
        ] as [([UInt8], [UInt8])])
    func aDictionaryWithKeysThatAreEqualToOnesOfASCII(first: [UInt8], second: [UInt8]) throws {
        func list(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
            propertyList([
                array(of: [1]), [0xd2] + [2, 3, 4, 4].flatMap { [0, 0, 0, $0] as [UInt8] }, first,
                second, [0x10, 7],
            ])
        }
        let error = #expect(throws: RoostError.self) {
            try decode([String: Int].self, .propertyList, list(first, second))
        }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.contains("of a dictionary are equal") == true)
        #expect(
            try decode([String: Int].self, .propertyList, list(first, [0x51, 0x4c]))?.count == 2)
    }
}
