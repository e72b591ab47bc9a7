import Hummingbird
import Roost

/// What the workspace refuses, as a status that a client can act on.
struct StoreErrors<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let error as RoostError {
            context.logger.debug("the workspace refused", metadata: ["error": "\(error)"])
            throw HTTPError(Self.status(of: error), message: error.message)
        }
    }

    private static func status(of error: RoostError) -> HTTPResponse.Status {
        switch error.code {
        case .notUnique, .alreadyExists, .conflict: .conflict
        case .keyTooLarge, .valueTooLarge: .contentTooLarge
        case .outOfSpace: .init(code: 507, reasonPhrase: "Insufficient Storage")
        // Closed while the request was under way, or no longer to be trusted: another attempt may do.
        case .closed, .poisoned, .cancelled: .serviceUnavailable
        default: .internalServerError
        }
    }
}
