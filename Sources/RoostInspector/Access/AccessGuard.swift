#if Inspector
    import HTTPTypes
    import Hummingbird
    import Synchronization

    /// Who may come in.
    ///
    /// - A request names this server by one of its own names and its port. A page whose name was made to
    ///   lead here (DNS rebinding) sends its own.
    /// - A request that comes from a page comes from one of this server's own.
    /// - A link opens one session, once; it ends with the process.
    /// - A session has two secrets, and what shows or changes something needs both. Pages of other
    ///   sites do not send the cookie, and scripts do not see it; but a browser sends it to other
    ///   servers on this machine too, as cookies do not know ports. The key is kept by the page's
    ///   origin, which has a port.
    /// - Secrets have 256 random bits, and are compared in the same time whatever they are.
    final class AccessGuard: Sendable {
        private struct State {
            var port: Int?
            /// The newest last.
            var links: [String] = []
            var sessions: [Session] = []
        }

        private struct Session {
            var cookie = AccessGuard.secret()
            var key = AccessGuard.secret()
        }

        /// What a browser is given that comes in by a link.
        struct Entrance {
            var cookie: Cookie
            var key: String
        }

        private let state = Mutex(State())
        private static let linkCount = 16
        private static let sessionCount = 64

        func begin(port: Int) { state.withLock { $0.port = port } }

        /// `nil` before the port is known.
        func makeLink() -> String? {
            let token = Self.secret()
            return state.withLock { state in
                guard let port = state.port else { return nil }
                state.links.append(token)
                if state.links.count > Self.linkCount { state.links.removeFirst() }
                return "http://127.0.0.1:\(port)\(Self.openPath)?token=\(token)"
            }
        }

        static let openPath = "/open"

        /// A new session, where `token` is a link's that nobody has used.
        func openSession(token: String) -> Entrance? {
            state.withLock { state in
                guard let port = state.port,
                    let index = state.links.firstIndex(where: { Self.isEqual($0, token) })
                else { return nil }
                state.links.remove(at: index)
                let session = Session()
                state.sessions.append(session)
                if state.sessions.count > Self.sessionCount { state.sessions.removeFirst() }
                let cookie = Cookie(
                    name: Self.cookieName(port), value: session.cookie, path: "/", httpOnly: true,
                    sameSite: .strict)
                return Entrance(cookie: cookie, key: session.key)
            }
        }

        /// What keeps a request out, whoever sends it.
        func refusalOfOrigin(_ request: Request) -> Refusal? {
            guard let port = state.withLock({ $0.port }) else { return .misdirected }
            let hosts = ["127.0.0.1", "localhost"]
            // Browsers leave out the port that HTTP has by itself.
            let names = hosts.map { "\($0):\(port)" } + (port == 80 ? hosts : [])
            guard let host = request.head.authority, names.contains(host) else {
                return .misdirected
            }
            let origins = request.headers[values: .origin]
            guard origins.allSatisfy({ $0 == "http://\(host)" }) else { return .otherOrigin }
            // Browsers say by themselves whose page a request is of.
            let sites = request.headers[values: .secFetchSite]
            guard sites.allSatisfy({ $0 == "same-origin" || isOpening(request, $0) }) else {
                return .otherOrigin
            }
            return nil
        }

        /// A person may follow a link from anywhere: the token in it is what counts.
        private func isOpening(_ request: Request, _ site: String) -> Bool {
            site == "none"
                || (request.method == .get && request.uri.path == Self.openPath
                    && request.headers[.secFetchMode] == "navigate")
        }

        /// What keeps a request out that has no session.
        ///
        /// - Parameter needsKey: Not for the page's own files, which are the same for everybody: what
        ///   loads them cannot send a header.
        func refusalOfSession(_ request: Request, needsKey: Bool) -> Refusal? {
            let sessions = state.withLock { state in
                let cookie = state.port.flatMap { request.cookies[Self.cookieName($0)]?.value }
                guard let cookie else { return [Session]() }
                return state.sessions.filter { Self.isEqual($0.cookie, cookie) }
            }
            guard let session = sessions.first else { return .noSession }
            guard needsKey else { return nil }
            let keys = request.headers[values: .inspectorKey]
            guard keys.count == 1, Self.isEqual(session.key, keys[0]) else { return .noKey }
            return nil
        }

        /// Cookies do not know ports: two inspectors would overwrite each other's.
        private static func cookieName(_ port: Int) -> String { "roost-inspector-\(port)" }

        private static func secret() -> String {
            var generator = SystemRandomNumberGenerator()
            return (0..<4).map { _ in
                let text = String(generator.next() as UInt64, radix: 16)
                return String(repeating: "0", count: 16 - text.count) + text
            }.joined()
        }

        private static func isEqual(_ secret: String, _ given: String) -> Bool {
            let (secret, given) = (Array(secret.utf8), Array(given.utf8))
            guard secret.count == given.count else { return false }
            return zip(secret, given).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
        }
    }

    extension HTTPField.Name {
        /// The key of a session, from the page's script.
        static let inspectorKey = HTTPField.Name("Roost-Inspector-Key")!
        static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
        static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
        static let lastEventID = HTTPField.Name("Last-Event-ID")!
        static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
        static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
    }
#endif
