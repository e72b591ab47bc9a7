// Written by `make blocks` from Sources/Roost/Documentation.docc/SchemaChanges.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private struct UserV1: Codable { var name: String }
private struct User: Codable { var first: String; var last: String }

extension Blocks {
    static func guide_migrations(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let users = workspace.dictionary("users").migrating(from: UserV1.self, to: User.self, version: 2) { old in
            User(first: old.name, last: "")
        }
        let ada = try users["ada", as: User.self]
        _ = ada
        #expect(ada == nil)
    }
}
