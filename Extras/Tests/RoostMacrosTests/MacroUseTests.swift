import Roost
import RoostMacros
import Testing

@BinaryCodable struct Draft: Equatable {
    @Field(1) var title: String
    @Field(2) var body: String
    @Field(3) var tags: [String] = []
}

@BinaryCodable
public struct Account: Equatable {
    @Field(2) var balance: Int?
    @Field(1) let name: String
    @Field(3) var limit: Int? = 5
    @Field(4) var kind: Kind = .plain
    @Field(20) var owners: [String: Draft] = [:]
    var computed: Int { 3 }
    static let shared = 4
}

@BinaryCodable
indirect enum Kind: Equatable {
    @Field(1) case plain
    @Field(2) case rated(Int, label: String? = nil)
    @Field(9) case nested(inner: Kind, limit: Int? = 7)
}

private func roundTrip<Value: BinaryCodable & Equatable>(_ value: Value) throws {
    let bytes = try BinaryWriter.encode(value)
    #expect(try BinaryReader.decode(Value.self, from: bytes) == value)
}

@Suite struct MacroUseTests {
    @Test func structs() throws {
        let draft = Draft(title: "a", body: "b", tags: ["c"])
        try roundTrip(draft)
        #expect(try BinaryWriter.encode(draft) == [10, 1, 97, 18, 1, 98, 26, 2, 1, 99])
        for balance in [nil, 3] {
            for limit in [nil, 5, 6] {
                try roundTrip(
                    Account(balance: balance, name: "n", limit: limit, owners: ["x": draft]))
            }
        }
    }

    @Test func enums() throws {
        try roundTrip([Kind.plain, .rated(3), .rated(-3, label: "x")])
        try roundTrip(Kind.nested(inner: .nested(inner: .plain, limit: nil)))
    }

    @Test func missingFieldsTakeTheirDefaults() throws {
        let account = try BinaryReader.decode(Account.self, from: [10, 1, 97])
        #expect(account == Account(balance: nil, name: "a", limit: 5, kind: .plain, owners: [:]))
        #expect(throws: RoostError.self) { try BinaryReader.decode(Account.self, from: []) }
        #expect(throws: RoostError.self) { try BinaryReader.decode(Kind.self, from: [8]) }
    }

    /// What a program of today and one of tomorrow make of each other's bytes.
    @Test func olderAndNewerClientsReadEachOther() throws {
        let new = NewNote(title: "a", stars: 7, author: "me", mood: .custom("sly", strength: 3))
        let old = OldNote(title: "a", stars: 7)
        #expect(try BinaryReader.decode(OldNote.self, from: BinaryWriter.encode(new)) == old)
        let read = try BinaryReader.decode(NewNote.self, from: BinaryWriter.encode(old))
        #expect(read == NewNote(title: "a", stars: 7))
        // Within other values, where what follows must still be found.
        let many = try BinaryWriter.encode(["x": [new, new], "y": []])
        #expect(
            try BinaryReader.decode([String: [OldNote]].self, from: many) == [
                "x": [old, old], "y": [],
            ])
        #expect(throws: RoostError.self) {
            try BinaryReader.decode(
                OldNote.self, from: BinaryWriter.encode(NewNote(title: "a", stars: 1 << 40)))
        }
    }

    /// These are on disks: never change them.
    @Test func fixedBytes() throws {
        let new = NewNote(title: "a", stars: 7, author: "me", mood: .custom("sly", strength: 3))
        let bytes: [UInt8] = [
            0x0a, 1, 0x61, 0x10, 14, 0x22, 2, 0x6d, 0x65, 0x2a, 8, 2, 0x0a, 3, 0x73, 0x6c, 0x79,
            0x10, 6,
        ]
        #expect(try BinaryWriter.encode(new) == bytes)
        #expect(try BinaryReader.decode(NewNote.self, from: bytes) == new)
        for count in 0..<bytes.count {
            do {
                let read = try BinaryReader.decode(NewNote.self, from: Array(bytes[..<count]))
                // Cut between fields that may be missing.
                #expect([5, 9].contains(count), "\(read)")
            } catch let error as RoostError {
                #expect(error.code == .decodingFailed)
            }
        }
    }

    @Test func nestingIsBounded() throws {
        var kind = Kind.plain
        for _ in 0..<600 { kind = .nested(inner: kind) }
        #expect(throws: RoostError.self) { try BinaryWriter.encode(kind) }
    }

    @Test func valuesOfAWorkspace() async throws {
        let notes = try await Workspace.inMemory().dictionary("notes")
        try await notes.set(OldNote(title: "a", stars: 7), forKey: "n")
        #expect(try notes["n", as: NewNote.self] == NewNote(title: "a", stars: 7))
    }
}

@BinaryCodable struct OldNote: Equatable {
    @Field(1) var title: String
    @Field(2) var stars: Int32
}

/// Later: `stars` is wider, and there are more fields.
@BinaryCodable struct NewNote: Equatable {
    @Field(1) var title: String
    @Field(2) var stars: Int
    @Field(4) var author: String?
    @Field(5) var mood: Mood = .calm
}

@BinaryCodable enum Mood: Equatable {
    @Field(1) case calm
    @Field(2) case custom(String, strength: Int = 1)
}
