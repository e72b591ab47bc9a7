// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Todo: Codable, Identifiable, Equatable {
    enum Color: String, Codable, IndexRepresentable { case red, green, blue }
    var id = UUID(); var title: String; var color = Color.red; var priority = 0
    var tags: [String] = []; var due: Date?; var isDone = false
}

extension Blocks {
    static func guide_objects_struct(home: String) async throws {
        try await Task.sleep(for: .zero)
        #expect(Todo(title: "a").title == "a")
    }
}
