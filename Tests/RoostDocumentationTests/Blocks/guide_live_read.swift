// Written by `make blocks` from Sources/Roost/Documentation.docc/Watching.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable { var id: Int; var isDone = false }

extension Blocks {
    static func guide_live_read(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let todos = workspace.repository(of: Todo.self)
        _ = todos
        let open = todos.where { !$0.isDone }
        _ = open
        let count = await MainActor.run { LiveRead(workspace) { view in try view.count(of: open) } }
        _ = count
    }
}
