// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable, Equatable {
    var id = UUID(); var title = ""; var priority = 0; var list = "home"; var tags: [String] = []; var isDone = false
}

extension Blocks {
    static func guide_objects_values(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory(), todos = workspace.repository(of: Todo.self)
        _ = workspace
        try await todos.saveAll((0..<10).map { Todo(title: "task \($0)", priority: $0, tags: $0 < 3 ? ["garden"] : []) })
        let urgent = todos.where { $0.priority > 3 }.order(by: \.title)
        _ = urgent
        let titles = try urgent.values(of: \.title)                            // [String]
        _ = titles
        let rows = try urgent.values(of: \.id, \.title)                        // [(UUID, String)]
        _ = rows
        let mean = try urgent.average(of: \.priority)                          // Double?
        _ = mean
        let byList = try todos.grouped(by: \.list, \.isDone).counts()          // [GroupKey<String, Bool>: Int]
        _ = byList
        let open = byList[GroupKey("home", false)] ?? 0
        _ = open
        let ofTags = try todos.grouped(byEach: \.tags).counts()                // [String: Int]
        _ = ofTags
        #expect(titles == ["task 4", "task 5", "task 6", "task 7", "task 8", "task 9"] && rows.count == 6 && rows[0].1 == "task 4")
        #expect(mean == 6.5 && open == 10 && ofTags == ["garden": 3])
    }
}
