import Foundation
import Roost
import Testing

struct Bird: Codable, Identifiable, Sendable {
    var id: String
    var name: String
    var wingspan: Double
    var count: Int
    var seen: Date?
    var tags: [String]
}

@Suite("What the inspector shows")
struct LookingTests {
    /// Keys that differ only to whoever compares bytes, and some that addresses have to escape.
    static let oddKeys = [
        "", "a b", "a+b", "a&b=c", "é", "e\u{301}", "x\0y", "100%", "#", "日本", "\u{1F426}",
    ]

    private func keys(
        _ server: Server, _ query: String, descending: Bool = false
    ) async throws -> [String] {
        var keys: [String] = []
        var after = ""
        while true {
            let order = descending ? "&order=descending" : ""
            let answer = try await server.get("/api/entries?dictionary=d\(query)\(order)\(after)")
            #expect(answer.status == 200)
            let page = try answer.json
            let entries = try #require(page["entries"] as? [[String: Any]])
            let found = entries.compactMap { $0["key"] as? String }
            keys += found
            guard page["hasMore"] as? Bool == true, let last = found.last else { return keys }
            after = "&after=" + escaped(last)
        }
    }

    @Test("pages have every key once, in the order of its bytes, in both directions")
    func pages() async throws {
        let keys = (Self.oddKeys + (0..<500).map { "key\($0)" }).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        try await withServer { workspace in
            let dictionary = workspace.dictionary("d")
            // Some in snapshots, some in the log, some gone.
            for key in keys.prefix(250) { try await dictionary.set(key.count, forKey: key) }
            try await dictionary.set(1, forKey: "gone")
            try await workspace.compact()
            for key in keys.dropFirst(200) { try await dictionary.set(key.count, forKey: key) }
            try await dictionary.removeValue(forKey: "gone")
        } _: { server in
            for limit in [7, 100, 1000] {
                let ascending = try await self.keys(server, "&limit=\(limit)")
                #expect(ascending.map { Array($0.utf8) } == keys.map { Array($0.utf8) })
                let descending = try await self.keys(server, "&limit=\(limit)", descending: true)
                #expect(descending.map { Array($0.utf8) } == keys.reversed().map { Array($0.utf8) })
            }
            let some = try await self.keys(server, "&limit=5&prefix=key4")
            #expect(some == keys.filter { $0.hasPrefix("key4") })
            let count = try await server.get("/api/count?dictionary=d")
            #expect(try count.json["keyCount"] as? Int == keys.count)
        }
    }

    @Test("an entry says its type, its size, its version and when it expires")
    func entries() async throws {
        try await withServer { workspace in
            let dictionary = workspace.dictionary("d")
            try await dictionary.set(7, forKey: "a")
            try await dictionary.set("text", forKey: "b", expiresIn: .seconds(3600))
            try await dictionary.set([UInt8](repeating: 1, count: 100_000), forKey: "c")
        } _: { server in
            let page = try await server.get("/api/entries?dictionary=d").json
            let entries = try #require(page["entries"] as? [[String: Any]])
            #expect(entries.map { $0["type"] as? String } == ["Int", "String", "[UInt8]"])
            #expect(entries.map { $0["version"] as? Int } == [1, 2, 3])
            #expect(entries[0]["preview"] as? String == "7")
            #expect(entries[0]["deadline"] is NSNull)
            let deadline = try #require(entries[1]["deadline"] as? Double)
            #expect(abs(deadline / 1000 - Date().timeIntervalSince1970 - 3600) < 600)
            // Too long to be decoded for a list.
            #expect(entries[2]["sizeBytes"] as? Int == 100_001)
            #expect(entries[2]["preview"] as? String == "")
        }
    }

    @Test("a Codable value is a tree with the types of its leaves")
    func trees() async throws {
        let bird = Bird(
            id: "h", name: "Heron", wingspan: 1.85, count: 3,
            seen: Date(timeIntervalSince1970: 0.5),
            tags: ["grey", "tall"])
        try await withServer { workspace in
            for coder in [ValueCoder.roost, .json, .propertyList] {
                let birds = workspace.dictionary("\(coder)", coder: coder)
                try await birds.set(bird, forKey: "h")
            }
        } _: { server in
            let answer = try await server.get("/api/value?dictionary=roost&key=h").json
            let tree = try #require(answer["tree"] as? [String: Any])
            let members = try #require(tree["members"] as? [[Any]])
            let types = Dictionary(
                uniqueKeysWithValues: members.compactMap { member in
                    (member[0] as? String).map {
                        ($0, (member[1] as? [String: Any])?["type"] as? String)
                    }
                })
            #expect(types["name"] == "String" && types["wingspan"] == "Double")
            #expect(types["count"] == "Int" && types["seen"] == "Date" && types["tags"] == "Array")
            for name in ["json", "propertyList"] {
                let other = try await server.get("/api/value?dictionary=\(name)&key=h")
                #expect(
                    other.body.contains("Heron") && other.body.contains("\"members\""), "\(name)")
            }
            let none = try await server.get("/api/value?dictionary=roost&key=x")
            #expect(none.status == 404)
        }
    }

    @Test("bytes are shown as bytes, of a long value the first of them")
    func bytes() async throws {
        try await withServer { workspace in
            try await workspace.dictionary("d").set(
                [UInt8](repeating: 0xab, count: 5000), forKey: "b")
        } _: { server in
            let answer = try await server.get("/api/value?dictionary=d&key=b").json
            #expect(answer["tree"] is NSNull)
            let bytes = try #require(answer["bytes"] as? [String: Any])
            #expect(bytes["count"] as? Int == 5000)
            #expect((bytes["first"] as? String)?.hasPrefix("ab ab") == true)
            #expect((bytes["first"] as? String)?.count == 4096 * 3 - 1)
        }
    }

    @Test("what cannot be read as asked is refused with what is wrong")
    func badInput() async throws {
        try await withServer { server in
            for (query, message) in [
                ("entries", "dictionary is missing"), ("entries?dictionary=d&limit=0", "limit"),
                ("entries?dictionary=d&limit=x", "limit"),
                ("entries?dictionary=d&limit=1001", "limit"),
                ("entries?dictionary=d&limit=99999999999999999999", "limit"),
                ("entries?dictionary=d&order=up", "order"),
                ("value?dictionary=d", "key is missing"),
                ("count", "dictionary is missing"),
            ] {
                let answer = try await server.get("/api/\(query)")
                #expect(answer.status == 400 && answer.body.contains(message), "\(query)")
            }
            let long = String(repeating: "n", count: 300)
            let answer = try await server.get("/api/entries?dictionary=\(long)")
            #expect(answer.status == 413 && answer.code == "keyTooLarge")
            for garbage in ["%", "%zz", "%ff%fe", "a=b=c&&&=", "dictionary=%00"] {
                let answer = try await server.get("/api/entries?\(garbage)&dictionary=d")
                #expect([200, 400].contains(answer.status), "\(garbage)")
            }
        }
    }

    @Test("each dictionary says how many records and bytes snapshots have of it")
    func dictionaries() async throws {
        try await withServer { workspace in
            let birds = workspace.repository(of: Bird.self)
            for index in 0..<300 {
                try await birds.save(
                    Bird(id: "\(index)", name: "b", wingspan: 1, count: index, seen: nil, tags: []))
            }
            try await workspace.dictionary("few").set(1, forKey: "a")
            try await workspace.compact()
            try await workspace.dictionary("log").set(1, forKey: "a")
        } _: { server in
            let answer = try await server.get("/api/dictionaries").json
            let list = try #require(answer["dictionaries"] as? [[String: Any]])
            #expect(list.compactMap { $0["name"] as? String } == ["Bird", "few", "log"])
            #expect(list.map { $0["snapshotRecordCount"] as? Int } == [300, 1, 0])
            #expect(list.map { $0["isRepository"] as? Bool } == [true, false, false])
            let sizes = list.compactMap { $0["snapshotSizeBytes"] as? Int }
            #expect(sizes[0] > sizes[1] && sizes[2] == 0)
            let live = try await server.get("/api/live").json
            #expect(live["liveKeyCount"] as? Int == 302)
        }
    }

    @Test("every file that the page names is there, and it names none elsewhere")
    func pageFiles() async throws {
        try await withServer { server in
            var seen: Set<String> = []
            var open = ["/", "/enter.js"]
            while let address = open.popLast() {
                guard seen.insert(address).inserted else { continue }
                let answer = try await server.get(address)
                #expect(answer.status == 200, "\(address)")
                #expect(!answer.body.contains("https://"), "\(address)")
                let names = answer.body.matches(
                    of: /(?:src=|href=|from )"(\/[a-z.]+)"/)
                open += names.map { String($0.output.1) }
            }
            #expect(seen.count == 16)
        }
    }

    @Test("of a change as of a list, a long value is not decoded")
    func longChange() async throws {
        try await withServer { workspace in
            try await workspace.dictionary("d").set("short", forKey: "a")
        } _: { server in
            let head = server.head("GET", "/api/changes?dictionary=d", ["Last-Event-ID": "1"])
            let long = String(repeating: "x", count: 100_000)
            try await server.workspace.dictionary("d").set(long, forKey: "long")
            try await server.workspace.dictionary("d").set("short", forKey: "b")
            let port = server.port
            let text = try await onThread {
                let connection = try Connection(port: port)
                try connection.send(head)
                return try connection.receive(until: "\"key\":\"b\"")
            }
            #expect(text.contains("\"preview\":\"\",\"sizeBytes\":100001"), "\(text)")
            #expect(text.contains("\"preview\":\"short\""))
        }
    }
}

func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
}
