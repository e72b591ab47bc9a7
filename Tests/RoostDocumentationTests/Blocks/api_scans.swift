// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct User: Codable { var name: String }

extension Blocks {
    static func api_scans(home: String) async throws {
        try await Task.sleep(for: .zero)
        let users = try await Workspace.inMemory().dictionary("users")
        _ = users
        for key in ["eu/1", "eu/2", "b", "c"] { try await users.set(User(name: key), forKey: key) }
        for try await (key, user) in users.entries(prefix: "eu/", as: User.self, limit: 100) { _ = (key, user) }
        for try await key in users.keys(in: "a"..<"n", order: .descending) { _ = key }
        let page = try users.page(prefix: "eu/", as: User.self, limit: 50)         // at once, without suspending: what a view or a main-actor model wants
        _ = page
        let next = try users.page(prefix: "eu/", after: page.last?.key, as: User.self, limit: 50)
        _ = next
    }
}
