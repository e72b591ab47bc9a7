#if Services
    import Logging
    import Roost
    import ServiceLifecycle

    /// What goes on until its service is shut down, also where the workspace cannot be written to for a while.
    enum ServiceLoop {
        private static let firstDelay = Duration.seconds(1)
        private static let longestDelay = Duration.seconds(30)

        /// Calls `turn` again and again, until the shutdown or the task's cancellation. A turn that throws is tried again after a
        /// second, then after twice as long each time, up to half a minute; `message` is logged then.
        ///
        /// - Parameter turn: returns how long nothing is to be done.
        /// - Throws: what `turn` throws where the workspace takes no more writes, or the task is cancelled.
        static func untilShutdown(
            _ logger: Logger, onFailure message: Logger.Message,
            _ turn: () async throws -> Duration
        ) async throws {
            var delay = firstDelay
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                do {
                    let pause = try await turn()
                    if pause > .zero { await wait(pause) }
                    delay = firstDelay
                } catch {
                    if Task.isCancelled || isFinal(error) { throw error }
                    logger.error(
                        message, metadata: ["reason": "\(error)", "delay": "\(delay)"])
                    await wait(delay)
                    delay = min(delay * 2, longestDelay)
                }
            }
        }

        /// Whether the workspace takes no more writes, however long one waits.
        static func isFinal(_ error: any Error) -> Bool {
            guard let error = error as? RoostError else { return false }
            return [.closed, .poisoned, .readOnly].contains(error.code)
        }

        /// Waits for `duration`, or a day where that is longer: the clock cannot tell every later time.
        private static func wait(_ duration: Duration) async {
            // Where the wait is cut short, the loop sees why.
            do {
                try await cancelWhenGracefulShutdown {
                    try await Task.sleep(for: min(duration, .seconds(86_400)))
                }
            } catch {}
        }
    }
#endif
