import Foundation
import Roost
import Testing

@Suite("What the inspector shows while the store changes")
struct LiveTests {
    @Test("changes come as they are committed, of one dictionary or of all, new ones included")
    func changes() async throws {
        try await withServer { workspace in
            try await workspace.dictionary("a").set(1, forKey: "before")
        } _: { server in
            let head = server.head("GET", "/api/changes", [:])
            let port = server.port
            let begun = Signal()
            let reading = Task {
                try await onThread {
                    let connection = try Connection(port: port)
                    try connection.send(head)
                    _ = try connection.receive(until: ": here")
                    begun.set()
                    return try connection.receive(until: "\"key\":\"last\"")
                }
            }
            await begun.wait()
            let workspace = server.workspace
            try await workspace.dictionary("a").set("x\ny", forKey: "set")
            try await workspace.dictionary("a").removeValue(forKey: "before")
            try await workspace.dictionary("a").removeAll()
            try await workspace.dictionary("new").set(0.5, forKey: "last")
            let text = try await reading.value
            #expect(text.contains("text/event-stream"))
            for part in [
                #""change":"set","dictionary":"a","key":"set","version":2"#,
                #""preview":"x\ny""#,
                #""change":"removed","dictionary":"a","key":"before","version":3"#,
                #""change":"removedAll","dictionary":"a""#,
                #""dictionary":"new","key":"last","version":5,"type":"Double","preview":"0.5""#,
            ] {
                #expect(text.contains(part), "\(part)")
            }
        }
    }

    @Test("a browser that was cut off goes on behind the last change that it had")
    func resuming() async throws {
        try await withServer { workspace in
            for index in 1...3 {
                try await workspace.dictionary("a").set(index, forKey: "k\(index)")
            }
        } _: { server in
            let head = server.head("GET", "/api/changes?dictionary=a", ["Last-Event-ID": "1"])
            let port = server.port
            let text = try await onThread {
                let connection = try Connection(port: port)
                try connection.send(head)
                return try connection.receive(until: "\"key\":\"k3\"")
            }
            #expect(!text.contains("\"key\":\"k1\"") && text.contains("id: 2\n"))
        }
    }

    @Test("a verification says how far it is, and then that all is as it was written")
    func verifying() async throws {
        try await withServer { workspace in
            let dictionary = workspace.dictionary("d")
            for index in 0..<2000 { try await dictionary.set(index, forKey: "\(index)") }
            try await workspace.compact()
        } _: { server in
            #expect(try await server.get("/api/verify").json["state"] as? String == "idle")
            let begun = try await server.change("POST", "/api/verify", "{}")
            #expect(begun.status == 202)
            var answer = try begun.json
            while answer["state"] as? String == "running" {
                answer = try await server.get("/api/verify").json
            }
            #expect(answer["state"] as? String == "done" && answer["isSound"] as? Bool == true)
            #expect(answer["recordCount"] as? Int == 2000)
        }
    }

    @Test("storage is sampled, and says what the files take")
    func storage() async throws {
        try await withServer { workspace in
            let dictionary = workspace.dictionary("d")
            for index in 0..<500 { try await dictionary.set(index, forKey: "\(index)") }
            try await workspace.compact()
        } _: { server in
            let answer = try await server.get("/api/storage").json
            let samples = try #require(answer["samples"] as? [[String: Any]])
            let last = try #require(samples.last)
            #expect(last["snapshotRecordCount"] as? Int == 500)
            #expect(try #require(last["snapshotSizeBytes"] as? Int) > 1000)
            #expect(last["lastSequence"] as? Int == 500)
        }
    }

    @Test("a second inspector of the same workspace has links and sessions of its own")
    func twoInspectors() async throws {
        try await withServer { first in
            try await withServer { second in
                let answer = try await second.get("/api/workspace", ["Cookie": first.cookie])
                #expect(answer.status == 401)
            }
        }
    }
}

/// Set on one thread, waited for on another.
final class Signal: Sendable {
    private let stream = AsyncStream.makeStream(of: Void.self)
    func set() { stream.continuation.finish() }
    func wait() async { for await _ in stream.stream {} }
}
