import Hummingbird
import RoostServices
import RoostShared

/// Who is logged in: every process knows a session as soon as one has begun it.
struct Sessions {
    struct Session: Codable, Sendable { var user: String }

    private let workspace: SharedWorkspace
    private let sessions: SessionStore<Session>

    init(_ workspace: SharedWorkspace) {
        self.workspace = workspace
        sessions = SessionStore(workspace, idleLimit: .seconds(3600))
    }

    func add(to router: Router<some RequestContext>) {
        // For how long the session may be idle the client says, so that one can be seen to end; from its first reading on
        // it is an hour, as the store says that reads it.
        router.post("login/:user/:seconds") { _, context in
            let seconds = try context.parameters.require("seconds", as: Int.self)
            let sessions = SessionStore<Session>(workspace, idleLimit: .seconds(seconds))
            return try await sessions.begin(
                Session(user: try context.plain("user")))
        }
        router.get("sessions/:token") { _, context in
            let token = try context.parameters.require("token")
            guard let session = try await sessions.session(of: token) else {
                throw HTTPError(.unauthorized)
            }
            return session.user
        }
        router.delete("sessions/:token") { _, context in
            try await sessions.end(try context.parameters.require("token"))
            return HTTPResponse.Status.noContent
        }
    }
}
