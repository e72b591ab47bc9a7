// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable, Equatable { var id = UUID(); var title = ""; var priority = 0 }

extension Blocks {
    static func guide_live_query(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let todos = workspace.repository(of: Todo.self)
        _ = todos
        let urgent = todos.where { $0.priority > 100 }
        _ = urgent
        let list = await MainActor.run { LiveQuery(urgent.order(by: \.title)) }
        _ = list
    }
}
