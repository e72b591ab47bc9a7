import Foundation
import Roost
import RoostInspector

/// An inspector of a workspace in a directory of its own, and a browser that came in by its link.
struct Server: Sendable {
    let workspace: Workspace
    let inspector: Inspector
    let port: Int
    let link: String
    var cookie: String?
    var key: String?

    var host: String { "127.0.0.1:\(port)" }

    /// What to change of the headers that a browser sends: `nil` leaves one out.
    struct Headers: Sendable {
        var values: [String: String?] = [:]
        static let usual = Headers()
    }

    func request(
        _ method: String, _ target: String, _ changes: [String: String?] = [:], body: String = ""
    ) async throws -> Answer {
        let text = head(method, target, changes, body) + body
        let port = port
        return try await onThread {
            let connection = try Connection(port: port)
            try connection.send(text)
            return try Answer(try connection.receive())
        }
    }

    func get(_ target: String, _ changes: [String: String?] = [:]) async throws -> Answer {
        try await request("GET", target, changes)
    }

    /// As the page's script sends what changes something.
    func change(
        _ method: String, _ target: String, _ body: String, _ changes: [String: String?] = [:]
    ) async throws -> Answer {
        var headers: [String: String?] = [
            "Origin": "http://\(host)", "Content-Type": "application/json",
        ]
        headers.merge(changes) { $1 }
        return try await request(method, target, headers, body: body)
    }

    func head(
        _ method: String, _ target: String, _ changes: [String: String?], _ body: String = ""
    ) -> String {
        var headers: [String: String?] = [
            "Host": host, "Connection": "close", "Cookie": cookie,
            "Roost-Inspector-Key": key,
        ]
        if !body.isEmpty { headers["Content-Length"] = "\(body.utf8.count)" }
        headers.merge(changes) { $1 }
        let lines = headers.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
        return "\(method) \(target) HTTP/1.1\r\n\(lines.joined())\r\n"
    }

    /// What a browser has that came in by a link.
    struct Session {
        var cookie: String
        var key: String
    }

    /// Comes in by a link; `nil` where it is refused.
    func open(_ link: String) async throws -> Session? {
        let answer = try await get(
            String(link[link.range(of: "/open")!.lowerBound...]),
            ["Cookie": nil, "Roost-Inspector-Key": nil])
        guard answer.status == 200,
            let cookie = answer.header("Set-Cookie")?.components(separatedBy: ";")[0],
            let key = answer.body.firstMatch(
                of: /<meta name="roost-inspector-key" content="([0-9a-f]{64})">/)
        else { return nil }
        return Session(cookie: cookie, key: String(key.output.1))
    }
}

/// Runs `body` with an inspector of a new workspace, and then `afterwards` with that reopened.
func withServer(
    allowsWriting: Bool = false, filling fill: (Workspace) async throws -> Void = { _ in },
    _ body: (Server) async throws -> Void,
    afterwards: (Workspace) async throws -> Void = { _ in }
) async throws {
    let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("roost-inspector-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let workspace = try await Workspace.open(at: path)
    try await fill(workspace)
    try await withInspector(of: workspace, allowsWriting: allowsWriting, body)
    try await workspace.close()
    let reopened = try await Workspace.open(at: path)
    try await afterwards(reopened)
    try await reopened.close()
}

/// Runs `body` with an inspector of a workspace that somebody else opens and closes.
func withInspector(
    of workspace: Workspace, allowsWriting: Bool = false, _ body: (Server) async throws -> Void
) async throws {
    let (links, continuation) = AsyncStream.makeStream(of: String.self)
    let inspector = Inspector(workspace, configuration: .init(allowsWriting: allowsWriting)) {
        continuation.yield($0)
    }
    let running = Task { try await inspector.run() }
    var iterator = links.makeAsyncIterator()
    guard let link = await iterator.next(), let port = URL(string: link)?.port else {
        throw Connection.Failure(call: "no link")
    }
    var server = Server(workspace: workspace, inspector: inspector, port: port, link: link)
    do {
        let session = try await server.open(link)
        server.cookie = session?.cookie
        server.key = session?.key
        try await body(server)
    } catch {
        running.cancel()
        throw error
    }
    running.cancel()
    _ = await running.result
}
