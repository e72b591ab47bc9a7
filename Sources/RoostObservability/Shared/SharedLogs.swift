#if Observability
    import Logging
    import Roost
    import Synchronization

    /// The log lines of a shared workspace. Messages are constant; what varies is metadata.
    ///
    /// - `isUnreachable` from a request that nobody answered until one is answered: of that state only begin and end are
    ///   logged, as every request fails in it.
    final class SharedLogs: Sendable {
        private let logger: Logger
        private let isUnreachable = Mutex(false)
        private let slowLines = LogLimit()
        private let failureLines = LogLimit()

        init(_ logger: Logger, name: String) {
            var logger = logger
            logger[metadataKey: "roost.workspace"] = "\(name)"
            self.logger = logger
        }

        func ended(_ request: SharedRequest, _ error: (any Error)?) {
            guard let error else { return answered() }
            let code = (error as? RoostError)?.code
            switch code {
            case .cancelled, .closed: return
            case .unavailable: return unanswered(request, error)
            // What the engine has answered with, in its way.
            case .compacted, .tooLarge, .keyTooLarge, .unsupportedVersion: answered()
            default: break
            }
            let level: Logger.Level =
                switch code {
                case .compacted, .tooLarge, .keyTooLarge: .info
                default: .error
                }
            guard let metadata = failureLines.admit(describe(request, error)) else { return }
            logger.log(level: level, "a request to the engine failed", metadata: metadata)
        }

        func slow(_ request: SharedRequest, _ duration: Duration) {
            let metadata = slowLines.admit([
                "roost.request": "\(request.rawValue)", "roost.duration_ms": duration.logValue,
            ])
            if let metadata {
                logger.warning("a request to the engine was slow", metadata: metadata)
            }
        }

        func watchBroke(_ error: any Error) {
            if let code = (error as? RoostError)?.code, code == .closed || code == .cancelled {
                return
            }
            guard let metadata = failureLines.admit(["roost.error": "\(error)"]) else { return }
            logger.info("a watch broke and is begun again", metadata: metadata)
        }

        private func answered() {
            let wasUnreachable = isUnreachable.withLock { isUnreachable in
                defer { isUnreachable = false }
                return isUnreachable
            }
            if wasUnreachable { logger.notice("the engine answers again") }
        }

        private func unanswered(_ request: SharedRequest, _ error: any Error) {
            let wasUnreachable = isUnreachable.withLock { isUnreachable in
                defer { isUnreachable = true }
                return isUnreachable
            }
            guard !wasUnreachable else { return }
            logger.error("the engine does not answer", metadata: describe(request, error))
        }

        private func describe(
            _ request: SharedRequest, _ error: any Error
        ) -> Logger.Metadata {
            var metadata: Logger.Metadata = [
                "roost.request": "\(request.rawValue)", "roost.error": "\(error)",
            ]
            if let error = error as? RoostError { metadata["roost.error_code"] = "\(error.code)" }
            return metadata
        }
    }
#endif
