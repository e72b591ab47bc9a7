import Roost
import RoostMacros
import Testing

/// Types in other types, whose properties are of types that stand beside them.
enum Shop {
    @BinaryCodable struct Money: Equatable {
        @Field(1) var cents: Int
        @Field(2) var currency: Currency = .euro
    }

    enum Currency: String, BinaryCodable { case euro, franc }

    typealias Note = String?

    @BinaryCodable struct Item: Equatable, Identifiable {
        @Field(1) var id: Int
        @Field(2) var price: Money
        @Field(3) var discount: Money?
        @Field(4) var history: [Money] = []
        @Field(5) var note: Note
        @Field(6) var currency: Currency? = .franc
        @Field(7) var limits: [String: Currency?] = [:]
        @Field(8) var state: State = .open
    }

    @BinaryCodable enum State: Equatable {
        @Field(1) case open
        @Field(2) case paid(Money, in: Currency = .euro)
    }
}

@Suite struct MacroNestingTests {
    @BinaryCodable fileprivate struct Hidden: Equatable {
        @Field(1) var inner: Inner
    }

    @BinaryCodable fileprivate enum Inner: Equatable {
        @Field(1) case one(Shop.Money)
    }

    @Test func privateTypesInOthersAreStored() throws {
        let hidden = Hidden(inner: .one(.init(cents: 4)))
        let bytes = try BinaryWriter.encode(hidden)
        #expect(try BinaryReader.decode(Hidden.self, from: bytes) == hidden)
    }

    @Test func whatStandsBesideATypeIsFound() throws {
        let items = [
            Shop.Item(id: 1, price: .init(cents: 3), note: nil),
            Shop.Item(
                id: 2, price: .init(cents: 3, currency: .franc), discount: .init(cents: 1),
                history: [.init(cents: 4)], note: "n", currency: nil,
                limits: ["a": .euro, "b": nil], state: .paid(.init(cents: 3), in: .franc)),
        ]
        for item in items {
            let bytes = try BinaryWriter.encode(item)
            #expect(try BinaryReader.decode(Shop.Item.self, from: bytes) == item)
        }
        // As before its optional and defaulted properties were added.
        let old = try BinaryReader.decode(Shop.Item.self, from: [8, 1, 18, 2, 8, 6])
        #expect(old.note == nil && old.discount == nil && old.currency == .franc)
    }

    @Test func theFieldsOfSuchATypeAreReadWithoutItsObjects() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Shop.Item.self)
        try await items.saveAll(
            (0..<20).map { Shop.Item(id: $0, price: .init(cents: $0), note: $0 > 9 ? "n" : nil) })
        #expect(try items.where { $0.price.cents > 15 && $0.note == "n" }.count() == 4)
        #expect(Shop.Item.storedFields.count == 8)
        try await workspace.close()
    }
}
