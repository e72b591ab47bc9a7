import Hummingbird
import Roost
import RoostServices

/// Who a client is: a token in a cookie, for as long as it is used.
struct SessionRoutes {
    struct User: Codable, Sendable { var name: String }

    private let sessions: SessionStore<User>
    private let limiter: RateLimiter
    private static let cookieName = "session"

    init(workspace: Workspace, settings: Settings) {
        sessions = SessionStore(workspace)
        limiter = RateLimiter(
            workspace, burstCount: settings.loginLimit, period: .seconds(60))
    }

    func add(to router: Router<some RequestContext>) {
        router.post("login") { request, context in
            // There is no password here: a service of yours asks for one.
            let user = try await request.decode(as: User.self, context: context)
            let decision = try await limiter.admit(user.name)
            guard decision.isAllowed else {
                var headers = HTTPFields()
                headers[.retryAfter] = String(decision.retryAfter.components.seconds + 1)
                throw HTTPError(.tooManyRequests, headers: headers, message: nil)
            }
            var response = Response(status: .noContent)
            response.setCookie(
                Cookie(
                    name: Self.cookieName, value: try await sessions.begin(user), httpOnly: true))
            return response
        }
        router.get("me") { request, _ in
            guard let token = request.cookies[Self.cookieName]?.value,
                let user = try await sessions.session(of: token)
            else { throw HTTPError(.unauthorized) }
            return user.name + "\n"
        }
        router.post("logout") { request, _ in
            if let token = request.cookies[Self.cookieName]?.value { try await sessions.end(token) }
            return HTTPResponse.Status.noContent
        }
    }
}
