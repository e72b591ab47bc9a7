import Foundation
import Roost
import RoostTestSupport
import Testing

private struct Invoice: Codable, Identifiable, Equatable, Sendable {
    enum Number: RawRepresentable, Codable, Hashable, Sendable {
        case number(Int32)
        init(rawValue: Int32) { self = .number(rawValue) }
        var rawValue: Int32 {
            switch self {
            case .number(let value): value
            }
        }
    }
    var id: Number
    var text = ""
}

private struct Person: Codable, Identifiable, Equatable, Sendable {
    var id: UUID
    var name = ""
}

private struct Pair: KeyRepresentable {
    var first: Int
    var second: Int
    var key: String { first.key + "/" + second.key }
    init(first: Int, second: Int) { (self.first, self.second) = (first, second) }
    init?(key: String) {
        let parts = key.split(separator: "/")
        guard parts.count == 2, let first = Int(key: String(parts[0])),
            let second = Int(key: String(parts[1]))
        else { return nil }
        self.init(first: first, second: second)
    }
}

/// Types with a description stay usable by an empty conformance.
extension Float: KeyRepresentable {}

@Suite struct KeyRepresentableTests {
    @Test func keysOfIntegersGoInNumericOrder() throws {
        try check(
            [
                Int.min, .min + 1, -1_000, -999, -100, -99, -10, -9, -1, 0, 1, 9, 10, 99, 100,
                1_000, .max,
            ])
        try check([Int8.min, -100, -1, 0, 1, 99, 100, .max])
        try check([UInt64.min, 1, 10, .max - 1, .max])
        try check([
            Int128.min, .min + 1, -Int128(UInt64.max) * 10, -Int128(UInt64.max), -1, 0, 1,
            Int128(UInt64.max), Int128(UInt64.max) * 10, .max,
        ])
        try check([0, UInt128(UInt64.max), .max])
        var random = SeededGenerator(seed: 80)
        for _ in 0..<2_000 {
            let shift = Int.random(in: 0..<64, using: &random)
            let numbers = (0..<2).map { _ in Int.random(in: .min ... .max, using: &random) >> shift
            }
            try check(Array(Set(numbers)).sorted())
        }
        #expect([0, 12, 345, -1, -12].map(\.key) == ["a0", "b12", "c345", "Z8", "Y87"])
        // Every width has one form.
        #expect(Int8(-7).key == Int128(-7).key && UInt16(7).key == Int(7).key)
    }

    private func check<Number: FixedWidthInteger & KeyRepresentable>(_ ascending: [Number]) throws {
        for (number, next) in zip(ascending, ascending.dropFirst()) {
            #expect(
                number.key.utf8.lexicographicallyPrecedes(next.key.utf8), "\(number) \(next)")
        }
        for number in ascending { #expect(Number(key: number.key) == number) }
    }

    @Test(arguments: [
        "", "a", "a00", "b01", "b1", "c12", "Z9", "Zx", "z1", "12", "-1", "t99999999999999999999",
        "u", "ua1", "ut1",
    ])
    func whatIsNoIntegersKeyIsRefused(key: String) {
        #expect(Int(key: key) == nil)
        #expect(UInt8(key: key) == nil)
        #expect(key.hasPrefix("t") || Int128(key: key) == nil)
    }

    @Test func numbersThatDoNotFitAreRefused() {
        #expect(Int8(key: 128.key) == nil && Int8(key: (-129).key) == nil)
        #expect(Int8(key: (-128).key) == -128 && UInt(key: (-1).key) == nil)
        #expect(Int64(key: UInt64.max.key) == nil)
    }

    @Test func keysOfUUIDsGoByTheirBytes() throws {
        for _ in 0..<200 {
            let (left, right) = (UUID(), UUID())
            #expect(left.key == left.uuidString && UUID(key: left.key) == left)
            let isBefore = withUnsafeBytes(of: left.uuid) { left in
                withUnsafeBytes(of: right.uuid) { left.lexicographicallyPrecedes($0) }
            }
            #expect(left.key.utf8.lexicographicallyPrecedes(right.key.utf8) == isBefore)
        }
        #expect(UUID(key: UUID().uuidString.lowercased() + "") == nil)
        #expect(UUID(key: "nothing") == nil)
    }

    @Test func repositoriesTakeUUIDsNumbersAndRawValues() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            let people = (0..<30).map { Person(id: UUID(), name: "\($0)") }
            try await workspace.repository(of: Person.self).saveAll(people)
            let invoices = workspace.repository(of: Invoice.self)
            for number in [100, -5, 3, 20] as [Int32] {
                try await invoices.save(Invoice(id: .number(number), text: "\(number)"))
            }
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            let stored = workspace.repository(of: Person.self)
            #expect(try await stored.find(by: people[7].id) == people[7])
            #expect(try stored[people[8].id] == people[8] && stored[UUID()] == nil)
            #expect(
                try await stored.loadAll() == people.sorted { $0.id.uuidString < $1.id.uuidString })
            let numbers = try await workspace.repository(of: Invoice.self).loadAll()
            #expect(numbers.map(\.id.rawValue) == [-5, 3, 20, 100])
            try await workspace.close()
        }
    }

    @Test func keysOfOtherVersionsOfAStringAreTheirOwn() async throws {
        let workspace = try await Workspace.inMemory()
        let names = workspace.dictionary("names", keys: String.self)
        try await names.set(1, forKey: "caf\u{e9}")
        try await names.set(2, forKey: "cafe\u{301}")
        #expect(try names.count == 2)
        #expect(try workspace.dictionary("names").keys == names.keys)
    }

    @Test func dictionariesTakeTypedKeys() async throws {
        let workspace = try await Workspace.inMemory()
        let pairs = workspace.dictionary("pairs", keys: Pair.self)
        for first in [10, 2] {
            for second in [7, 100] {
                try await pairs.set(
                    "\(first) \(second)", forKey: Pair(first: first, second: second))
            }
        }
        #expect(
            try pairs.keys.map { [$0.first, $0.second] } == [
                [2, 7], [2, 100], [10, 7], [10, 100],
            ])
        #expect(try pairs[Pair(first: 2, second: 7), as: String.self] == "2 7")
        try await pairs.removeValue(forKey: Pair(first: 2, second: 7))
        #expect(try !pairs.contains(Pair(first: 2, second: 7)) && pairs.count == 3)
        try await workspace.dictionary("pairs").set("x", forKey: "none")
        #expect(throws: RoostError.self) { try pairs.keys }
        let byFloat = workspace.dictionary("floats", keys: Float.self)
        try await byFloat.set(1, forKey: 0.5)
        #expect(try byFloat.value(forKey: 0.5, as: Int.self) == 1)
    }
}
