// Written by `make blocks` from Sources/Roost/Documentation.docc/Watching.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable { var id: Int; var title = ""; var isDone = false; var due: Date? }

extension Blocks {
    static func guide_read_updates(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let todos = workspace.repository(of: Todo.self)
        _ = todos
        let settings = workspace.dictionary("settings")
        _ = settings
        let open = todos.where { !$0.isDone }
        _ = open
        func show(_ count: Int, _ next: Todo?, _ name: String?) {}
        let overview = workspace.updates { view in
            (try view.count(of: open), try view.first(open.order(by: \.due)), try view.value(forKey: "name", as: String.self, in: settings))
        }
        for try await (count, next, name) in overview { show(count, next, name) }
    }
}
