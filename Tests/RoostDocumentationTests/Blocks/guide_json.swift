// Written by `make blocks` from Sources/Roost/Documentation.docc/ComingFromAJSONFile.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private struct Post: Codable, Identifiable { var id = UUID(); var title: String }

extension Blocks {
    static func guide_json(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let data = try JSONEncoder().encode([Post(title: "a"), Post(title: "b")])
        _ = data
        let posts = workspace.repository(of: Post.self)
        _ = posts
        try await posts.saveAll(try JSONDecoder().decode([Post].self, from: data))
        #expect(try posts.count == 2)
    }
}
