#if Etcd
    import RoostIO
    import RoostShared

    /// The calls of etcd's services that are used.
    enum EtcdMethod: String {
        case range = "/etcdserverpb.KV/Range"
        case transaction = "/etcdserverpb.KV/Txn"
        case grantLease = "/etcdserverpb.Lease/LeaseGrant"
        case status = "/etcdserverpb.Maintenance/Status"
        /// Known from 3.3 on.
        case hash = "/etcdserverpb.Maintenance/HashKV"
    }

    /// The commit named a lease that etcd does not have any more; nothing was changed.
    struct LeaseLost: Error {}

    /// The member answers what it was asked about itself to nobody but its administrators.
    struct StatusWithheld: Error {}

    /// Makes calls until one is answered or the deadline comes, at one endpoint after another.
    struct EtcdCaller: Sendable {
        let endpoints: EtcdEndpoints
        /// What a line carries at the least for a request to be waited for in its first attempt.
        private static let slowBytesPerSecond = 64 << 10

        /// - Parameter mayRepeat: whether the call may be made twice; one that may not is
        ///   `.unknownOutcome` where its answer is lost.
        func call<Response: ResponseMessage>(
            _ method: EtcdMethod, _ request: some RequestMessage,
            before deadline: ContinuousClock.Instant, mayRepeat: Bool = true
        ) async throws -> Response {
            let bytes = request.bytes
            var backoff = Backoff()
            var isTokenNew = false
            var refusals = ServerRefusals<EtcdEndpoint>(
                of: endpoints.count, patience: EtcdEndpoints.attemptLimit)
            // What is large takes its time on a slow line, both ways: each attempt has twice the time of the one before.
            var attemptLimit =
                EtcdEndpoints.attemptLimit
                + .seconds(Double(bytes.count) / Double(Self.slowBytesPerSecond))
            while true {
                let connection = try await endpoints.connection(before: deadline)
                let failure: RemoteFailure
                do {
                    let answer = try await connection.call(
                        method.rawValue, bytes,
                        before: min(deadline, .now + attemptLimit))
                    return try Response(answer[...])
                } catch let remote as RemoteFailure {
                    failure = remote
                } catch is MalformedMessage {
                    failure = RemoteFailure(
                        .internal, "an answer that is none of etcd's", wasSent: true)
                }
                if failure.needsToken, connection.token != nil, !isTokenNew {
                    isTokenNew = true
                    await endpoints.replace(connection)
                    continue
                }
                // Also where the call ends here: a member that says nothing is not to be asked next.
                if !failure.isAnswer, failure.code != .cancelled {
                    await endpoints.replace(connection)
                }
                if failure.isRefusedConnection, !refusals.isFinal(by: connection.endpoint) {
                    try await backoff.wait(before: deadline)
                    continue
                }
                if [.status, .hash].contains(method), failure.isWithheld { throw StatusWithheld() }
                try check(failure, mayRepeat: mayRepeat)
                if !failure.isOverload { await endpoints.replace(connection) }
                guard ContinuousClock.now < deadline else {
                    throw RoostError(
                        .unavailable,
                        "etcd at \(connection.endpoint.description) could not be asked in time: \(failure.message)",
                        cause: failure.cause)
                }
                attemptLimit *= 2
                try await backoff.wait(before: deadline)
            }
        }

        /// - Throws: `.unsupportedVersion` where the server is older than 3.4.
        func checkVersion(before deadline: ContinuousClock.Instant) async throws {
            do {
                let status: StatusResponse = try await call(
                    .status, StatusRequest(), before: deadline)
                _ = try EtcdVersion(status.version)
            } catch is StatusWithheld {
                // The first releases of 3.1 withheld it too. They do not know this call, and newer ones withhold that as well.
                do {
                    let _: HashResponse = try await call(.hash, StatusRequest(), before: deadline)
                } catch is StatusWithheld {}
            }
        }

        /// Throws what a repetition would not change, or must not be repeated.
        private func check(_ failure: RemoteFailure, mayRepeat: Bool) throws {
            let message = failure.message
            // A certificate is refused before anything that was sent is looked at.
            if let refusal = failure.refusal { throw refusal }
            if failure.isAnswer {
                switch failure.code {
                case .outOfRange where message.contains("compacted"):
                    throw RoostError(.compacted, "etcd no longer keeps that revision")
                case .resourceExhausted where message.contains("space exceeded"):
                    throw RoostError(.outOfSpace, "etcd's space is used up: \(message)")
                case .invalidArgument
                where message.contains("too large") || message.contains("too many operations"),
                    .resourceExhausted where message.contains("larger than max"):
                    throw RoostError(.tooLarge, "more than etcd takes at once: \(message)")
                case .notFound where message.contains("lease not found"): throw LeaseLost()
                // A revision that the member does not have yet is asked for again.
                case .outOfRange where !message.contains("future revision"), .invalidArgument:
                    throw RoostError(.io, "etcd refused the request: \(message)")
                default: break
                }
            }
            if failure.code == .cancelled {
                guard mayRepeat || !failure.wasSent else { throw unknown(failure) }
                throw RoostError(.cancelled, "the task was cancelled before the call took effect")
            }
            if failure.wasSent, !mayRepeat, !failure.isOverload, !failure.isOfLearner {
                throw unknown(failure)
            }
        }

        private func unknown(_ failure: RemoteFailure) -> RoostError {
            RoostError(
                .unknownOutcome, "the answer was lost: \(failure.message)", cause: failure.cause)
        }
    }

    extension RemoteFailure {
        /// Said before anything was begun.
        fileprivate var isOverload: Bool {
            isAnswer && code == .resourceExhausted && message.contains("too many requests")
        }

        /// Also said before anything was begun: a member that is new in its cluster takes no calls yet, and another is asked.
        fileprivate var isOfLearner: Bool {
            isAnswer && message.contains("not supported for learner")
        }

        /// Said to who is no administrator, where a member was asked about itself: 3.5 says it as it stands in its program.
        var isWithheld: Bool {
            isAnswer
                && (code == .permissionDenied
                    || code == .unknown && message.contains("auth: permission denied"))
        }

        fileprivate var needsToken: Bool {
            isAnswer
                && (code == .unauthenticated || message.contains("invalid auth token")
                    || message.contains("auth store is old"))
        }
    }
#endif
