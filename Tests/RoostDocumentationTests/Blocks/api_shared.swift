// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import RoostShared
import Testing

private nonisolated enum Color: String, Codable, IndexRepresentable { case red, green, blue }
private nonisolated struct Post: Codable, Identifiable, Equatable, Indexed {
    var id = 1; var title = "t"; var color = Color.red; var priority = 0; var rating: Int?; var tags: [String] = []
    static var indexes: [Index<Post>] { [Index("color", \.color, \.priority)] }
}

extension Blocks {
    static func api_shared(home: String) async throws {
        try await Task.sleep(for: .zero)
        let id = UUID()
        _ = id
        let workspace = try await SharedWorkspace.connect(to: .memory(), namespace: "shop")   // .etcd(…), .postgres("postgres://…")
        _ = workspace
        let posts = workspace.repository(of: Post.self)
        _ = posts
        try await posts.buildIndexes()                             // when a service begins
        try await posts.saveAll([Post(id: 1, priority: 1), Post(id: 2, priority: 2)])
        let urgent = posts.where { $0.color == .red && $0.priority > 0 }       // `.notIndexed` where no index answers it; `scanning()` reads all
        _ = urgent
        _ = try await urgent.order(by: \.priority, .descending).limit(20).fetch()
        let sum = try await urgent.sum(of: \.priority), average = try await urgent.average(of: \.priority)
        _ = sum
        _ = try await urgent.min(of: \.priority); _ = try await posts.max(of: \.rating)
        let counts = try await posts.grouped(by: \.color).counts()  // [Color: Int], from the index; sums, averages, minima and maxima too
        _ = counts
        _ = try await posts.grouped(byEach: \.tags).sums(of: \.priority)
        let colors = try await posts.distinct(\.color)
        _ = colors
        for (id, title) in try await posts.values(of: \.id, \.title) { print(id, title) }
        let users = workspace.dictionary("users", keys: UUID.self), days = workspace.dictionary("days", keys: Int.self)
        _ = users
        try await users.set("ada", forKey: id); let name = try await users.load(id, as: String.self)
        _ = name
        for try await (day, count) in days.entries(in: (-7)...0, as: Int.self) { print(day, count) }   // in the order of the numbers; `keys(in:)` too
        try await workspace.write { batch in batch.set(1, forKey: -1, in: days) }
        _ = try await workspace.dictionary("users").page(prefix: "A", after: "AB", as: String.self, limit: 50, order: .descending)   // all of one revision
        let left = try await workspace.transaction { tx in
            try tx.removeValue(forKey: id, in: users)
            return try await tx.sum(of: \.priority, in: urgent) - (try await tx.counts(of: posts.grouped(by: \.color))[.red] ?? 0)
        }
        print(left)
        #expect(name == "ada" && sum == 3 && average == 1.5 && counts == [.red: 2] && colors == [.red])
    }
}
