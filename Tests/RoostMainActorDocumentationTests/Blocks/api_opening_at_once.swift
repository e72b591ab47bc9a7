// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_opening_at_once(home: String) async throws {
        try await Task.sleep(for: .zero)
        let path = URL(fileURLWithPath: home).appendingPathComponent("data")
        _ = path
        let workspace = try Workspace(at: path)
        _ = workspace
        try await workspace.close()
    }
}
