// Written by `make blocks` from Sources/Roost/Documentation.docc/GettingStarted.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_opening(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.open(at: "\(home)/data")
        _ = workspace
        let settings = workspace.dictionary("settings")
        _ = settings
        try await settings.set(0.8, forKey: "volume")
        let volume = try settings["volume", default: 0.5]
        _ = volume
        try await workspace.close()
    }
}
