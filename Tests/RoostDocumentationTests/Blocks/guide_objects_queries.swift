// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable, Equatable {
    var id = UUID(); var title: String; var priority = 0; var due: Date?; var isDone = false
}

extension Blocks {
    static func guide_objects_queries(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory(), todos = workspace.repository(of: Todo.self)
        _ = workspace
        try await todos.saveAll((0..<100).map { Todo(title: "task \($0)", priority: $0) })
        let open = todos.where { !$0.isDone && $0.priority > 3 }
        _ = open
        let next = try open.order(by: \.priority, .descending).order(by: \.title).limit(20).fetch()
        _ = next
        let count = try todos.where { $0.title.hasSuffix("7") && (1...20).contains($0.priority) }.count()
        _ = count
        let late = try todos.where { $0.due < Date.now }.fetch()       // none without a date: `nil` is neither less nor greater than one
        _ = late
        let page = try todos.order(by: \.priority).page(after: nil, limit: 50)
        _ = page
        let rest = try todos.order(by: \.priority).page(after: page.next, limit: 50)
        _ = rest
        #expect(next.count == 20 && next[0].priority == 99 && count == 2 && late.isEmpty)
        #expect(page.items.count == 50 && rest.items.count == 50)
    }
}
