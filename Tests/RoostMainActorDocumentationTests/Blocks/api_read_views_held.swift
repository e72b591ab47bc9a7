// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_read_views_held(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let settings = workspace.dictionary("settings")
        _ = settings
        try await settings.set(7, forKey: "a")
        let view = try workspace.readView()                        // of this moment
        _ = view
        try await settings.set(8, forKey: "a")
        let held = try view.value(forKey: "a", as: Int.self, in: settings)
        _ = held
        view.close()                                               // what it kept goes; at the latest with its last reference
        #expect(held == 7)
    }
}
