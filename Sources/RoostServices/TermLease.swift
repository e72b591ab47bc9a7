#if Services
    import Logging
    import Roost
    import ServiceLifecycle
    import Synchronization

    /// A value that expires unless its holder renews it, and a number that is one more for each holder: what at most one has
    /// at a time.
    struct TermLease: Sendable {
        let workspace: any KeyValueWorkspace
        let dictionary: String
        let name: String
        let holder: String
        let duration: Duration

        /// What stands in the workspace.
        private struct Stored: Codable, Sendable {
            var candidate: String
            /// Of one holding: those of one name are told apart by it.
            var term: UInt64
        }

        private var leaseKey: String { "\(name).lease" }
        private var termKey: String { "\(name).term" }

        /// Who has it, as far as the workspace knows; `nil` where nobody does.
        func current() async throws -> Leadership.Leader? {
            try await workspace.dictionary(dictionary).load(leaseKey, as: Stored.self)
                .map { Leadership.Leader(candidate: $0.candidate, term: $0.term) }
        }

        /// The new term; `nil` where another has it.
        func take() async throws -> Leadership.Term? { try await take(in: workspace) }

        private func take(in workspace: some KeyValueWorkspace) async throws -> Leadership.Term? {
            let leases = workspace.dictionary(dictionary)
            return try await workspace.transaction { attempt in
                if try await attempt.contains(leaseKey, in: leases) { return nil }
                let number = try await Leadership.Term.newest(termKey, leases, in: attempt) + 1
                try attempt.set(number, forKey: termKey, in: leases)
                try attempt.set(
                    Stored(candidate: holder, term: number), forKey: leaseKey, in: leases,
                    expiresIn: duration)
                return Leadership.Term(number: number, key: termKey, leases: leases)
            }
        }

        /// - Throws: ``LeadershipLost`` where another has had it since; what a transaction throws.
        func renew(_ term: Leadership.Term) async throws {
            let lease = Stored(candidate: holder, term: term.number)
            try await replace(with: lease, term, in: workspace)
        }

        /// - Throws: as `renew`.
        func giveBack(_ term: Leadership.Term) async throws {
            try await replace(with: nil, term, in: workspace)
        }

        private func replace(
            with lease: Stored?, _ term: Leadership.Term, in workspace: some KeyValueWorkspace
        ) async throws {
            let leases = workspace.dictionary(dictionary)
            try await workspace.transaction { attempt in
                // Where nobody has taken it since, one that has expired is this one's still.
                try await term.confirm(in: attempt)
                if let lease {
                    try attempt.set(lease, forKey: leaseKey, in: leases, expiresIn: duration)
                } else {
                    try attempt.removeValue(forKey: leaseKey, in: leases)
                }
            }
        }
    }

    /// Renews a lease for as long as its holder is at work.
    ///
    /// - `end` is when the lease may be another's: nine tenths of it have passed by this one's clock since before it was asked
    ///   for or renewed.
    final class LeaseKeeper: Sendable {
        let term: Leadership.Term
        private let lease: TermLease
        private let logger: Logger
        private let end: Mutex<ContinuousClock.Instant>

        /// The lease was asked for at `begin`.
        init(
            _ lease: TermLease, _ term: Leadership.Term, since begin: ContinuousClock.Instant,
            _ logger: Logger
        ) {
            self.lease = lease
            self.term = term
            self.logger = logger
            end = Mutex(Self.end(lease, begin))
        }

        private static func end(
            _ lease: TermLease, _ begin: ContinuousClock.Instant
        ) -> ContinuousClock.Instant {
            begin + lease.duration * 9 / 10
        }

        /// Whether no other can have the lease yet.
        var isHeld: Bool { end.withLock { ContinuousClock.now < $0 } }

        /// Renews until the task is cancelled, or the shutdown where that is asked for.
        ///
        /// - Throws: ``LeadershipLost`` once another has the lease.
        func keepRenewing(untilShutdown: Bool) async throws {
            while !(untilShutdown && Task.isShuttingDownGracefully) {
                await Self.wait(lease.duration / 3, untilShutdown: untilShutdown)
                if Task.isCancelled { return }
                let begin = ContinuousClock.now
                do {
                    try await lease.renew(term)
                    end.withLock { $0 = Self.end(lease, begin) }
                } catch let error as LeadershipLost {
                    throw error
                } catch {
                    // It counts until its end; another try may come in time.
                    logger.warning(
                        "a lease could not be renewed",
                        metadata: ["lease": "\(lease.name)", "reason": "\(error)"])
                }
            }
        }

        /// Throws ``LeadershipLost`` once the lease may be another's, whatever a renewal is waiting for.
        func waitForEnd() async throws {
            while case let end = end.withLock({ $0 }), ContinuousClock.now < end {
                try await Task.sleep(until: end, clock: .continuous)
            }
            throw LeadershipLost()
        }

        /// Gives the lease back where it is this one's still. Also where the task is cancelled, whose calls are refused.
        func giveBack() async {
            await Task { [lease, term, logger] in
                do { try await lease.giveBack(term) } catch is LeadershipLost {
                    // Another has it.
                } catch {
                    // It expires by itself.
                    logger.info(
                        "a lease could not be given back",
                        metadata: ["lease": "\(lease.name)", "reason": "\(error)"])
                }
            }.value
        }

        /// Waits, and no longer than until the shutdown where that is asked for.
        static func wait(_ duration: Duration, untilShutdown: Bool) async {
            // Who is cancelled finds that out by itself.
            do {
                if untilShutdown {
                    try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
                } else {
                    try await Task.sleep(for: duration)
                }
            } catch {}
        }
    }
#endif
