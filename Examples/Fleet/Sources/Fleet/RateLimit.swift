import Foundation
import Hummingbird
import RoostShared

/// How often a client may ask within some time, over all processes together.
struct RateLimit {
    /// What a client has asked since its first request; gone when the time is over.
    struct Window: Codable, Sendable {
        var count: Int
        var end: Date
    }

    private let workspace: SharedWorkspace
    private let windows: SharedDictionary
    private let limitCount = 20
    private let periodSeconds = 60.0

    init(_ workspace: SharedWorkspace) {
        self.workspace = workspace
        windows = workspace.dictionary("limits")
    }

    /// Whether the client may ask once more. Counts it if so.
    func admit(_ client: String) async throws -> Bool {
        let now = Date()
        return try await workspace.transaction { attempt in
            var window =
                try await attempt.load(client, as: Window.self, in: windows)
                ?? Window(count: 0, end: now.addingTimeInterval(periodSeconds))
            guard window.count < limitCount else { return false }
            window.count += 1
            try attempt.set(
                window, forKey: client, in: windows,
                expiresIn: .seconds(window.end.timeIntervalSince(now)))
            return true
        }
    }

    func add(to router: Router<some RequestContext>) {
        router.post("limited/:client") { _, context in
            guard try await admit(try context.parameters.require("client")) else {
                throw HTTPError(.tooManyRequests)
            }
            return HTTPResponse.Status.noContent
        }
    }
}
