// Written by `make blocks` from Sources/Roost/Documentation.docc/DurabilityAndCrashes.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_durability(home: String) async throws {
        try await Task.sleep(for: .zero)
        let settings = try await Workspace.inMemory().dictionary("settings")
        _ = settings
        try await settings.set("paid", forKey: "order/7", durability: .synced)
    }
}
