// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Post: Codable, Identifiable, Equatable { var id = UUID(); var title = "t"; var priority = 0; var isDone = false }
private nonisolated struct Summary: Codable, Identifiable { var id = 1; var count = 0 }

extension Blocks {
    static func api_objects_changes(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let posts = workspace.repository(of: Post.self), summaries = workspace.repository(of: Summary.self)
        _ = posts
        let urgent = posts.where { $0.priority > 100 }
        _ = urgent
        let post = Post(), id = post.id, summary = Summary()
        _ = post
        try await posts.insert(post)                               // `.alreadyExists` where the id, `.notUnique` (names the index) where a unique value is taken
        try await posts.save(post, expiresIn: .seconds(60))        // gone at its moment, its index entries too
        try await posts.update(id, keepsExpiry: true) { $0.title = "kept" }   // and still gone then; without, it stays
        try await posts.save(post)                                 // insert or replace; it stays
        try await posts.update(id) { $0.isDone = true }            // atomic; nil where there is none
        try await posts.delete(id); try await urgent.deleteAll(); try await urgent.updateAll { $0.priority = 0 }
        try await posts.insertAll([post]); try await posts.deleteAll(ids: [id])    // all of them or none; `saveAll` too
        try await posts.deleteAll()                                // every object
        try await workspace.transaction { tx in                    // any repositories and dictionaries together
            let old = try tx.fetch(posts.where { $0.priority > 100 })   // read set: nobody adds, changes or removes a match meanwhile
            for post in old { try tx.delete(post.id, in: posts) }
            try tx.insert(summary, in: summaries)
        }
        #expect(try posts.count == 0 && summaries[1] != nil)
    }
}
