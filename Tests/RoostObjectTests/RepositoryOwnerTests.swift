import Foundation
import Roost
import Testing

/// Types of one name that are nested in different ones.
@Suite("Two types of one name") struct RepositoryOwnerTests {
    enum Cart {
        struct Item: Codable, Identifiable, Equatable {
            var id: Int
            var count = 1
        }
    }
    enum Order {
        struct Item: Codable, Identifiable, Equatable {
            var id: Int
            var count: Int?
        }
    }

    private func code(_ body: () async throws -> Void) async -> RoostError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? RoostError)?.code }
    }

    @Test("Objects of one never take the places of the other's") func apart() async throws {
        let workspace = try await Workspace.inMemory()
        let inCart = workspace.repository(of: Cart.Item.self)
        try await inCart.save(Cart.Item(id: 1))
        let ordered = workspace.repository(of: Order.Item.self)
        let item = Order.Item(id: 1)
        #expect(await code { try await ordered.save(item) } == .conflict)
        #expect(await code { try await ordered.saveAll([item]) } == .conflict)
        #expect(await code { try await ordered.insert(Order.Item(id: 2)) } == .conflict)
        #expect(await code { try await ordered.save(item, expiresIn: .seconds(9)) } == .conflict)
        #expect(
            await code { try await workspace.transaction { try $0.save(item, in: ordered) } }
                == .conflict)
        #expect(try inCart.fetch() == [Cart.Item(id: 1)])

        let apart = workspace.repository(of: Order.Item.self, named: "Order.Item")
        try await apart.save(item)
        #expect(try apart.fetch() == [item])
        #expect(try inCart.count == 1)
    }

    @Test("What an older type has left is read by it, and written by the newer one") func older()
        async throws
    {
        let workspace = try await Workspace.inMemory()
        try await workspace.repository(of: Cart.Item.self, named: "Item").save(Cart.Item(id: 1))
        let old = try workspace.repository(of: Cart.Item.self).fetch()
        let new = workspace.repository(of: Order.Item.self)
        try await new.saveAll(old.map { Order.Item(id: $0.id, count: $0.count + 1) })
        #expect(try new[1]?.count == 2)
    }
}
