// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Post: Codable, Identifiable, Equatable { var id: String; var title: String }
private nonisolated struct Visit: Codable, Identifiable, Equatable { var id = UUID() }

extension Blocks {
    static func api_repositories(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let post = Post(id: "p1", title: "first")
        _ = post
        let posts = workspace.repository(of: Post.self)
        _ = posts
        try await posts.save(post); try await posts.delete(post.id)
        let found = try await posts.find(by: "p1"); let everything = try await posts.loadAll()
        _ = found
        _ = everything
        let list = await MainActor.run { ObservedRepository(posts) }
        _ = list
        #expect(found == nil && everything.isEmpty)
        let visits = workspace.repository(of: Visit.self), visit = Visit()
        _ = visits
        try await visits.save(visit)
        #expect(try await visits.find(by: visit.id) == visit)
    }
}
