// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_opening(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.open(at: "\(home)/data")          // String; URL and FilePath too
        _ = workspace
        try await workspace.close()
    }
}
