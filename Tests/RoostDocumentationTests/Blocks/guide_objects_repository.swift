// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable, Equatable { var id = UUID(); var title: String }

extension Blocks {
    static func guide_objects_repository(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let todos = workspace.repository(of: Todo.self)
        _ = todos
        let todo = Todo(title: "Watch the herons")
        _ = todo
        try await todos.insert(todo)                        // `.alreadyExists` where there is one
        try await todos.update(todo.id) { $0.title += "!" } // atomic
        try await todos.save(todo)                          // insert or replace
        try await todos.delete(todo.id)
        let found = try todos[todo.id]
        _ = found
        #expect(found == nil)
    }
}
