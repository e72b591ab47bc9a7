// Written by `make blocks` from Sources/Roost/Documentation.docc/ComingFromUserDefaults.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_defaults(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        try await workspace.importing(userDefaults: .standard, into: "settings")

        let defaults = workspace.defaults("settings")
        _ = defaults
        defaults.register(defaults: ["launches": 1])
        defaults.set(defaults.integer(forKey: "launches") + 1, forKey: "launches")
        #expect(defaults.integer(forKey: "launches") == 2)
    }
}
