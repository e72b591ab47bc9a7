// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_opening_tuned(home: String) async throws {
        try await Task.sleep(for: .zero)
        let path = "\(home)/data"
        _ = path
        let tuned = try await Workspace.open(at: path, configuration: .init(
            shardCount: 16, durability: .interval(.milliseconds(50)),
            memoryBudgetBytes: 64 << 20, compression: .lz4))
        try await tuned.close()
    }
}
