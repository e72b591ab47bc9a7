#if Inspector
    import Foundation
    import Hummingbird
    import Logging
    import NIOCore
    public import Roost
    public import ServiceLifecycle
    import Synchronization

    /// A workspace in a browser, on a loopback port of this machine: dictionaries, values as trees,
    /// objects, changes as they come, storage and health.
    ///
    /// ```swift
    /// #if DEBUG
    ///     let inspector = Inspector(workspace) { link in print("inspector: \(link)") }
    ///     try await ServiceGroup(services: [app, inspector], logger: logger).run()
    /// #endif
    /// ```
    ///
    /// - Nobody comes in without a link, and each link lets one browser in, once; after that a cookie and
    ///   a key do, which end with the process.
    /// - It answers to the names `127.0.0.1` and `localhost` with its own port alone, and to no page of
    ///   another origin.
    /// - It changes nothing unless `allowsWriting`, and then each change is on disk when it is told.
    public final class Inspector: Service {
        private let workspace: Workspace
        private let configuration: Configuration
        private let onRunning: @Sendable (_ link: String) -> Void
        private let onLinkUsed: @Sendable () -> Void
        private let access: AccessGuard
        private let history: StorageHistory

        /// How an inspector is reached, and what it may do.
        public struct Configuration: Sendable, Hashable {
            /// The port on 127.0.0.1; any that is free where it is zero.
            public var port: Int
            /// Whether values may be changed and removed. The workspace has to be open for writing too.
            public var allowsWriting: Bool

            /// Each argument is the property of its name.
            public init(port: Int = 0, allowsWriting: Bool = false) {
                self.port = port
                self.allowsWriting = allowsWriting
            }
        }

        /// An inspector of `workspace`, which does nothing before ``run()``.
        ///
        /// - Parameters:
        ///   - workspace: What to look into. It is not closed by the inspector.
        ///   - configuration: The port, and whether to write.
        ///   - onRunning: Called once browsers can come, with the first link.
        public convenience init(
            _ workspace: Workspace, configuration: Configuration = .init(),
            onRunning: @escaping @Sendable (_ link: String) -> Void
        ) {
            self.init(
                workspace, configuration: configuration, onRunning: onRunning, onLinkUsed: {})
        }

        /// - Parameter onLinkUsed: Called each time that a link has let a browser in.
        package init(
            _ workspace: Workspace, configuration: Configuration,
            onRunning: @escaping @Sendable (_ link: String) -> Void,
            onLinkUsed: @escaping @Sendable () -> Void
        ) {
            self.workspace = workspace
            self.configuration = configuration
            self.onRunning = onRunning
            self.onLinkUsed = onLinkUsed
            access = AccessGuard()
            history = StorageHistory(workspace)
        }

        /// A further link, for another browser; `nil` before the inspector runs. The newest sixteen that
        /// nobody used are good.
        public func makeLink() -> String? { access.makeLink() }

        /// Serves until the process is interrupted (SIGINT, SIGTERM), for a program that does nothing else.
        ///
        /// - Throws: as ``run()``.
        public func runUntilInterrupted() async throws {
            try await ServiceGroup(
                services: [self], gracefulShutdownSignals: [.sigint, .sigterm],
                logger: Self.logger
            ).run()
        }

        /// Only what ends it: a browser that goes while it is answered is no error, and this stands beside an
        /// app's own log, or a command's output.
        private static var logger: Logger {
            var logger = Logger(label: "roost.inspector")
            logger.logLevel = .critical
            return logger
        }

        /// Serves until the task is cancelled, or its service group shuts down.
        ///
        /// - Throws: `RoostError` `.io` where the port cannot be had.
        public func run() async throws {
            do { try await serve() } catch let error as IOError
                where [EADDRINUSE, EADDRNOTAVAIL, EACCES].contains(error.errnoCode)
            {
                let reason = String(cString: strerror(error.errnoCode))
                throw RoostError(
                    .io, "port \(configuration.port) of 127.0.0.1: \(reason). Choose another port")
            }
        }

        private func serve() async throws {
            let responder = InspectorResponder(
                workspace: workspace, access: access, history: history,
                health: HealthCheck(workspace), allowsWriting: configuration.allowsWriting,
                onLinkUsed: onLinkUsed)
            let application = Application(
                responder: responder,
                configuration: ApplicationConfiguration(
                    address: .hostname("127.0.0.1", port: configuration.port)),
                onServerRunning: { [access, onRunning] channel in
                    guard let port = channel.localAddress?.port else { return }
                    access.begin(port: port)
                    if let link = access.makeLink() { onRunning(link) }
                }, logger: Self.logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await application.run() }
                group.addTask { [history] in
                    await cancelWhenGracefulShutdown { await history.run() }
                }
                // Whichever ends first ends both.
                try await group.next()
                group.cancelAll()
            }
        }
    }
#endif
