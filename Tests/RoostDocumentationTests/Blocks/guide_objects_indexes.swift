// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable, Equatable {
    var id = UUID(); var title = ""; var priority = 0; var tags: [String] = []; var isDone = false
}
nonisolated extension Todo: Indexed {
    static var indexes: [Index<Todo>] { [
        Index("priority", \.priority),
        Index("open", \.isDone, .descending(\.priority)),
        Index("tags", each: \.tags),
    ] }
}

extension Blocks {
    static func guide_objects_indexes(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let todos = workspace.repository(of: Todo.self)
        _ = todos
        try await todos.indexesBuilt()                      // only where you want to wait: queries do without them before
        print(try todos.where { $0.priority > 98 }.explain())
        try await todos.saveAll((0..<100).map { Todo(priority: $0) })
        #expect(try todos.where { $0.priority > 98 }.explain() == "index \"priority\", priority > 98: 1 entries, 1 objects read")
    }
}
