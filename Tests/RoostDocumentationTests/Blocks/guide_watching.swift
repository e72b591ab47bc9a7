// Written by `make blocks` from Sources/Roost/Documentation.docc/Watching.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_watching(home: String) async throws {
        try await Task.sleep(for: .zero)
        let settings = try await Workspace.inMemory().dictionary("settings")
        _ = settings
        for await change in settings.changes(prefix: "ui/", as: String.self) { print(change) }
        for await volume in settings.updates(of: "volume", as: Double.self) { print(volume ?? 0) }
    }
}
