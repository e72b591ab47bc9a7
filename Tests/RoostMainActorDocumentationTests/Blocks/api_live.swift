// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Post: Codable, Identifiable, Equatable { var id = UUID(); var title = ""; var priority = 0 }

extension Blocks {
    static func api_live(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let posts = workspace.repository(of: Post.self), id = UUID()
        _ = posts
        let urgent = posts.where { $0.priority > 100 }
        _ = urgent
        for await posts in urgent.updates() { _ = posts }                                    // the result first, then each newer one; a slow reader skips to the newest
        for await change in urgent.order(by: \.title).changes() { _ = change }                // .result, .changed(removed, inserted, moved, updated positions) for each transaction, .failed
        let subscription = posts.subscribe(id) { event in }                        // .initial .updated .deleted (which ends it) .failed; told before the write returns
        _ = subscription
        let list = await MainActor.run { LiveQuery(urgent) }
        _ = list
        let counts = workspace.updates { view in try view.count(of: urgent) }     // any read of a view, again when what it looked at changes
        _ = counts
        for try await count in counts { _ = count }
        let open = await MainActor.run { LiveRead(workspace) { view in try view.count(of: urgent) } }
        _ = open
        for await change in urgent.changes() {
            var items: [Post] = []
            switch change {
            case .result(let posts): items = posts
            case .changed(let change): change.apply(to: &items)
            case .failed(let error): throw error
            }
        }
        for await post in posts.updates(of: id) { _ = post }
        subscription.cancel()
    }
}
