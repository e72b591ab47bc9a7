import Foundation
import Roost
import RoostMacros
import Testing

/// A small, reproducible source of randomness (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func string() -> String {
        let alphabet = ["a", "Z", "é", "漢", "👩‍👩‍👧", "\0", " "]
        return (0..<Int(next() % 20)).map { _ in alphabet[Int(next() % 7)] }.joined()
    }

    mutating func integer() -> Int { Int(truncatingIfNeeded: next() >> (next() % 64)) }

    mutating func kind(depth: Int = 0) -> Kind {
        switch next() % (depth < 6 ? 4 : 2) {
        case 0: return .plain
        case 1: return .rated(integer(), label: next() % 2 == 0 ? nil : string())
        default:
            let inner = kind(depth: depth + 1)
            return .nested(inner: inner, limit: [nil, 7, integer()][Int(next() % 3)])
        }
    }

    mutating func account() -> Account {
        var owners: [String: Draft] = [:]
        for _ in 0..<(next() % 4) {
            owners[string()] = Draft(title: string(), body: string(), tags: [string(), string()])
        }
        return Account(
            balance: next() % 2 == 0 ? nil : integer(), name: string(),
            limit: [nil, 5, integer()][Int(next() % 3)], kind: kind(), owners: owners)
    }
}

/// Generated values of types that the macro made `BinaryCodable`, and bytes that nobody wrote.
@Suite struct MacroPropertyTests {
    private static let seeds: [UInt64] = [1, 2, UInt64.random(in: 3...UInt64.max)]

    /// Whatever the bytes, they are a value or the store's own error.
    private func check<Value: BinaryCodable>(_ type: Value.Type, _ bytes: [UInt8]) {
        do {
            _ = try BinaryReader.decode(type, from: bytes)
        } catch {
            #expect((error as? RoostError)?.code == .decodingFailed)
        }
    }

    @Test(arguments: seeds) func generatedValuesComeBack(seed: UInt64) throws {
        print("MacroPropertyTests.generatedValuesComeBack: seed \(seed)")
        var generator = SeededGenerator(state: seed)
        for _ in 0..<300 {
            let accounts = [generator.account(), generator.account()]
            let bytes = try BinaryWriter.encode(accounts)
            let read = try BinaryReader.decode([Account].self, from: bytes)
            #expect(read == accounts)
            #expect(try BinaryWriter.encode(read) == bytes)
        }
    }

    @Test(arguments: seeds) func damagedBytesAreErrorsOrValues(seed: UInt64) throws {
        print("MacroPropertyTests.damagedBytesAreErrorsOrValues: seed \(seed)")
        var generator = SeededGenerator(state: seed)
        let bytes = try BinaryWriter.encode([generator.account(), generator.account()])
        for count in 0..<bytes.count { check([Account].self, Array(bytes[..<count])) }
        for _ in 0..<5_000 {
            var damaged = bytes
            for _ in 0...(generator.next() % 4) {
                let index = Int(generator.next() % UInt64(bytes.count))
                damaged[index] = UInt8(truncatingIfNeeded: generator.next())
            }
            check([Account].self, damaged)
            check(Kind.self, (0..<20).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
    }

    @Test func bombsAreErrors() {
        func varint(_ value: Int) -> [UInt8] {
            value < 0x80
                ? [UInt8(value)] : [UInt8(value & 0x7f | 0x80)] + varint(value >> 7)
        }
        // `nested(inner:)` in itself, written from the inside out.
        var reversed: [UInt8] = [1]
        for _ in 0..<100_000 {
            reversed += ([9, 0x0a] + varint(reversed.count)).reversed()
        }
        #expect(throws: RoostError.self) {
            try BinaryReader.decode(Kind.self, from: reversed.reversed())
        }
        for length: [UInt8] in [
            [0xff, 0xff, 0xff, 0xff, 0x7f], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            for tag: UInt8 in [0x0a, 0x1a, 0x22] {
                #expect(throws: RoostError.self) {
                    try BinaryReader.decode(Account.self, from: [tag] + length + [0x61])
                }
            }
        }
    }
}
