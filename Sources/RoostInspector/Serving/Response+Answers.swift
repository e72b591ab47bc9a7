#if Inspector
    import HTTPTypes
    import Hummingbird
    import RoostForms

    extension Response {
        static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
            var bytes: [UInt8] = []
            value.write(to: &bytes)
            return Response(
                status: status, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        }

        /// What keeps other pages from showing, reading or guessing what this one has.
        mutating func addSecurityHeaders() {
            headers[.contentSecurityPolicy] =
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                + "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
            headers[.xContentTypeOptions] = "nosniff"
            headers[.crossOriginResourcePolicy] = "same-origin"
            headers[.crossOriginOpenerPolicy] = "same-origin"
            headers[.referrerPolicy] = "no-referrer"
            headers[.cacheControl] = "no-store"
        }
    }
#endif
