// Written by `make blocks` from README.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private struct Post: Codable, Identifiable {
    var id = UUID(); var title: String; var priority = 0; var tags: [String] = []
}
extension Post: Indexed {
    static var indexes: [Index<Post>] { [Index("priority", \.priority), Index("tags", each: \.tags)] }
}

extension Blocks {
    static func readme_watching(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace

        let posts = workspace.repository(of: Post.self)
        _ = posts
        try await posts.save(Post(title: "Herons at dusk", priority: 7, tags: ["bird"]))
        let urgent = posts.where { $0.priority > 5 && $0.tags.contains("bird") }
        _ = urgent
        let first = try urgent.order(by: \.priority, .descending).limit(20).fetch()
        _ = first
        print(first.count, try urgent.explain())               // which index, how many entries, how many objects
        for try await found in urgent.updates() { print(found.map(\.title)) }     // now, and after each change
    }
}
