// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_read_views(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let settings = workspace.dictionary("settings"), users = workspace.dictionary("users")
        _ = settings
        try await settings.set(7, forKey: "a")
        _ =
        try workspace.read { view in
            (try view.value(forKey: "a", as: Int.self, in: settings), try view.count(of: users))
        }
    }
}
