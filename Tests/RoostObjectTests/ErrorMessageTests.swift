import Roost
import Testing

/// Messages that say what to do.
@Suite struct ErrorMessageTests {
    private enum Old {
        struct Customer: Codable, Identifiable, Indexed, Sendable {
            static var indexes: [Index<Customer>] { [Index("name", \.name)] }
            var id: Int
            var name = ""
        }
    }
    private struct Customer: Codable, Identifiable, Indexed, Sendable {
        static var indexes: [Index<Customer>] { [Index("name", \.name, isUnique: true)] }
        var id: Int
        var name = ""
    }

    private func message(_ body: () async throws -> Void) async -> String {
        let error = await #expect(throws: RoostError.self) { try await body() }
        return error?.message ?? ""
    }

    @Test func eachSaysWhatToDo() async throws {
        let workspace = try await Workspace.inMemory()
        let customers = workspace.repository(of: Customer.self)
        try await customers.saveAll([Customer(id: 9, name: "a"), Customer(id: 10, name: "b")])
        let taken = await message { try await customers.save(Customer(id: 1, name: "a")) }
        #expect(taken.contains("the object with the key \"a9\"") && taken.contains("id(ofKey:)"))

        let page = try customers.order(by: \.name).page(after: nil, limit: 1)
        let moved = await message {
            _ = try customers.order(by: \.id).page(after: page.next, limit: 1)
        }
        #expect(moved.contains("order") && moved.contains("begin anew with nil"))

        let old = workspace.repository(of: Old.Customer.self)
        let other = await message { try await old.save(Old.Customer(id: 1)) }
        #expect(other.contains("migrating(from:to:version:)"))

        let numbers = workspace.dictionary("Customer", keys: Int.self)
        try await numbers.strings.set(1, forKey: "d")
        let key = await message { _ = try numbers.keys }
        #expect(key.hasPrefix("\"d\" in \"Customer\" is no key of type Int"))
    }
}
