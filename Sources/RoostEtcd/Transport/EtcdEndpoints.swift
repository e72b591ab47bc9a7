#if Etcd
    import NIOSSL
    import RoostIO
    import RoostShared

    /// The endpoints of one cluster, of which one has the connection that all calls use.
    ///
    /// - `current` is the connection that new calls take; one that has failed is replaced by one to the next
    ///   endpoint, and so is one that has had as many calls as a connection is used for.
    /// - `connecting` is under way while there is none; whoever needs a connection waits for it.
    actor EtcdEndpoints {
        /// How long one endpoint is tried, and how long an answer is waited for before another one is asked.
        static let attemptLimit = Duration.milliseconds(2500)

        private let endpoints: [EtcdEndpoint]
        private let context: NIOSSLContext?
        private let user: EtcdCredentials.User?
        private let callLimit: Int
        private var next = 0
        private var current: EtcdConnection?
        private var connecting: Task<EtcdConnection, any Error>?
        private var isClosed = false

        init(
            _ texts: [String], _ credentials: EtcdCredentials,
            callLimit: Int = EtcdConnection.callLimit
        ) throws {
            guard !texts.isEmpty else { throw RoostError(.io, "no endpoint of etcd is named") }
            endpoints = try texts.map(EtcdEndpoint.init).shuffled()
            user = credentials.user
            self.callLimit = callLimit
            context =
                endpoints.contains(where: \.isEncrypted)
                ? try NIOSSLContext(credentials.encryption) : nil
        }

        /// The connection, or a new one.
        ///
        /// - Throws: `.unavailable` where none was had until the deadline, `.notPermitted`, `.cancelled`,
        ///   `.closed`.
        func connection(before deadline: ContinuousClock.Instant) async throws -> EtcdConnection {
            var backoff = Backoff(first: .milliseconds(20))
            var failedCount = 0
            var last: RemoteFailure?
            while true {
                if isClosed { throw RoostError(.closed, "the workspace was closed") }
                if let current, current.isActive {
                    if current.callCount < callLimit { return current }
                    replace(current)
                }
                let failure: RemoteFailure
                do { return try await connect(before: deadline) } catch let remote
                    as RemoteFailure
                {
                    // That the time was over says less than what failed before.
                    failure = remote.code == .deadlineExceeded ? last ?? remote : remote
                    last = failure
                }
                // Another member may have another certificate: each is tried.
                let mayBeLetIn = failure.isRefusedConnection && failedCount + 1 < endpoints.count
                if !mayBeLetIn, let refused = failure.refusal { throw refused }
                guard ContinuousClock.now < deadline else {
                    throw RoostError(
                        .unavailable,
                        "none of \(endpoints.map(\.description).joined(separator: ", ")) could be reached: \(failure.message)",
                        cause: failure.cause)
                }
                failedCount += 1
                if failedCount % endpoints.count == 0 { try await backoff.wait(before: deadline) }
                if Task.isCancelled {
                    throw RoostError(
                        .cancelled, "the task was cancelled before the call took effect")
                }
            }
        }

        nonisolated var count: Int { endpoints.count }

        /// Whether new calls take this connection.
        func isCurrent(_ connection: EtcdConnection) -> Bool { current === connection }

        /// Takes a connection out of use that has failed, or that a new token is needed for.
        func replace(_ connection: EtcdConnection) {
            guard current === connection else { return }
            current = nil
            connection.closeLater()
        }

        func close() {
            isClosed = true
            current?.close()
            current = nil
        }

        /// Whoever has less time than the attempt takes leaves it to the others, and to those who come next.
        private func connect(
            before deadline: ContinuousClock.Instant
        ) async throws -> EtcdConnection {
            let attempt = connecting ?? begin()
            guard let connection = try await value(of: attempt, before: deadline) else {
                throw RemoteFailure(.deadlineExceeded, "no connection in time", wasSent: false)
            }
            return connection
        }

        private func begin() -> Task<EtcdConnection, any Error> {
            let task = Task { try await self.connectToNext() }
            connecting = task
            return task
        }

        private func connectToNext() async throws -> EtcdConnection {
            defer { connecting = nil }
            let endpoint = endpoints[next % endpoints.count]
            next += 1
            let connection = try await EtcdConnection.connect(
                endpoint, context, user, before: .now + Self.attemptLimit)
            guard !isClosed else {
                connection.close()
                throw RoostError(.closed, "the workspace was closed")
            }
            current = connection
            return connection
        }
    }

    extension NIOSSLContext {
        /// - Throws: `.io` where a file cannot be read, without what is in it.
        fileprivate convenience init(_ encryption: EtcdCredentials.Encryption) throws {
            do {
                var configuration = TLSConfiguration.makeClientConfiguration()
                configuration.applicationProtocols = ["h2"]
                if let file = encryption.authorityFile {
                    configuration.trustRoots = .certificates(
                        try NIOSSLCertificate.fromPEMFile(file))
                }
                if let file = encryption.certificateFile {
                    configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(file)
                        .map { .certificate($0) }
                }
                if let file = encryption.keyFile {
                    configuration.privateKey = .privateKey(
                        try NIOSSLPrivateKey(file: file, format: .pem))
                }
                try self.init(configuration: configuration)
            } catch {
                throw RoostError(
                    .io, "the certificates or the key for etcd cannot be read as PEM files",
                    cause: error)
            }
        }
    }

    extension RemoteFailure {
        /// Whether the connection was not trusted, before anything was asked.
        var isRefusedConnection: Bool { !isAnswer && refusal != nil }

        /// What no repetition would change: of an answer, at no other endpoint either.
        var refusal: RoostError? {
            switch code {
            case .permissionDenied, .unauthenticated:
                RoostError(.notPermitted, "etcd does not permit this: \(message)")
            case .invalidArgument where message.contains("authentication failed"):
                RoostError(.notPermitted, "etcd does not know this user or password")
            case .invalidArgument where message.contains("user name is empty"),
                .unknown where message.contains("user name is empty"):
                RoostError(.notPermitted, "etcd lets in only users, and none is given")
            case .failedPrecondition where message.contains("authentication is not enabled"):
                RoostError(.notPermitted, "etcd has no users: authentication is not enabled")
            case .unimplemented:
                RoostError(
                    .unsupportedVersion, "the server does not know a call of etcd: \(message)")
            case .unavailable where isBeforeAnswers && isRefusedCertificate:
                RoostError(
                    .notPermitted,
                    "no trusted connection: a certificate was refused, or the server speaks no TLS",
                    cause: cause)
            default: nil
            }
        }

        /// A connection that only ended says nothing of certificates.
        private var isRefusedCertificate: Bool {
            if case .uncleanShutdown? = cause as? NIOSSLError { return false }
            if case .zeroReturn? = cause as? BoringSSLError { return false }
            return cause is NIOSSLError || cause is NIOSSLExtraError || cause is BoringSSLError
        }
    }
#endif
