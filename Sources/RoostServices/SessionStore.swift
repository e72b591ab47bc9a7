#if Services
    public import Roost

    /// Sessions by a token that nobody can guess, which a client keeps as a cookie.
    ///
    /// A session ends when it was not used for `idleLimit`. The store has the session under its token: who can read
    /// the workspace's files, or the engine of a shared one, can take over sessions, as with any store of sessions.
    ///
    /// Over a shared workspace every process finds what any of them has begun, as soon as it has.
    public struct SessionStore<Session: Codable & Sendable>: Sendable {
        private let workspace: any KeyValueWorkspace
        private let sessions: any KeyValueDictionary
        private let idleLimit: Duration

        /// - Parameter workspace: A `Workspace`, or one that processes share.
        public init(
            _ workspace: some KeyValueWorkspace, dictionary: String = "sessions",
            idleLimit: Duration = .seconds(14 * 86_400)
        ) {
            self.workspace = workspace
            sessions = workspace.dictionary(dictionary)
            self.idleLimit = idleLimit
        }

        /// Begins a session; its token, of 256 random bits. As durable as the workspace's writes are.
        ///
        /// - Throws: as `set(_:forKey:expiresIn:)` of the workspace's dictionaries.
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
        /// Where the workspace takes no writes now, as on a full disk, in a reader, or as nobody can be reached any more,
        /// the session is there and its time goes on as it was: it ends then though it is used.
        ///
        /// - Throws: `.decodingFailed` and `.typeMismatch` where what is stored is no `Session`; else as the workspace's
        ///   `transaction`, but for `.outOfSpace`, `.readOnly`, and of a write `.unavailable`, `.unknownOutcome` and
        ///   `.conflict`.
        public func session(of token: String) async throws -> Session? {
            guard Self.isToken(token), let entry = try await readable(token),
                let session = entry.value
            else { return nil }
            // A session that is read at each request is written once in a hundredth of its time. One that has more time
            // than any was begun before the clock was set back, and would outlast its limit by so much.
            guard let remaining = remainingTime(of: entry, in: sessions),
                remaining < idleLimit - idleLimit / 100 || remaining > idleLimit
            else { return session }
            do { return try await renewed(token, in: workspace) } catch let error as RoostError
                where Self.keepsTime(error.code)
            {
                return session
            }
        }

        /// Changes what a session holds, and begins its time anew; where there is none, nothing.
        ///
        /// - Throws: as the workspace's `transaction`; `.encodingFailed`, `.valueTooLarge`, `.tooLarge`.
        public func update(_ session: Session, of token: String) async throws {
            guard Self.isToken(token) else { return }
            try await update(session, of: token, in: workspace)
        }

        /// Ends a session; where there is none, nothing. As durable as the workspace's writes are. Throws
        /// as `removeValue(forKey:)` of the workspace's dictionaries.
        public func end(_ token: String) async throws {
            guard Self.isToken(token) else { return }
            try await sessions.removeValue(forKey: token)
        }

        // MARK: Within

        /// In one step with the read: what was ended or changed meanwhile must not come back.
        private func renewed<Store: KeyValueWorkspace>(
            _ token: String, in workspace: Store
        ) async throws -> Session? {
            let sessions = workspace.dictionary(sessions.name)
            return try await workspace.transaction { attempt in
                let session = try await attempt.load(token, as: Session.self, in: sessions)
                guard let session else { return nil }
                try attempt.set(session, forKey: token, in: sessions, expiresIn: idleLimit)
                return session
            }
        }

        private func update<Store: KeyValueWorkspace>(
            _ session: Session, of token: String, in workspace: Store
        ) async throws {
            let sessions = workspace.dictionary(sessions.name)
            try await workspace.transaction { attempt in
                guard try await attempt.contains(token, in: sessions) else { return }
                try attempt.set(session, forKey: token, in: sessions, expiresIn: idleLimit)
            }
        }

        private func readable(_ token: String) async throws -> Entry<Session>? {
            do { return try await sessions.loadEntry(token, as: Session.self) } catch let error
                as RoostError where error.code == .decodingFailed || error.code == .typeMismatch
            { return nil }
        }

        private func remainingTime(
            of entry: Entry<Session>, in dictionary: some KeyValueDictionary
        ) -> Duration? { dictionary.remainingTime(of: entry) }

        /// Whether a session that was read is there though its time could not be begun anew.
        private static func keepsTime(_ code: RoostError.Code) -> Bool {
            [.outOfSpace, .readOnly, .unavailable, .unknownOutcome, .conflict].contains(code)
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
