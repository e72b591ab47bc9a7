#if Services
    import Logging
    import Roost
    import ServiceLifecycle
    import Synchronization

    /// Renews a lease for as long as its holder is at work.
    ///
    /// - `end` is when the lease may be another's.
    /// - `closing` is the `.closed` that a call of the workspace met: there will be no renewal any more.
    final class LeaseKeeper: Sendable {
        let term: Leadership.Term
        private let lease: TermLease
        private let logger: Logger
        /// A moment before the lease was taken.
        private let begin: ContinuousClock.Instant
        private let end: LeaseEnd
        private let closing = Mutex<RoostError?>(nil)

        init(_ lease: TermLease, _ taken: TermLease.Taken, _ logger: Logger) {
            self.lease = lease
            term = taken.term
            self.logger = logger
            begin = taken.begin
            end = LeaseEnd(of: lease.duration, since: taken.begin)
        }

        /// Whether no other can have the lease yet.
        var isHeld: Bool { !end.isPassed }

        /// Why the lease can neither be renewed nor given back, where the workspace was found closed.
        var closed: RoostError? { closing.withLock { $0 } }

        /// Runs `body`, and renews the lease until that has returned; `body` is cancelled where the task is, and once the
        /// lease may be another's, or the workspace is found closed.
        ///
        /// - Throws: ``LeadershipLost`` where the lease may be another's, and `.closed`, once `body` has returned all the same;
        ///   what `body` throws.
        func hold<Result: Sendable>(
            _ body: @escaping @Sendable () async throws -> Result
        ) async throws -> Result {
            // Tasks of their own, which neither the caller's cancellation nor a shutdown reaches: work that is cancelled
            // may go on for longer than the lease, and nobody else is to begin meanwhile.
            let renewing = Task { try await keepRenewing() }
            let watching = Task { try await waitForEnd() }
            return try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    defer {
                        renewing.cancel()
                        watching.cancel()
                    }
                    return try await body()
                }
                // The group waits for all three.
                group.addTask {
                    try await renewing.value
                    return nil
                }
                group.addTask {
                    try await watching.value
                    return nil
                }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let result { return result }
                }
                preconditionFailure("the body has returned or thrown")
            }
        }

        /// Renews until the task is cancelled, a third of the lease after the begin of the try before, however long that took:
        /// the lease counts from there too.
        ///
        /// - Throws: ``LeadershipLost`` once another has the lease; `.closed`, after which no other try can come in time.
        private func keepRenewing() async throws {
            var begin = begin
            while true {
                do {
                    try await Task.sleep(until: begin + lease.duration / 3, clock: .continuous)
                } catch { return }
                begin = .now
                do {
                    begin = try await lease.renew(term)
                    end.renew(since: begin)
                } catch let error as LeadershipLost {
                    end.pass()
                    throw error
                } catch let error as RoostError where error.code == .closed {
                    if Task.isCancelled { return }
                    end.pass()
                    closing.withLock { $0 = error }
                    throw error
                } catch {
                    // The work has ended, and this error says no more than that.
                    if Task.isCancelled { return }
                    // It counts until its end; another try may come in time.
                    logger.warning(
                        "a lease could not be renewed",
                        metadata: ["lease": "\(lease.name)", "reason": "\(error)"])
                }
            }
        }

        /// Throws ``LeadershipLost`` once the lease may be another's, whatever a renewal is waiting for; returns where the
        /// task is cancelled before.
        private func waitForEnd() async throws {
            do { try await end.wait() } catch { return }
            throw LeadershipLost()
        }

        /// Gives the lease back where it is this one's still. Also where the task is cancelled, whose calls are refused.
        func giveBack() async {
            await Task {
                do { try await lease.giveBack(term) } catch is LeadershipLost {
                    // Another has it.
                } catch {
                    if let error = error as? RoostError, error.code == .closed {
                        closing.withLock { $0 = error }
                    }
                    // It expires by itself.
                    logger.info(
                        "a lease could not be given back",
                        metadata: ["lease": "\(lease.name)", "reason": "\(error)"])
                }
            }.value
        }

        /// Waits, and no longer than until the shutdown or the task's cancellation.
        static func wait(_ duration: Duration) async {
            // Who is cancelled finds that out by itself.
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
            } catch {}
        }
    }
#endif
