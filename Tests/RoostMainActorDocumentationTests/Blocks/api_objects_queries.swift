// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated enum Color: String, Codable, IndexRepresentable { case red, green, blue }
private nonisolated struct Author: Codable, Equatable { var name = "Ada" }
private nonisolated struct Post: Codable, Identifiable, Equatable {
    var id = UUID(); var title = "t"; var slug = "s"; var color = Color.red; var priority = 0
    var tags: [String] = []; var author = Author(); var due: Date?; var isDone = false
    var rating: Int?
}
private nonisolated struct User: Codable, Identifiable, Equatable { var id: Int }

extension Blocks {
    static func api_objects_queries(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let posts = workspace.repository(of: Post.self), users = workspace.repository(of: User.self)
        _ = posts
        try await posts.saveAll((0..<300).map { Post(priority: $0) })
        let cursor: PageCursor? = nil
        _ = cursor
        let wanted: Set<Color> = [.red], ids: [UUID] = []
        _ = wanted
        let urgent = posts.where { $0.priority > 100 && $0.color == .red }
        _ = urgent
        _ = try urgent.fetch()                                     // [Post]
        _ = try urgent.order(by: \.priority, .descending).order(by: \.title).limit(20).fetch()
        _ = try urgent.order(by: \.title).offset(40).limit(20).fetch()             // passes 40 by, which a page after a cursor does not
        _ = try urgent.first(); _ = try urgent.count(); _ = try urgent.isEmpty()
        _ = try posts.fetch()                                      // all; `posts.all` is the query
        _ = try posts.where { $0.author.name.hasPrefix("A") || $0.tags.contains("swift") || $0.color.isIn([.red, .blue]) }.fetch()
        _ = try posts.where { $0.due == nil || (1...9).contains($0.priority) || !$0.title.contains("draft") }.fetch()
        _ = try posts.where { $0.title.contains("Cafe", .ignoringCaseAndMarks) || $0.title.hasSuffix("?") }.fetch()   // as a search field wants it
        _ = try posts.where { [.red, .blue].contains($0.color) && $0.slug.lowercased() != "x" }.fetch()      // as `isIn`; arrays and sets
        _ = try posts.where { ($0.rating ?? 0) >= 3 }.fetch()      // by an index of the field, too
        _ = try posts.where { $0.satisfies { $0.title.count > 9 } && $0.priority > 3 }.fetch()   // any Swift closure: asked of what the rest leaves
        _ = try posts.where { $0.title == $0.slug || $0.tags.contains($0.slug) }.fetch()   // two fields of one object
        _ = try posts.where { !$0.isDone && $0.isDone }.fetch()    // a Bool alone
        _ = try posts.where { $0.tags.contains(anyOf: ["a", "b"]) || $0.tags.contains(prefix: "sw") }.fetch()   // from an index of each, as `contains`
        _ = try posts.where { $0.tags.contains(wordsOf: "Sérver sw") }.fetch()   // all words, the last one by its beginning; of `text.searchWords`
        let asked: [Condition<Post>] = [.make { $0.priority > 3 }, .make { $0.due != nil }]
        _ = asked
        _ = try posts.where(.all(of: asked)).order(by: [.descending(\.priority), .ascending(\.title)]).fetch()   // of what a request asks; any(of:) too
        _ = try posts.order(by: \.id, .descending).limit(20).fetch()                 // integers and UUIDs: reads twenty, without an index
        _ = try posts.where { $0.color.isIn(wanted) }.fetch()      // a Set: asking an object costs the same however many there are
        _ = try posts.find(by: ids)                                // several objects of one moment, in this order
        _ = try posts.where(#Predicate { $0.priority > 100 }).fetch()                // Foundation's, which no index can use
        _ = try urgent.min(of: \.priority); _ = try urgent.max(of: \.due); _ = try urgent.sum(of: \.priority)
        _ = try urgent.average(of: \.priority)                      // Double?; Decimal? of a Decimal
        let counts = try posts.grouped(by: \.color).counts()       // [Color: Int]; sums, averages, minima and maxima too
        _ = counts
        _ = try posts.grouped(by: \.color).sums(of: \.priority)
        _ = try posts.grouped(by: \.color, \.author.name).counts()[GroupKey(.red, "Ada")]   // of three fields too
        for (key, count) in try posts.grouped(by: \.color, \.isDone).counts() { let (color, isDone) = key.values; print(color, isDone, count) }
        _ = try posts.grouped(byEach: \.tags).counts()             // [String: Int]: a post counts for each of its tags
        _ = try urgent.order(by: \.title).values(of: \.title)      // [String], in order: of one field, two or three; without the objects where `StoredFields` says how
        for (id, title) in try posts.values(of: \.id, \.title) { print(id, title) }
        _ = try posts.distinct(\.color)                            // in order
        let page = try posts.order(by: \.priority).page(after: cursor, limit: 50)    // cursor: opaque, Codable, stable while others write
        _ = page
        var count = 0
        try urgent.forEach { post in count += 1 }                  // one at a time: the result is never all in memory
        for try await post in urgent.objects { count += post.tags.isEmpty ? 1 : 0 }
        print(try urgent.explain())                                // every object, priority > 100, color = red: 300 objects read
        _ = try workspace.read { view in (try view.fetch(urgent), try view.count(of: users)) }   // one moment
        _ = try workspace.read { view in (try view.sum(of: \.priority, in: urgent), try view.page(of: urgent, after: nil, limit: 50)) }   // all of the above; in transactions too
        _ = try urgent.skippingUndecodable { key, error in print(key, error) }.fetch()   // else the first of them is the query's error
        #expect(page.items.count == 50 && counts == [.red: 300] && count == 398)
    }
}
