// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct User: Codable, Equatable { var name: String }

extension Blocks {
    static func api_batches(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let settings = workspace.dictionary("settings")
        _ = settings
        let users = workspace.dictionary("users")
        _ = users
        let pairs = ["a": 1, "b": 2].map { ($0.key, $0.value) }
        _ = pairs
        let (user, id, old) = (User(name: "Ada"), "ada", "bob")
        try await settings.setAll(pairs)                                           // any Sequence of (String, Value)
        try await workspace.write { batch in
            batch.set(user, forKey: id, in: users); batch.removeValue(forKey: old, in: users)
        }
        #expect(try settings.count == 2 && users["ada", as: User.self] == user)
    }
}
