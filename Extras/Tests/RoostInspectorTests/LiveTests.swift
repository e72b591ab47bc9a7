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

    /// Wherever the connection breaks, the last number that came before is one whose changes have all come.
    @Test("a browser that was cut off within a batch is told all of it again")
    func resumingWithinABatch() async throws {
        try await withServer { workspace in
            let dictionary = workspace.dictionary("a")
            for batch in 1...3 {
                try await dictionary.setAll((1...4).map { ("k\(batch).\($0)", batch) })
            }
        } _: { server in
            let port = server.port
            for seenCount in 1...8 {
                let head = server.head("GET", "/api/changes?dictionary=a", ["Last-Event-ID": "1"])
                let keys = (2...3).flatMap { batch in (1...4).map { "k\(batch).\($0)" } }
                let last = keys[seenCount - 1]
                let text = try await onThread {
                    let connection = try Connection(port: port)
                    try connection.send(head)
                    let text = try connection.receive(until: "\"key\":\"\(last)\"")
                    return text.components(separatedBy: "\"key\":\"\(last)\"")[0]
                }
                let number = text.matches(of: /id: ([0-9]+)\n/).last.flatMap { Int($0.output.1) }
                #expect(number == (seenCount <= 4 ? 1 : 2), "after \(last): \(text)")
            }
        }
    }

    @Test("a dictionary that is new is no reason to say that changes were missed")
    func newDictionaryLater() async throws {
        try await withServer { workspace in
            try await workspace.dictionary("a").set(1, forKey: "before")
        } _: { server in
            let (head, port) = (server.head("GET", "/api/changes", [:]), server.port)
            let (begun, looked) = (Signal(), Signal())
            let reading = Task {
                try await onThread {
                    let connection = try Connection(port: port)
                    try connection.send(head)
                    _ = try connection.receive(until: ": here")
                    begun.set()
                    // Each look ends so.
                    _ = try connection.receive { text in
                        let parts = text.components(separatedBy: "\"key\":\"after\"")
                        return parts.count == 2
                            && parts[1].components(separatedBy: ": here").count > 3
                    }
                    looked.set()
                    return try connection.receive(until: "\"key\":\"first\"")
                }
            }
            await begun.wait()
            let workspace = server.workspace
            for number in 0..<100 { try await workspace.dictionary("a").set(number, forKey: "k") }
            // What the log had is in snapshots alone from now on.
            try await workspace.compact()
            try await workspace.dictionary("a").set(1, forKey: "after")
            await looked.wait()
            try await workspace.dictionary("new").set(1, forKey: "first")
            let text = try await reading.value
            #expect(!text.contains("missed"), "\(text)")
        }
    }

    @Test(
        "a store that can be followed no more ends the changes with why",
        arguments: ["", "?dictionary=d"])
    func endOfFollowing(query: String) async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-inspector-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (live, earlier) = (path + "/live", path + "/earlier")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for number in 1...2 {
            let writer = try await Workspace.open(at: live)
            try await writer.dictionary("d").set(number, forKey: "a")
            try await writer.close()
            if number == 1 { try FileManager.default.copyItem(atPath: live, toPath: earlier) }
        }
        let reader = try await Workspace.open(at: live, configuration: .init(access: .readOnly))
        try await withInspector(of: reader) { server in
            let reading = try await changes(of: server, query: query, until: "event: ended")
            for (directory, isRemoved) in [(live, true), (earlier, false)] {
                for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                    if isRemoved {
                        try FileManager.default.removeItem(atPath: "\(live)/\(name)")
                    } else {
                        try FileManager.default.copyItem(
                            atPath: "\(earlier)/\(name)", toPath: "\(live)/\(name)")
                    }
                }
            }
            let writer = try await Workspace.open(at: live)
            try await writer.dictionary("d").set(3, forKey: "b")
            let text = try await reading.value
            let ending = try #require(text.components(separatedBy: "event: ended\ndata: ").last)
            #expect(ending.contains("\"message\":") && !ending.contains("\"key\""))
            // `.io` where it looked while there was no manifest.
            #expect(ending.contains("\"corrupt\"") || ending.contains("\"io\""), "\(ending)")
            try await writer.close()
        }
        try await reader.close()
    }

    @Test("a workspace that is closed ends the changes with that")
    func endByClosing() async throws {
        try await withServer { workspace in
            try await workspace.dictionary("d").set(1, forKey: "a")
        } _: { server in
            let reading = try await changes(of: server, query: "", until: "event: ended")
            try await server.workspace.close()
            #expect(try await reading.value.contains(#"data: {"code":"closed","message":"#))
        }
    }

    /// What the server tells until it has told `end`, and closes; once it has begun.
    private func changes(
        of server: Server, query: String, until end: String
    ) async throws -> Task<String, any Error> {
        let (head, port) = (server.head("GET", "/api/changes\(query)", [:]), server.port)
        let begun = Signal()
        let reading = Task {
            try await onThread {
                let connection = try Connection(port: port)
                try connection.send(head)
                _ = try connection.receive(until: ": here")
                begun.set()
                _ = try connection.receive(until: end)
                return try connection.receive()
            }
        }
        await begun.wait()
        return reading
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
                let answer = try await second.get(
                    "/api/workspace", ["Cookie": first.cookie, "Roost-Inspector-Key": first.key])
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
