// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_keyed_dictionaries(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let id = UUID()
        _ = id
        let users = workspace.dictionary("users", keys: UUID.self)                 // String, any integer, UUID, RawRepresentable of these, or your own
        _ = users
        try await users.set("ada", forKey: id)
        try await users.update(id, default: "") { $0 = "eve" }
        let ids = try users.page(as: String.self, limit: 50).map(\.key)            // in batches, transactions and views too: `in: users`
        _ = ids
        #expect(try users[id, as: String.self] == "eve" && ids == [id])
    }
}
