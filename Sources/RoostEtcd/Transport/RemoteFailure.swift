/// Why a call did not get its answer, in gRPC's terms.
struct RemoteFailure: Error {
    /// gRPC's status codes, as far as they are told apart.
    enum Code: Int {
        case cancelled = 1
        case unknown = 2
        case invalidArgument = 3
        case deadlineExceeded = 4
        case notFound = 5
        case permissionDenied = 7
        case resourceExhausted = 8
        case failedPrecondition = 9
        case outOfRange = 11
        case unimplemented = 12
        case `internal` = 13
        case unavailable = 14
        case unauthenticated = 16
    }

    var code: Code
    var message: String
    /// Whether the server may have had the request.
    var wasSent: Bool
    var cause: (any Error)?
    /// Whether the server said it, rather than the connection.
    var isAnswer = false
    /// Whether the connection has not had any answer yet, and so may never have been trusted.
    var isBeforeAnswers = false

    init(
        _ code: Code, _ message: String, wasSent: Bool, cause: (any Error)? = nil,
        isAnswer: Bool = false
    ) {
        self.code = code
        self.message = message
        self.wasSent = wasSent
        self.cause = cause
        self.isAnswer = isAnswer
    }
}
