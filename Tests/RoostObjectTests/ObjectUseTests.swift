import Foundation
import Roost
import RoostTestSupport
import Testing

struct Post: Codable, Identifiable, Sendable, Equatable {
    enum Color: String, Codable, Sendable { case red, green, blue }
    enum Content: Codable, Sendable, Equatable {
        case text(String)
        case photo(url: String, width: Int)
    }
    struct Author: Codable, Sendable, Equatable {
        struct Address: Codable, Sendable, Equatable { var city: String }
        var name: String
        var address: Address?
    }
    var id = UUID()
    var title: String
    var slug: String
    var color = Color.red
    var priority = 0
    var tags: [String] = []
    var author = Author(name: "Ada")
    var due: Date?
    var content = Content.text("")
    var isDone = false
}

extension Post.Color: IndexRepresentable {}

extension Post: Indexed {
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

struct Summary: Codable, Identifiable, Sendable {
    var id: Int
    var count: Int
}

/// The lines that users write, and that each does what is said of it.
@Suite(.timeLimit(.minutes(10))) struct ObjectUseTests {
    /// The form of -1 ends in bytes of the highest value; turned around for a descending field its bounds were
    /// those of all numbers below zero, and a count from the index alone counted these.
    @Test func oneValueOfADescendingFieldIsNoOther() async throws {
        let workspace = try await Workspace.inMemory()
        let posts = workspace.repository(of: Post.self)
        for number in [-3, -2, -1, -1, 0, 1] {
            try await posts.save(Post(title: "", slug: "\(UUID())", priority: number))
        }
        let query = posts.where { $0.color.isIn([.red, .blue]) && $0.priority == -1 }
        #expect(try query.count() == 2)
        #expect(try query.fetch().count == 2)
    }

    private func withPosts(
        _ count: Int = 200, _ body: (Workspace, Repository<Post>, [Post]) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.inMemory()
        let posts = workspace.repository(of: Post.self)
        let colors: [Post.Color] = [.red, .green, .blue]
        var all = (0..<count).map { number in
            Post(
                title: number % 3 == 0 ? "draft \(number)" : "Café \(number)", slug: "s\(number)",
                color: colors[number % 3], priority: number,
                tags: number % 5 == 0 ? ["swift", "db"] : ["other"],
                author: .init(
                    name: number % 2 == 0 ? "Ada" : "Bob",
                    address: number % 4 == 0 ? .init(city: "Bonn") : nil),
                due: number % 7 == 0 ? Date(timeIntervalSinceReferenceDate: Double(number)) : nil)
        }
        try await posts.saveAll(all)
        try await posts.indexesBuilt()
        all.sort { $0.id.uuidString < $1.id.uuidString }
        try await body(workspace, posts, all)
        try await workspace.close()
    }

    @Test func conditionsFindWhatTheySay() async throws {
        try await withPosts { _, posts, all in
            let urgent = posts.where { $0.priority > 100 && $0.color == .red }
            #expect(try urgent.fetch() == all.filter { $0.priority > 100 && $0.color == .red })
            let top = try urgent.order(by: \.priority, .descending).order(by: \.title).limit(20)
                .fetch()
            #expect(top.map(\.priority) == (0..<20).map { 198 - 3 * $0 })
            #expect(try urgent.first() == all.first { $0.priority > 100 && $0.color == .red })
            #expect(try urgent.count() == 33 && !urgent.isEmpty())
            #expect(
                try posts.where {
                    $0.author.name.hasPrefix("A") || $0.tags.contains("swift")
                        || $0.color.isIn([.red, .blue])
                }.fetch()
                    == all.filter {
                        $0.author.name.hasPrefix("A") || $0.tags.contains("swift")
                            || [.red, .blue].contains($0.color)
                    })
            #expect(
                try posts.where {
                    $0.due == nil || (1...9).contains($0.priority) || !$0.title.contains("draft")
                }.count()
                    == all.filter {
                        $0.due == nil || (1...9).contains($0.priority)
                            || !$0.title.contains("draft")
                    }.count)
            #expect(
                try posts.where {
                    $0.title.contains("CAFE", .ignoringCaseAndMarks) || $0.title.hasSuffix("?")
                }.count() == all.filter { $0.title.hasPrefix("Caf") }.count)
            #expect(
                try posts.where { $0.satisfies { $0.title.count > 7 } && $0.priority > 3 }.count()
                    == all.filter { $0.title.count > 7 && $0.priority > 3 }.count)
            #expect(
                try posts.where { $0.author.address.city == "Bonn" }.count()
                    == all.filter { $0.author.address?.city == "Bonn" }.count)
            #expect(
                try posts.where { $0.isDone }.isEmpty() && posts.where { !$0.isDone }.count() == 200
            )
            #expect(try posts.where { $0.tags.isEmpty == false }.count() == 200)
        }
    }

    @Test func explainSaysWhichIndexIsUsedAndWhatWasRead() async throws {
        try await withPosts { (_, posts, _) async throws in
            let urgent = posts.where { $0.priority > 100 && $0.color == .red }
            #expect(
                try urgent.explain()
                    == "index \"color-priority\", color = red, priority > 100: 33 entries, 33 objects read"
            )
            let first = urgent.order(by: \.priority, .descending).limit(5)
            #expect(try first.explain().contains("index \"color-priority\" in order"))
            #expect(try first.explain().contains("5 objects read"))
            #expect(try posts.where { $0.title == "x" }.explain().hasPrefix("every object"))
            #expect(try posts.where { $0.slug == "s7" }.explain().contains("1 objects read"))
        }
    }

    private func expectCount(_ query: Query<Post>, _ count: Int) throws {
        #expect(try query.count() == count)
        #expect(try query.fetch().count == count)
    }

    @Test func setsAndHalfOpenRangesOfOptionalsAreConditions() async throws {
        try await withPosts { _, posts, all in
            let priorities = Set([3, 7, 190, 1_000])
            let some = posts.where { $0.priority.isIn(priorities) }
            let found = try some.fetch()
            #expect(
                Set(found.map(\.id))
                    == Set(all.filter { priorities.contains($0.priority) }.map(\.id)))
            #expect(try some.explain().hasPrefix("index"))
            let colors: Set<Post.Color> = [.red]
            try expectCount(
                posts.where { !$0.color.isIn(colors) }, all.count { !colors.contains($0.color) })
            let dates = all.compactMap(\.due).sorted()
            let middle = dates[dates.count / 2]
            try expectCount(
                posts.where { (middle...).contains($0.due) }, dates.count { $0 >= middle })
            try expectCount(
                posts.where { (..<middle).contains($0.due) }, dates.count { $0 < middle })
            try expectCount(
                posts.where { (...middle).contains($0.due) }, dates.count { $0 <= middle })
        }
    }

    @Test func changesKeepIdentifiersAndUniqueValuesApart() async throws {
        try await withPosts { workspace, posts, all in
            let other = try #require(all.first { (20..<100).contains($0.priority) })
            await #expect { try await posts.insert(other) } throws: { error in
                (error as? RoostError)?.code == .alreadyExists
            }
            let twin = Post(title: "t", slug: other.slug)
            await #expect { try await posts.insert(twin) } throws: { error in
                guard let error = error as? RoostError, let cause = error.cause as? NotUnique else {
                    return false
                }
                return error.code == .notUnique && cause.index == "slug"
                    && posts.id(ofKey: cause.otherKey) == other.id
            }
            #expect(try await posts.find(by: twin.id) == nil)
            // What failed does not hurt the rest of the transaction.
            let summaries = workspace.repository(of: Summary.self)
            try await workspace.transaction { transaction in
                do {
                    try transaction.insert(twin, in: posts)
                    Issue.record("inserted")
                } catch { #expect((error as? RoostError)?.code == .notUnique) }
                let old = try transaction.fetch(posts.where { $0.priority > 190 })
                for post in old { try transaction.delete(post.id, in: posts) }
                try transaction.insert(Summary(id: 1, count: old.count), in: summaries)
                // Its value is free again within the transaction.
                try transaction.insert(Post(title: "n", slug: old[0].slug), in: posts)
            }
            #expect(try posts.count == 192 && summaries[1]?.count == 9)
            let id = other.id
            try await posts.update(id) { $0.color = .green }
            #expect(try posts[id]?.color == .green)
            #expect(try await posts.update(UUID()) { $0.color = .red } == nil)
            #expect(try await posts.where { $0.priority < 10 }.updateAll { $0.priority = -1 } == 11)
            #expect(try posts.where { $0.priority == -1 }.count() == 11)
            #expect(try await posts.where { $0.color == .red }.deleteAll() > 0)
            #expect(try posts.where { $0.color == .red }.isEmpty())
        }
    }

    @Test func aReadViewSeesOneMoment() async throws {
        try await withPosts { workspace, posts, all in
            let view = try workspace.readView()
            try await posts.all.deleteAll()
            #expect(
                try view.fetch(posts.where { $0.priority > 100 && $0.color == .red }).count == 33)
            #expect(try view.count(of: posts) == 200 && view.find(all[0].id, in: posts) == all[0])
            #expect(try posts.all.isEmpty())
            view.close()
        }
    }

    @Test func pagesAndAggregates() async throws {
        try await withPosts { _, posts, all in
            var cursor: PageCursor?
            var seen: [Int] = []
            repeat {
                let page = try posts.order(by: \.priority).page(after: cursor, limit: 50)
                seen += page.items.map(\.priority)
                cursor = page.next
            } while cursor != nil
            #expect(seen == Array(0..<200))
            let other = try posts.order(by: \.title).page(after: nil, limit: 5).next
            #expect(throws: RoostError.self) {
                try posts.order(by: \.priority).page(after: other, limit: 5)
            }
            let urgent = posts.where { $0.priority > 100 && $0.color == .red }
            #expect(try urgent.min(of: \.priority) == 102 && urgent.max(of: \.priority) == 198)
            #expect(
                try urgent.max(of: \.due)
                    == all.filter { $0.priority > 100 && $0.color == .red }.compactMap(\.due).max())
            #expect(
                try urgent.sum(of: \.priority)
                    == stride(from: 102, through: 198, by: 3).reduce(0, +))
            #expect(try posts.grouped(by: \.color).counts() == [.red: 67, .green: 67, .blue: 66])
            #expect(try posts.distinct(\.color) == [.blue, .green, .red])
            var count = 0
            try urgent.forEach { _ in count += 1 }
            for try await _ in urgent.objects { count += 1 }
            #expect(count == 66)
        }
    }
}
