import Foundation
import Roost

// Objects and their indexes, as an app declares them whose code is on the main actor unless it says otherwise: models
// and their extensions are `nonisolated`, as other threads read them.

nonisolated enum Color: String, Codable, IndexRepresentable { case red, green, blue }
nonisolated enum Content: Codable, Equatable {
    case text(String)
    case photo(url: String, width: Int)
}
nonisolated struct Author: Codable, Equatable { var name: String }

nonisolated struct Post: Codable, Identifiable, Sendable, Equatable {
    var id: UUID
    var title: String
    var slug: String
    var color: Color
    var priority: Int
    var tags: [String]
    var author: Author
    var due: Date?
    var content: Content  // structs, enums with payloads
}

nonisolated extension Post: Indexed {  // optional: a repository queries without it, by scanning
    static var indexes: [Index<Post>] {
        [
            Index("priority", \.priority),
            Index("color-priority", \.color, .descending(\.priority)),
            Index("slug", \.slug, isUnique: true),
            Index("tags", each: \.tags),
            Index("due", \.due, where: { $0.color != .green }),
        ]
    }
}

nonisolated struct Reader: Codable, Identifiable { var id: Int }
nonisolated struct Summary: Codable, Identifiable { var id: Int }

extension Post {
    static func any(_ number: Int) -> Post {
        Post(
            id: UUID(), title: number % 3 == 0 ? "draft" : "Café \(number)?", slug: "s\(number)",
            color: number % 2 == 0 ? .red : .blue, priority: number,
            tags: number % 5 == 0 ? ["swift"] : [], author: Author(name: "Ada"),
            due: number % 7 == 0 ? Date(timeIntervalSinceReferenceDate: Double(number)) : nil,
            content: number % 2 == 0 ? .text("t") : .photo(url: "u", width: number))
    }
}

extension Client {
    static func checkObjects() async throws {
        let workspace = try await Workspace.inMemory()
        let posts = workspace.repository(of: Post.self)
        try await posts.saveAll((0..<200).map { Post.any($0) })
        try await posts.indexesBuilt()
        try await checkQueries(workspace, posts)
        try await checkChanges(workspace, posts)
        try await checkLive(posts)
        try await workspace.close()
    }

    private static func checkQueries(_ workspace: Workspace, _ posts: Repository<Post>) async throws
    {
        let users = workspace.repository(of: Reader.self)
        let urgent = posts.where { $0.priority > 100 && $0.color == .red }
        try check(try urgent.fetch().count == 49, "a condition")
        let top = try urgent.order(by: \.priority, .descending).order(by: \.title).limit(20).fetch()
        try check(top.map(\.priority) == (0..<20).map { 198 - 2 * $0 }, "an order and a limit")
        try check(try urgent.first() != nil && urgent.count() == 49 && !urgent.isEmpty(), "counts")
        let some = try posts.where {
            $0.author.name.hasPrefix("A") || $0.tags.contains("swift")
                || $0.color.isIn([.red, .blue])
        }.fetch()
        let others = try posts.where {
            $0.due == nil || (1...9).contains($0.priority) || !$0.title.contains("draft")
        }.fetch()
        let found = try posts.where {
            $0.title.contains("Cafe", .ignoringCaseAndMarks) || $0.title.hasSuffix("?")
        }.fetch()
        let long = try posts.where { $0.satisfies { $0.title.count > 7 } && $0.priority > 3 }
            .fetch()
        let all = try posts.all.fetch()
        try check(some == all && found == all.filter { $0.title.hasSuffix("?") }, "text")
        try check(
            others
                == all.filter {
                    $0.due == nil || (1...9).contains($0.priority) || $0.title != "draft"
                }, "one of several")
        try check(long == all.filter { $0.title.count > 7 && $0.priority > 3 }, "a closure")
        try check(try urgent.min(of: \.priority) == 102, "the least")
        let latest = try urgent.max(of: \.due)
        try check(latest == Date(timeIntervalSinceReferenceDate: 196), "the last")
        try check(try urgent.sum(of: \.priority) == 7_350, "a sum")
        try check(try posts.grouped(by: \.color).counts() == [.red: 100, .blue: 100], "groups")
        var cursor: PageCursor?
        var count = 0
        repeat {
            let page = try posts.order(by: \.priority).page(after: cursor, limit: 50)
            count += page.items.count
            cursor = page.next
        } while cursor != nil
        try urgent.forEach { post in count += post.priority > 100 ? 1 : 0 }
        for try await post in urgent.objects { count += post.priority > 100 ? 1 : 0 }
        try check(count == 200 + 49 + 49, "one at a time")
        let explanation = try urgent.explain()
        try check(
            explanation
                == "index \"color-priority\", color = red, priority > 100: 49 entries, 49 objects read",
            explanation)
        let (seen, userCount) = try workspace.read { view in
            (try view.fetch(urgent), try view.count(of: users))
        }
        try check(seen.count == 49 && userCount == 0, "one moment")
        let (sum, page) = try workspace.read { view in
            (
                try view.sum(of: \.priority, in: urgent),
                try view.page(of: urgent, after: nil, limit: 5)
            )
        }
        let readable = try urgent.skippingUndecodable { key, error in print(key, error) }.fetch()
        try check(readable == seen, "what decodes")
        try check(sum == 7_350 && page.items.count == 5, "more of one moment")
    }

    private static func checkChanges(_ workspace: Workspace, _ posts: Repository<Post>) async throws
    {
        let summaries = workspace.repository(of: Summary.self)
        let urgent = posts.where { $0.priority > 150 }
        let post = Post.any(1_001)
        let id = post.id
        try await posts.insert(post)
        try await expect(.alreadyExists) { try await posts.insert(post) }
        try await expect(.notUnique) {
            var twin = Post.any(1_002)
            twin.slug = "s7"
            try await posts.insert(twin)
        }
        try await posts.save(post)
        try await posts.update(id) { $0.color = .green }
        try await posts.delete(id)
        try check(try await urgent.updateAll { $0.priority = 300 } == 49, "all are changed")
        let summary = Summary(id: 1)
        try await workspace.transaction { tx in
            let old = try tx.fetch(posts.where { $0.priority > 150 })
            for post in old.prefix(9) { try tx.delete(post.id, in: posts) }
            try tx.insert(summary, in: summaries)
        }
        try check(try await urgent.deleteAll() == 40 && summaries.count == 1, "all are gone")
    }

    private static func checkLive(_ posts: Repository<Post>) async throws {
        let repository = posts
        let urgent = posts.where { $0.priority > 100 && $0.color == .red }
        let post = Post.any(120)
        let id = post.id
        let list = LiveQuery(urgent)  // a view has it as `@State`
        let before = list.items.count
        var lengths: [Int] = []
        for await posts in urgent.updates() {
            lengths.append(posts.count)
            guard lengths.count == 1 else { break }
            var added = post
            added.slug = "live"
            try await repository.save(added)
        }
        try check(lengths == [before, before + 1] && list.items.count == before + 1, "live")
        var items: [Post] = []
        for await change in urgent.order(by: \.title).changes() {
            switch change {
            case .result(let posts):
                items = posts
                try await repository.delete(id)
            case .changed(let change): change.apply(to: &items)
            case .failed(let error): throw error
            }
            if items.count == before { break }
        }
        try check(!items.contains { $0.id == id } && list.items.count == before, "by positions")
        let subscription = posts.subscribe(id) { event in
            if case .initial(let post) = event {
                print("subscribed to \(post?.title ?? "nothing")")
            }
        }
        subscription.cancel()
        #if canImport(Combine)
            _ = urgent.publisher()
            _ = posts.publisher(of: id)
        #endif
    }
}
