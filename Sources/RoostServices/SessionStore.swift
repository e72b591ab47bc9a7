#if Services
    public import Roost

    /// Sessions by a token that nobody can guess, which a client keeps as a cookie.
    ///
    /// A session ends when it was not used for `idleLimit`. The store has the session under its token: who can read
    /// the workspace's files can take over sessions, as with any store of sessions.
    public struct SessionStore<Session: Codable & Sendable>: Sendable {
        private let workspace: Workspace
        private let sessions: WorkspaceDictionary
        private let idleLimit: Duration

        public init(
            _ workspace: Workspace, dictionary: String = "sessions",
            idleLimit: Duration = .seconds(14 * 86_400)
        ) {
            self.workspace = workspace
            sessions = workspace.dictionary(dictionary)
            self.idleLimit = idleLimit
        }

        /// Begins a session; its token, of 256 random bits. On disk as the workspace's durability has it.
        ///
        /// - Throws: as `set(_:forKey:expiresIn:durability:)` of a `WorkspaceDictionary`.
        public func begin(_ session: Session) async throws -> String {
            let token = Self.makeToken()
            try await sessions.set(session, forKey: token, expiresIn: idleLimit)
            return token
        }

        /// The session of a token, whose time begins anew; `nil` where there is none, or no more.
        ///
        /// One that does not decode as `Session`, as of another version of the service, counts as none: whoever has it
        /// begins another. Its bytes stay until its time is over, for the version that reads them.
        ///
        /// Where the workspace takes no writes now, as on a full disk or in a reader, the session is there and its
        /// time goes on as it was: it ends then though it is used.
        ///
        /// - Throws: `.decodingFailed` and `.typeMismatch` where what is stored is no `Session`; else as
        ///   `Workspace.transaction(durability:_:)`, but for `.outOfSpace` and `.readOnly`.
        public func session(of token: String) async throws -> Session? {
            guard Self.isToken(token), let session = try readable(token) else { return nil }
            // A session that is read at each request is written once in a hundredth of its time. One that has more time
            // than any was begun before the clock was set back, and would outlast its limit by so much.
            guard let remaining = try sessions.remainingTime(forKey: token),
                remaining < idleLimit - idleLimit / 100 || remaining > idleLimit
            else { return session }
            // In one step with the read: what was ended or changed meanwhile must not come back.
            do {
                return try await workspace.transaction { transaction in
                    let session = try transaction.value(
                        forKey: token, as: Session.self, in: sessions)
                    guard let session else { return nil }
                    try transaction.set(session, forKey: token, in: sessions, expiresIn: idleLimit)
                    return session
                }
            } catch let error as RoostError
                where error.code == .outOfSpace || error.code == .readOnly
            {
                return session
            }
        }

        /// Changes what a session holds, and begins its time anew; where there is none, nothing.
        ///
        /// - Throws: as `Workspace.transaction(durability:_:)`; `.encodingFailed`, `.valueTooLarge`.
        public func update(_ session: Session, of token: String) async throws {
            guard Self.isToken(token) else { return }
            try await workspace.transaction { transaction in
                guard try transaction.contains(token, in: sessions) else { return }
                try transaction.set(session, forKey: token, in: sessions, expiresIn: idleLimit)
            }
        }

        /// Ends a session; where there is none, nothing. On disk as the workspace's durability has it. Throws
        /// as `removeValue(forKey:durability:)` of a `WorkspaceDictionary`.
        public func end(_ token: String) async throws {
            guard Self.isToken(token) else { return }
            try await sessions.removeValue(forKey: token)
        }

        private func readable(_ token: String) throws -> Session? {
            do { return try sessions.value(forKey: token, as: Session.self) } catch let error
                as RoostError where error.code == .decodingFailed || error.code == .typeMismatch
            { return nil }
        }

        /// A client may send anything, also what is too long to be a key.
        private static func isToken(_ text: String) -> Bool { text.utf8.count == 64 }

        private static func makeToken() -> String {
            // The system's generator is fit for secrets.
            var generator = SystemRandomNumberGenerator()
            return (0..<4).map { _ in
                let digits = String(generator.next(), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }
#endif
