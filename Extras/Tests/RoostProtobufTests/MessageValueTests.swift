import Foundation
import Roost
import RoostProtobuf
import SwiftProtobuf
import Testing

extension Roost_Tests_Person: BinaryCodable {}
extension Roost_Tests_OldPerson: BinaryCodable {}

private typealias Person = Roost_Tests_Person
private typealias OldPerson = Roost_Tests_OldPerson

@Suite struct MessageValueTests {
    private let person = Person.with {
        $0.name = "Ada"
        $0.balance = -5
        $0.tags = ["a", ""]
        for number in 0..<20 {
            $0.addresses["home \(number)"] = .with {
                $0.street = "x"
                $0.number = UInt32(number)
            }
        }
        $0.score = .nan
        $0.friend = .with { $0.contact = .key(Data([1, 2])) }
        $0.email = "ada@example.org"
    }

    @Test func messagesAreValues() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "roost-protobuf-\(UUID().uuidString)").path
        defer {
            do { try FileManager.default.removeItem(atPath: directory) } catch {
                Issue.record(error)
            }
        }
        var workspace = try await Workspace.open(at: directory)
        try await workspace.dictionary("people").set(person, forKey: "ada")
        try await workspace.close()
        workspace = try await Workspace.open(at: directory)
        let people = workspace.dictionary("people")
        let read = try #require(try people["ada", as: Person.self])
        // Not by ==, since a NaN is in it.
        #expect(try BinaryWriter.encode(read) == BinaryWriter.encode(person))
        #expect(read.addresses == person.addresses && read.score.isNaN)
        try await workspace.close()
    }

    @Test func equalMessagesHaveEqualBytes() throws {
        var other = person
        other.addresses = [:]
        for (key, value) in person.addresses.sorted(by: { $0.key > $1.key }) {
            other.addresses[key] = value
        }
        #expect(try BinaryWriter.encode(other) == BinaryWriter.encode(person))
    }

    @Test func messagesStandInsideOtherValues() throws {
        let people = ["a": [person], "b": [], "c": [Person(), person]]
        let read = try BinaryReader.decode(
            [String: [Person]].self, from: BinaryWriter.encode(people))
        #expect(try BinaryWriter.encode(read) == BinaryWriter.encode(people))
    }

    @Test func olderAndNewerSchemasReadEachOther() throws {
        let old = try BinaryReader.decode(OldPerson.self, from: BinaryWriter.encode(person))
        #expect(old.name == "Ada" && old.balance == -5)
        // Nothing that the older schema lacks is lost on the way through it.
        let back = try BinaryReader.decode(Person.self, from: BinaryWriter.encode(old))
        #expect(back.email == "ada@example.org" && back.addresses == person.addresses)
    }

    @Test func hostileBytesGiveErrors() throws {
        let bytes = try BinaryWriter.encode(person)
        for count in 1..<bytes.count { check(Array(bytes[..<count])) }
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                check(damaged)
            }
        }
        check([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07, 0x61])
        var nested: [UInt8] = []
        for _ in 0..<100_000 {
            var length = nested.count
            var field: [UInt8] = [0x32]
            while length >= 0x80 {
                field.append(UInt8(length & 0x7f) | 0x80)
                length >>= 7
            }
            field.append(UInt8(length))
            nested.append(contentsOf: field.reversed())
        }
        #expect(throws: RoostError.self) {
            try BinaryReader.decode(Person.self, from: nested.reversed())
        }
    }

    /// Bytes that are a message by chance are read; all others give the error of the store.
    private func check(_ bytes: [UInt8]) {
        do {
            _ = try BinaryReader.decode(Person.self, from: bytes)
        } catch {
            #expect((error as? RoostError)?.code == .decodingFailed)
        }
    }
}
