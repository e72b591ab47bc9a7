import Hummingbird
import RoostServices
import RoostShared

/// How often a client may ask, over all processes together: twenty times, and once more each three minutes.
struct RateLimit {
    private let limiter: RateLimiter

    init(_ workspace: SharedWorkspace) {
        limiter = RateLimiter(workspace, burstCount: 20, period: .seconds(3600))
    }

    func add(to router: Router<some RequestContext>) {
        router.post("limited/:client") { _, context in
            let decision = try await limiter.admit(try context.plain("client"))
            guard decision.isAllowed else { throw HTTPError(.tooManyRequests) }
            return HTTPResponse.Status.noContent
        }
    }
}
