import Foundation
import Roost
import Testing

@Suite("Changing values in the inspector")
struct ChangingTests {
    /// - Parameter fingerprint: Of the bytes that the text is made from; of no value's where it is left out.
    private func body(
        _ key: String, _ version: Int, _ text: String? = nil, fingerprint: String = "0"
    ) throws -> String {
        var members: [String: Any] = ["dictionary": "d", "key": key, "version": version]
        if let text {
            members["text"] = text
            members["fingerprint"] = fingerprint
        }
        return String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
    }

    @Test("one that only reads refuses every change, and the store stays as it is")
    func readOnly() async throws {
        try await withServer { workspace in
            try await workspace.dictionary("d").set(1, forKey: "a")
        } _: { server in
            for method in ["PUT", "DELETE"] {
                let answer = try await server.change(method, "/api/value", try body("a", 1, "2"))
                #expect(answer.status == 403 && answer.code == "readOnly")
            }
            let workspace = try await server.get("/api/workspace").json
            #expect(workspace["allowsWriting"] as? Bool == false)
        } afterwards: { workspace in
            let stored = try workspace.dictionary("d").value(forKey: "a", as: Int.self)
            #expect(stored == 1)
        }
    }

    @Test("a change keeps the value's type and deadline, and is on disk")
    func changes() async throws {
        let bird = Bird(
            id: "h", name: "Heron", wingspan: 1.85, count: 3,
            seen: Date(timeIntervalSince1970: 0.25),
            tags: ["grey"])
        try await withServer(allowsWriting: true) { workspace in
            let dictionary = workspace.dictionary("d")
            try await dictionary.set(Int8(1), forKey: "int8")
            try await dictionary.set(true, forKey: "bool")
            try await dictionary.set(0.5, forKey: "double")
            try await dictionary.set("old", forKey: "string", expiresIn: .seconds(9000))
            try await dictionary.set(Data([1]), forKey: "data")
            try await dictionary.set(bird, forKey: "bird")
        } _: { server in
            for (key, text) in [
                ("int8", "-128"), ("bool", "false"), ("double", "-1e300"),
                ("string", "n\u{e9}w \u{1F426}\n"),
                ("data", "AAEC"),
            ] {
                let old = try await server.get("/api/value?dictionary=d&key=\(key)").json
                #expect(old["editableText"] is String, "\(key)")
                let version = try #require(old["version"] as? Int)
                let fingerprint = try #require(old["fingerprint"] as? String)
                let answer = try await server.change(
                    "PUT", "/api/value", try body(key, version, text, fingerprint: fingerprint))
                #expect(answer.status == 200, "\(key): \(answer.body)")
                #expect(try answer.json["type"] as? String == old["type"] as? String)
                #expect(try #require(answer.json["version"] as? Int) > version)
            }
            let old = try await server.get("/api/value?dictionary=d&key=bird").json
            let text = try #require(old["editableText"] as? String)
            let edited = text.replacingOccurrences(of: "Heron", with: "Egret")
            #expect(edited != text)
            let version = try #require(old["version"] as? Int)
            let fingerprint = try #require(old["fingerprint"] as? String)
            let answer = try await server.change(
                "PUT", "/api/value", try body("bird", version, edited, fingerprint: fingerprint))
            #expect(answer.status == 200, "\(answer.body)")
        } afterwards: { workspace in
            let dictionary = workspace.dictionary("d")
            let int8 = try dictionary.value(forKey: "int8", as: Int8.self)
            let bool = try dictionary.value(forKey: "bool", as: Bool.self)
            let double = try dictionary.value(forKey: "double", as: Double.self)
            let string = try dictionary.value(forKey: "string", as: String.self)
            let remaining = try dictionary.remainingTime(forKey: "string")
            let data = try dictionary.value(forKey: "data", as: Data.self)
            #expect(int8 == -128 && bool == false && double == -1e300)
            #expect(string == "n\u{e9}w \u{1F426}\n" && data == Data([0, 1, 2]))
            #expect(try #require(remaining) > .seconds(1000))
            let changed = try #require(try dictionary.value(forKey: "bird", as: Bird.self))
            #expect(
                changed.name == "Egret" && changed.seen == bird.seen && changed.wingspan == 1.85)
        }
    }

    @Test("a removal is on disk, and a change of what was changed meanwhile is a conflict")
    func conflicts() async throws {
        try await withServer(allowsWriting: true) { workspace in
            for key in ["a", "b"] { try await workspace.dictionary("d").set(1, forKey: key) }
        } _: { server in
            try await server.workspace.dictionary("d").set(5, forKey: "b")
            for method in ["PUT", "DELETE"] {
                let answer = try await server.change(method, "/api/value", try body("b", 2, "7"))
                #expect(answer.status == 409 && answer.code == "conflict")
            }
            let none = try await server.change("PUT", "/api/value", try body("none", 0, "7"))
            #expect(none.status == 409)
            let removed = try await server.change("DELETE", "/api/value", try body("a", 1))
            #expect(removed.status == 200)
        } afterwards: { workspace in
            let dictionary = workspace.dictionary("d")
            let keys = try dictionary.keys
            let stored = try dictionary.value(forKey: "b", as: Int.self)
            #expect(keys == ["b"] && stored == 5)
        }
    }

    @Test("what a form, or a page without an origin, could send is refused")
    func forms() async throws {
        try await withServer(allowsWriting: true) { workspace in
            try await workspace.dictionary("d").set(1, forKey: "a")
        } _: { server in
            let text = try body("a", 1, "2")
            let withoutOrigin = try await server.change("PUT", "/api/value", text, ["Origin": nil])
            #expect(withoutOrigin.status == 403)
            for type in ["text/plain", "application/x-www-form-urlencoded", nil] {
                let answer = try await server.change(
                    "PUT", "/api/value", text, ["Content-Type": type])
                #expect(answer.status == 400)
            }
        } afterwards: { workspace in
            let stored = try workspace.dictionary("d").value(forKey: "a", as: Int.self)
            #expect(stored == 1)
        }
    }

    @Test(
        "what is no value of the type, or no change at all, is refused with what is wrong",
        arguments: [
            ("int", "1.5"), ("int", "9223372036854775808"), ("int", "x"), ("int", ""),
            ("bool", "1"),
            ("double", "1e999"), ("double", "one"), ("data", "%%"), ("json", "{"), ("json", ""),
        ])
    func wrongTexts(key: String, text: String) async throws {
        try await withServer(allowsWriting: true) { workspace in
            let dictionary = workspace.dictionary("d", coder: .json)
            try await dictionary.set(1, forKey: "int")
            try await dictionary.set(true, forKey: "bool")
            try await dictionary.set(1.5, forKey: "double")
            try await dictionary.set(Data([1]), forKey: "data")
            try await dictionary.set(["a": 1], forKey: "json")
        } _: { server in
            let old = try await server.get("/api/value?dictionary=d&key=\(key)").json
            let version = try #require(old["version"] as? Int)
            let fingerprint = try #require(old["fingerprint"] as? String)
            let answer = try await server.change(
                "PUT", "/api/value", try body(key, version, text, fingerprint: fingerprint))
            #expect(answer.status == 422 && answer.code == "notStorable", "\(answer.body)")
            let now = try await server.get("/api/value?dictionary=d&key=\(key)").json
            #expect(now["version"] as? Int == version)
        }
    }

    @Test("a body that is no JSON object of the members that it needs, or too long, is refused")
    func badBodies() async throws {
        try await withServer(allowsWriting: true) { server in
            for text in [
                "", "{", "[]", "null", "{}",
                #"{"dictionary":"d","key":"k","version":-1,"text":""}"#,
                #"{"dictionary":1,"key":"k","version":1,"text":""}"#,
                #"{"dictionary":"d","key":"k","version":1}"#,
                #"{"dictionary":"d","key":"k","version":1,"text":"2"}"#,
                String(repeating: "[", count: 100_000),
            ] {
                let answer = try await server.change("PUT", "/api/value", text)
                #expect(answer.status == 400, "\(text.prefix(40)): \(answer.status)")
            }
        }
    }

    private struct Span: Codable, Sendable {
        var seconds: Int
    }

    private struct LongerSpan: Codable, Sendable {
        var milliseconds: Int
    }

    @Test("a text of the form that a value had before its migration is a conflict")
    func migrated() async throws {
        try await withServer(allowsWriting: true) { workspace in
            try await workspace.dictionary("d").set(Span(seconds: 2), forKey: "a")
            try await workspace.dictionary("d").set(Span(seconds: 3), forKey: "b")
        } _: { server in
            let old = try await server.get("/api/value?dictionary=d&key=a").json
            let version = try #require(old["version"] as? Int)
            let text = try #require(old["editableText"] as? String)
            let fingerprint = try #require(old["fingerprint"] as? String)
            #expect(text == #"{"seconds":2}"#)
            Self.migrate(server.workspace)
            try await server.workspace.compact()
            let new = try await server.get("/api/value?dictionary=d&key=a").json
            #expect(new["version"] as? Int == version && new["typeVersion"] as? Int == 2)
            let answer = try await server.change(
                "PUT", "/api/value",
                try body("a", version, #"{"seconds":5}"#, fingerprint: fingerprint))
            #expect(answer.status == 409 && answer.code == "conflict", "\(answer.body)")
            let newer = try #require(new["fingerprint"] as? String)
            let saved = try await server.change(
                "PUT", "/api/value",
                try body("a", version, #"{"milliseconds":5}"#, fingerprint: newer))
            #expect(saved.status == 200, "\(saved.body)")
        } afterwards: { workspace in
            Self.migrate(workspace)
            let stored = try ["a", "b"].map {
                try workspace.dictionary("d").value(forKey: $0, as: LongerSpan.self)?.milliseconds
            }
            #expect(stored == [5, 3000])
        }
    }

    private static func migrate(_ workspace: Workspace) {
        workspace.dictionary("d").migrating(from: Span.self, to: LongerSpan.self, version: 2) {
            LongerSpan(milliseconds: $0.seconds * 1000)
        }
    }
}
