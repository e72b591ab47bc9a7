// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated enum Color: String, Codable, IndexRepresentable { case red, green, blue }
private nonisolated struct Post: Codable, Identifiable, Equatable {
    var id = UUID(); var title = "t"; var slug = "s"; var color = Color.red; var priority = 0
    var tags: [String] = []; var due: Date?
}
nonisolated extension Post: Indexed {                      // optional: a repository queries without it, by scanning
    static var indexes: [Index<Post>] { [
        Index("priority", \.priority),
        Index("color-priority", \.color, .descending(\.priority)),      // several fields, either direction
        Index("listing", .ascending(\.color), .descending(\.priority), .ascending(\.title), .ascending(\.due)),   // or so, any number of them
        Index("slug", \.slug, isUnique: true),
        Index("tags", each: \.tags),                                    // an entry for each element
        Index("due", \.due, where: { $0.color != .green }),             // only some objects
    ] }
}

extension Blocks {
    static func api_objects_indexes(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let posts = workspace.repository(of: Post.self)
        _ = posts
        try await posts.save(Post(priority: 5))
        try await posts.indexesBuilt()
        #expect(try posts.where { $0.priority > 4 }.explain().hasPrefix("index \"priority\""))
    }
}
