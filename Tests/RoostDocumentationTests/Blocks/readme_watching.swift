// Written by `make blocks` from README.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private struct Post: Codable, Identifiable { var id: UUID = UUID(); var title: String }

extension Blocks {
    static func readme_watching(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let posts = workspace.repository(of: Post.self)
        _ = posts
        try await posts.save(Post(title: "Herons at dusk"))
        for await change in posts.changes() { print(change) }
    }
}
