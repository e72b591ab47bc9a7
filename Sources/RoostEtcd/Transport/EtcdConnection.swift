#if Etcd
    import NIOCore
    import NIOHPACK
    import NIOHTTP2
    import NIOPosix
    import NIOSSL
    import RoostIO
    import Synchronization

    /// One HTTP/2 connection to one endpoint, which many calls share.
    final class EtcdConnection: Sendable {
        let endpoint: EtcdEndpoint
        /// Of the user, where there is one.
        let token: String?
        private let channel: any Channel
        private let multiplexer: NIOHTTP2Handler.StreamMultiplexer
        private let failure: FirstFailure
        private let hasAnswered = Atomic<Bool>(false)
        /// Of all calls and streams, also those that are over.
        private let openedCount = Atomic<Int>(0)

        private init(
            _ endpoint: EtcdEndpoint, _ channel: any Channel,
            _ multiplexer: NIOHTTP2Handler.StreamMultiplexer, _ failure: FirstFailure,
            token: String?
        ) {
            self.endpoint = endpoint
            self.channel = channel
            self.multiplexer = multiplexer
            self.failure = failure
            self.token = token
        }

        var isActive: Bool { channel.isActive }

        /// How many calls a connection is used for. Each has a number, of which HTTP/2 has 2^30, and SwiftNIO ends the program
        /// at the call after the last.
        static let callLimit = 1 << 29

        var callCount: Int { openedCount.load(ordering: .relaxed) }

        func close() { channel.close(promise: nil) }

        /// Gives calls under way a while to end.
        func closeLater() {
            let channel = channel
            channel.eventLoop.scheduleTask(in: .seconds(5)) { channel.close(promise: nil) }
        }

        /// Connects and takes a token for the user.
        ///
        /// - Throws: `RemoteFailure`, which was not sent.
        static func connect(
            _ endpoint: EtcdEndpoint, _ context: NIOSSLContext?, _ user: EtcdCredentials.User?,
            before deadline: ContinuousClock.Instant
        ) async throws -> EtcdConnection {
            let failure = FirstFailure()
            let remaining = deadline - .now
            do {
                let (channel, multiplexer) = try await ClientBootstrap(
                    group: MultiThreadedEventLoopGroup.singleton
                )
                .connectTimeout(TimeAmount(remaining))
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .connect(host: endpoint.host, port: endpoint.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        (channel, try configure(channel, endpoint, context, failure))
                    }
                }
                let plain = EtcdConnection(endpoint, channel, multiplexer, failure, token: nil)
                guard let user else { return plain }
                do {
                    let request = AuthenticateRequest(name: user.name, password: user.password)
                    let answer = try AuthenticateResponse(
                        try await plain.call(
                            "/etcdserverpb.Auth/Authenticate", request.bytes, before: deadline)[...]
                    )
                    return EtcdConnection(
                        endpoint, channel, multiplexer, failure, token: answer.token)
                } catch {
                    plain.close()
                    throw error
                }
            } catch var remote as RemoteFailure {
                remote.wasSent = false
                throw remote
            } catch {
                throw RemoteFailure(
                    .unavailable, "cannot connect to \(endpoint.description)", wasSent: false,
                    cause: error)
            }
        }

        private static func configure(
            _ channel: any Channel, _ endpoint: EtcdEndpoint, _ context: NIOSSLContext?,
            _ failure: FirstFailure
        ) throws -> NIOHTTP2Handler.StreamMultiplexer {
            let pipeline = channel.pipeline.syncOperations
            if endpoint.isEncrypted, let context {
                // A certificate for an address is checked against the address.
                let isAddress =
                    (try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port)) != nil
                try pipeline.addHandler(
                    try NIOSSLClientHandler(
                        context: context, serverHostname: isAddress ? nil : endpoint.host))
            }
            var connection = NIOHTTP2Handler.ConnectionConfiguration()
            // etcd asks with a PING at nearly each answer; the default allows 200 in 30 seconds.
            connection.controlFrameRateLimit.maximumCount = 1_000_000
            connection.initialSettings = [
                HTTP2Setting(parameter: .enablePush, value: 0),
                HTTP2Setting(parameter: .maxConcurrentStreams, value: 0),
                HTTP2Setting(parameter: .initialWindowSize, value: 4 << 20),
                HTTP2Setting(parameter: .maxHeaderListSize, value: 64 << 10),
            ]
            connection.targetWindowSize = 16 << 20
            var stream = NIOHTTP2Handler.StreamConfiguration()
            stream.targetWindowSize = 4 << 20
            stream.streamResetFrameRateLimit.maximumCount = 1_000_000
            let multiplexer = try pipeline.configureHTTP2Pipeline(
                mode: .client, connectionConfiguration: connection, streamConfiguration: stream
            ) { $0.close() }
            try pipeline.addHandler(FailureHandler(failure))
            return multiplexer
        }

        // MARK: Calls

        /// Sends one message and waits for the one that answers it.
        ///
        /// All of it is done in one turn of the connection's thread, as to wake a thread takes longer than most else of
        /// a call: it is woken once, and wakes the caller once.
        ///
        /// - Throws: `RemoteFailure`.
        func call(
            _ path: String, _ request: [UInt8], before deadline: ContinuousClock.Instant
        ) async throws -> [UInt8] {
            let loop = channel.eventLoop
            let answer = loop.makePromise(of: [UInt8].self)
            let headers = headers(path)
            loop.execute { [self] in
                let timeout = loop.scheduleTask(in: TimeAmount(deadline - .now)) {
                    answer.fail(
                        RemoteFailure(.deadlineExceeded, "no answer in time", wasSent: true))
                }
                answer.futureResult.whenComplete { _ in timeout.cancel() }
                open { message, event in
                    Self.take(event, &message, answer)
                }.whenComplete { opened in
                    switch opened {
                    case .failure(let error): answer.fail(error)
                    case .success(let stream):
                        // Whether it is the deadline, or the task's cancellation, also if that was before.
                        answer.futureResult.whenFailure { _ in stream.close(promise: nil) }
                        stream.write(
                            HTTP2Frame.FramePayload.headers(.init(headers: headers)), promise: nil)
                        stream.writeAndFlush(
                            HTTP2Frame.FramePayload.data(
                                .init(data: .byteBuffer(request.framed), endStream: true)),
                            promise: nil)
                    }
                }
            }
            do {
                let bytes = try await withTaskCancellationHandler {
                    try await answer.futureResult.get()
                } onCancel: {
                    answer.fail(
                        RemoteFailure(.cancelled, "the task was cancelled", wasSent: true))
                }
                hasAnswered.store(true, ordering: .relaxed)
                return bytes
            } catch var remote as RemoteFailure {
                if remote.isAnswer { hasAnswered.store(true, ordering: .relaxed) }
                if remote.cause == nil, !remote.isAnswer { remote.cause = failure.error }
                remote.isBeforeAnswers = !hasAnswered.load(ordering: .relaxed)
                throw remote
            }
        }

        /// Of a call that one message answers.
        private static func take(
            _ event: CallHandler.Event, _ message: inout [UInt8]?,
            _ answer: EventLoopPromise<[UInt8]>
        ) {
            switch event {
            case .message(let bytes): message = bytes
            case .ended(let failure?): answer.fail(failure)
            case .ended(nil):
                guard let message else {
                    return answer.fail(
                        RemoteFailure(.internal, "an answer without a message", wasSent: true))
                }
                answer.succeed(message)
            }
        }

        /// Opens a stream on which both sides send messages.
        ///
        /// - Parameter metadata: what gRPC sends before the messages.
        /// - Throws: `RemoteFailure`.
        func stream(
            _ path: String, metadata: [(String, String)],
            _ received: @escaping @Sendable (CallHandler.Event) -> Void
        ) async throws -> EtcdStream {
            let channel = try await open { _, event in received(event) }.get()
            var headers = headers(path)
            headers.add(contentsOf: metadata)
            channel.writeAndFlush(
                HTTP2Frame.FramePayload.headers(.init(headers: headers)), promise: nil)
            return EtcdStream(channel: channel)
        }

        /// - Parameter received: is told what comes, with the last message that it kept.
        /// - Returns: fails with a `RemoteFailure`.
        private func open(
            _ received: @escaping @Sendable (inout [UInt8]?, CallHandler.Event) -> Void
        ) -> EventLoopFuture<any Channel> {
            openedCount.wrappingAdd(1, ordering: .relaxed)
            return multiplexer.createStreamChannel { stream in
                stream.eventLoop.makeCompletedFuture {
                    var last: [UInt8]?
                    try stream.pipeline.syncOperations.addHandler(
                        CallHandler { received(&last, $0) })
                }
            }.flatMapErrorThrowing { [self] error in
                throw RemoteFailure(
                    .unavailable, "the connection to \(endpoint.description) broke",
                    wasSent: false, cause: failure.error ?? error)
            }
        }

        private func headers(_ path: String) -> HPACKHeaders {
            var headers: HPACKHeaders = [
                ":method": "POST", ":scheme": endpoint.isEncrypted ? "https" : "http",
                ":path": path, ":authority": endpoint.authority,
                "te": "trailers", "content-type": "application/grpc",
            ]
            if let token { headers.add(name: "token", value: token) }
            return headers
        }
    }

    /// A stream on which both sides send messages.
    struct EtcdStream: Sendable {
        fileprivate let channel: any Channel

        func send(_ message: [UInt8]) {
            channel.writeAndFlush(
                HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(message.framed))),
                promise: nil)
        }

        func close() { channel.close(promise: nil) }
    }

    /// What a connection broke with first, for the message: what follows only says that it is broken.
    private final class FirstFailure: Sendable {
        private let first = Mutex<(any Error)?>(nil)

        var error: (any Error)? { first.withLock { $0 } }

        func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }
    }

    private final class FailureHandler: ChannelInboundHandler {
        typealias InboundIn = Any

        private let failure: FirstFailure

        init(_ failure: FirstFailure) { self.failure = failure }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            failure.note(error)
            context.close(promise: nil)
        }
    }

    extension TimeAmount {
        /// At least a millisecond, so that a deadline that has passed ends a call rather than stops it.
        fileprivate init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let bounded = min(max(seconds, 0), 1 << 30)
            let nanoseconds = bounded * 1_000_000_000 + max(attoseconds, 0) / 1_000_000_000
            self = .nanoseconds(max(nanoseconds, 1_000_000))
        }
    }
#endif
