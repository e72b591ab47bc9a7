import Foundation
import Hummingbird
import RoostShared

/// Who is logged in: a value that expires, which every process reads as soon as one has written it.
struct Sessions {
    struct Session: Codable, Sendable { var user: String }

    private let sessions: SharedDictionary

    init(_ workspace: SharedWorkspace) { sessions = workspace.dictionary("sessions") }

    func add(to router: Router<some RequestContext>) {
        router.post("login/:user/:seconds") { _, context in
            let seconds = try context.parameters.require("seconds", as: Int.self)
            let token = UUID().uuidString
            try await sessions.set(
                Session(user: try context.parameters.require("user")), forKey: token,
                expiresIn: .seconds(seconds))
            return token
        }
        router.get("sessions/:token") { _, context in
            let token = try context.parameters.require("token")
            guard let session = try await sessions.load(token, as: Session.self) else {
                throw HTTPError(.unauthorized)
            }
            return session.user
        }
        router.delete("sessions/:token") { _, context in
            try await sessions.removeValue(forKey: try context.parameters.require("token"))
            return HTTPResponse.Status.noContent
        }
    }
}
