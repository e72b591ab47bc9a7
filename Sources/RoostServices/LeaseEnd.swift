#if Services
    import Synchronization

    /// Until when a lease is no other's: nine tenths of it have passed by this process's clock since before it was taken or
    /// renewed.
    ///
    /// - Once `end` was found passed there is none any more: what is renewed later keeps others away until the holder's
    ///   work has ended, and does not count as held.
    final class LeaseEnd: Sendable {
        private let duration: Duration
        private let end: Mutex<ContinuousClock.Instant?>

        /// - Parameter begin: a moment before the lease was taken.
        init(of duration: Duration, since begin: ContinuousClock.Instant) {
            self.duration = duration
            end = Mutex(begin + duration / 10 * 9)
        }

        /// The lease was renewed, which began at `begin`.
        func renew(since begin: ContinuousClock.Instant) {
            end.withLock { if $0 != nil { $0 = begin + duration / 10 * 9 } }
        }

        /// The lease is another's, or will be.
        func pass() { end.withLock { $0 = nil } }

        /// Whether another may have the lease.
        var isPassed: Bool { end.withLock { end in end.map { $0 <= ContinuousClock.now } ?? true } }

        /// Returns once the end has passed, whatever a renewal is waiting for.
        ///
        /// - Throws: `CancellationError` where the task is cancelled before.
        func wait() async throws {
            while let end = endToWaitFor() {
                // The clock cannot tell every later time.
                try await Task.sleep(until: min(end, .now + .seconds(86_400)), clock: .continuous)
            }
        }

        /// `nil` once that has passed, for good.
        private func endToWaitFor() -> ContinuousClock.Instant? {
            end.withLock { end in
                if let instant = end, instant <= ContinuousClock.now { end = nil }
                return end
            }
        }
    }
#endif
