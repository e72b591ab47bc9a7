import Foundation
import Roost
import RoostMacros
import Testing

@Suite struct OddModelsTests {
    /// Alone, and inside other values, where its end must be found by those who do not know it.
    private func roundTrip<Value: BinaryCodable & Equatable & Sendable>(_ value: Value) async throws
    {
        let bytes = try BinaryWriter.encode(value)
        #expect(try BinaryReader.decode(Value.self, from: bytes) == value)
        let array = try BinaryWriter.encode([value, value])
        #expect(try BinaryReader.decode([Value].self, from: array) == [value, value])
        let page = try BinaryWriter.encode(Page(items: [value], next: value))
        #expect(try BinaryReader.decode(Page<Value>.self, from: page).next == value)
        _ = try BinaryReader.decode(Empty.self, from: page)
        for count in 0..<page.count {
            do {
                _ = try BinaryReader.decode(Page<Value>.self, from: Array(page[..<count]))
            } catch {
                #expect((error as? RoostError)?.code == .decodingFailed)
            }
        }
        let values = try await Workspace.inMemory().dictionary("values")
        try await values.set(value, forKey: "one")
        #expect(try values["one", as: Value.self] == value)
    }

    @Test func wordsOfTheLanguageAreNames() async throws {
        try await roundTrip(
            Keywords(default: 1, class: nil, self: true, writer: 5, reader: [6]))
        try await roundTrip(Words.in(for: 3, reader: "x"))
        try await roundTrip(Words.unlabelled(3, nil))
        try await roundTrip(Words.default)
    }

    @Test func literalsStandForTheirTypes() async throws {
        try await roundTrip(Inferred(count: 5, ratio: 0.25, name: "a", isOn: false))
        #expect(try BinaryReader.decode(Inferred.self, from: []) == Inferred())
    }

    @Test func fieldsGoBeforeRawValues() async throws {
        try await roundTrip(
            RawValues(
                label: Label(rawValue: "a"), level: .high, labels: [Label(rawValue: "b")],
                levels: [.low: Label(rawValue: "c")], last: 9))
        #expect(try BinaryWriter.encode(Level.high) == [1])
    }

    @Test func genericTypesAreStored() async throws {
        try await roundTrip(Page(items: ["a", "b"], next: nil))
        try await roundTrip(Page(items: [Page(items: [1], next: 2)], next: nil))
        try await roundTrip(Either<Int, String>.right("a"))
    }

    @Test func onlyStoredPropertiesAreWritten() async throws {
        var value = Surroundings(level: 30, constant: "c")
        value.third = 2
        #expect(value.level == 10 && value.limit == 6)
        let bytes = try BinaryWriter.encode(value)
        let read = try BinaryReader.decode(Surroundings.self, from: bytes)
        #expect(read == value)
    }

    @Test func everyVisibilityIsKept() async throws {
        try await roundTrip(Outer.Open(inner: .one))
        try await roundTrip(Outer.FromExtension(value: 1))
        try await roundTrip(Outer.Packaged(value: 1))
        #expect(try Outer.hiddenBytes() == [8, 6])
    }

    @Test func aStatedConformanceIsFilledIn() async throws {
        try await roundTrip(Stated(value: 1))
        try await roundTrip(ByProtocol(value: 1))
        try await roundTrip(Empty())
        #expect(throws: RoostError.self) { try BinaryReader.decode(Nothing.self, from: [1]) }
    }

    @Test func optionalsOfEveryDepth() async throws {
        for double in [.none, .some(.none), .some(.some(5))] as [Int??] {
            for other in [nil, 4, 5] as [Int?] {
                try await roundTrip(
                    Optionals(
                        double: double, list: other.map { [$0, nil] }, spelled: other,
                        qualified: other.map(String.init), wrapped: other, stated: other))
            }
        }
        #expect(try BinaryReader.decode(Optionals.self, from: []).spelled == 4)
    }

    @Test func optionalsBehindOtherNamesKeepNil() async throws {
        for due in [nil, .distantPast, .distantFuture] as [Date?] {
            for remark in [nil, "", "x"] as [String?] {
                try await roundTrip(NamedOptionals(due: due, remark: remark, start: due))
                try await roundTrip(NamedOptional.one(due, remark: remark))
            }
        }
        let missing = try BinaryReader.decode(NamedOptionals.self, from: [])
        #expect(missing == NamedOptionals())
    }

    @Test func typesOfFoundation() async throws {
        let price = try #require(Decimal(string: "-12345678901234567890.0123456789"))
        try await roundTrip(
            FromFoundation(
                data: Data([1]), url: URL(string: "https://example.org"), uuid: UUID(),
                price: price, prices: [0.5: [price, .nan], 0: []]))
    }
}
