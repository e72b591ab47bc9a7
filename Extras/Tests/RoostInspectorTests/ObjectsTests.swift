import Foundation
import Roost
import Testing

struct Post: Codable, Identifiable, Sendable, Indexed {
    var id: Int
    var title: String
    var priority: Int

    static var indexes: [Index<Post>] { [Index("priority", \.priority)] }
}

@Suite("Objects in the inspector")
struct ObjectsTests {
    private func withPosts(_ body: (Server) async throws -> Void) async throws {
        try await withServer { workspace in
            let posts = workspace.repository(of: Post.self)
            for id in 0..<200 {
                try await posts.save(Post(id: id, title: "Post \(id)", priority: 199 - id))
            }
            try await workspace.dictionary("numbers").set(1, forKey: "a")
        } _: { server in
            try await body(server)
        }
    }

    private func titles(_ server: Server, _ query: String) async throws -> [String] {
        let answer = try await server.get("/api/objects?dictionary=Post\(query)")
        #expect(answer.status == 200, "\(query): \(answer.body)")
        let rows = try answer.json["rows"] as? [[String: Any]] ?? []
        return rows.compactMap { ($0["cells"] as? [String: Any])?["title"] as? String }
    }

    @Test("a condition chooses, a member orders, and pages follow one another")
    func queries() async throws {
        try await withPosts { server in
            let condition = "&where=" + escaped(#"priority > 189 && !title.hasSuffix("5")"#)
            let expected = [0, 1, 2, 3, 4, 6, 7, 8, 9].map { "Post \($0)" }
            let found = try await titles(server, condition + "&sort=priority&order=descending")
            #expect(found == expected)
            var pages: [String] = []
            var after = ""
            var pageCount = 0
            repeat {
                let query = condition + "&sort=priority&limit=4" + after
                pages += try await titles(server, query)
                let answer = try await server.get("/api/objects?dictionary=Post\(query)").json
                let next = (answer["next"] as? [String: Any])?["after"] as? String
                after = next.map { "&after=" + escaped($0) } ?? ""
                pageCount += 1
            } while !after.isEmpty
            #expect(pages == expected.reversed() && pageCount == 3)
        }
    }

    @Test("it says how the objects were found, and which members they have")
    func explanations() async throws {
        try await withPosts { server in
            let answer = try await server.get(
                "/api/objects?dictionary=Post&where=" + escaped("priority == 7")
            ).json
            #expect(
                answer["explanation"] as? String == "index \"priority\": 1 entries, 1 objects read")
            #expect(Set(answer["columns"] as? [String] ?? []) == ["id", "title", "priority"])
            #expect(answer["next"] is NSNull)
            let all = try await server.get("/api/objects?dictionary=Post&limit=5").json
            #expect((all["rows"] as? [Any])?.count == 5 && all["next"] is [String: Any])
        }
    }

    @Test("what is no condition, no member, or no object is refused with what is wrong")
    func refusals() async throws {
        try await withPosts { server in
            for (query, message) in [
                ("where=" + escaped("priority >"), "column"), ("where=%22", "column"),
                ("where=" + escaped("priority > high"), "column"), ("sort=a%20b", "sort"),
                ("limit=501", "limit"), ("after=-1", "after"), ("after=%5B%22key%22%5D", "after"),
            ] {
                let answer = try await server.get("/api/objects?dictionary=Post&\(query)")
                #expect(answer.status == 400 && answer.body.contains(message), "\(query)")
            }
            let other = escaped(#"["values",["1"],"a"]"#)
            let place = try await server.get("/api/objects?dictionary=Post&after=\(other)")
            #expect(place.status == 409 && place.code == "conflict")
            let numbers = try await server.get("/api/objects?dictionary=numbers")
            #expect(numbers.status == 422 && numbers.code == "typeMismatch")
        }
    }

    @Test("an order without an index is said to be of the first objects, where there are more")
    func manyObjects() async throws {
        try await withServer { workspace in
            let posts = workspace.repository(of: Post.self)
            try await posts.saveAll(
                (0..<20_100).map { Post(id: $0, title: "Post", priority: 20_099 - $0) })
            try await workspace.compact()
        } _: { server in
            let address = "/api/objects?dictionary=Post&limit=3&sort="
            let sorted = try await server.get(address + "title").json
            let warnings = try #require(sorted["warnings"] as? [String])
            #expect(warnings.count == 1 && warnings[0].contains("first 20000 objects"))
            let indexed = try await server.get(address + "priority").json
            #expect((indexed["warnings"] as? [String])?.isEmpty == true)
            #expect(
                indexed["explanation"] as? String
                    == "index \"priority\" in its order: 4 entries, 4 objects read")
            let keys = (indexed["rows"] as? [[String: Any]])?.compactMap { $0["key"] as? String }
            #expect(keys?.count == 3 && Set(keys ?? []).count == 3)
        }
    }

    @Test("a repository's indexes are listed with their state")
    func indexes() async throws {
        try await withPosts { server in
            let answer = try await server.get("/api/dictionaries").json
            let list = answer["dictionaries"] as? [[String: Any]] ?? []
            let posts = list.first { $0["name"] as? String == "Post" }
            let index = (posts?["indexes"] as? [[String: Any]])?.first
            #expect(
                index?["name"] as? String == "priority" && index?["state"] as? String == "built")
        }
    }
}
