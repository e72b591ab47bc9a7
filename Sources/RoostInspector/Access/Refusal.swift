#if Inspector
    import HTTPTypes
    import Hummingbird
    import Roost
    import RoostForms

    /// Why a request is not answered as it wants.
    struct Refusal: Error, Equatable {
        var status: HTTPResponse.Status
        /// For programs.
        var code: String
        /// For people.
        var message: String

        static let misdirected = Refusal(
            status: .misdirectedRequest, code: "misdirected",
            message: "this server answers to 127.0.0.1 and localhost with its port alone")
        static let otherOrigin = Refusal(
            status: .forbidden, code: "otherOrigin",
            message: "this server answers to its own pages alone")
        static let noSession = Refusal(
            status: .unauthorized, code: "noSession",
            message: "open the link that the inspector printed; each lets one browser in, once")
        static let noKey = Refusal(
            status: .unauthorized, code: "noKey",
            message:
                "this tab was not opened by the inspector's link: go on in the tab that was, or "
                + "begin the inspector again for a new link")
        static let readOnly = Refusal(
            status: .forbidden, code: "readOnly",
            message: "the inspector only reads; begin it with --write to change values")

        static func badRequest(_ message: String) -> Refusal {
            Refusal(status: .badRequest, code: "badRequest", message: message)
        }

        static func notFound(_ message: String) -> Refusal {
            Refusal(status: .notFound, code: "notFound", message: message)
        }

        static func notAllowed(_ methods: String) -> Refusal {
            Refusal(
                status: .methodNotAllowed, code: "methodNotAllowed",
                message: "this address takes \(methods)")
        }
    }

    extension Refusal {
        init(_ error: RoostError) {
            let status: HTTPResponse.Status =
                switch error.code {
                case .conflict: .conflict
                case .readOnly: .forbidden
                case .keyTooLarge, .valueTooLarge: .contentTooLarge
                case .typeMismatch, .decodingFailed, .encodingFailed: .unprocessableContent
                case .closed, .poisoned, .outOfSpace: .serviceUnavailable
                default: .internalServerError
                }
            self.init(status: status, code: error.code.description, message: error.description)
        }

        var json: JSONValue {
            .members(["error": .members(["code": .string(code), "message": .string(message)])])
        }
    }
#endif
