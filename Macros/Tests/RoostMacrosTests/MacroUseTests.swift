import RoostIO
import RoostMacros
import Testing

@BinaryCodable struct Draft: Equatable {
    @Field(1) var title: String; @Field(2) var body: String; @Field(3) var tags: [String] = []
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
}
