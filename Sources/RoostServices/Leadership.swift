#if Services
    public import Logging
    public import Roost
    public import ServiceLifecycle
    import Synchronization

    /// At most one of those who stand for election leads at a time, and does what only one is to do.
    ///
    /// ```swift
    /// let cleaner = Leadership(workspace, of: "cleaner", as: hostName, logger: logger) { term in
    ///     while true {
    ///         try await removeWhatIsOld()
    ///         try await Task.sleep(for: .seconds(60))
    ///     }
    /// }
    /// ```
    ///
    /// - Who leads has a *lease*: a value that expires unless its holder renews it. Where the holder dies, another leads once
    ///   the lease has expired.
    /// - Each leadership has a *term*, a number that is one more than that of the one before. A process that was paused may
    ///   believe that it leads when another does already: what it changes in the workspace it changes in a transaction
    ///   that ``Term/confirm(in:)`` is part of, and what it tells others it tells with the term's number, for them to refuse a
    ///   lower one than they have seen.
    /// - `leading` is set while this one may believe that it leads: until nine tenths of the lease have passed by its own clock
    ///   since before it asked for it.
    public final class Leadership: Service {
        /// What the leader does. It is cancelled when the leadership ends.
        public typealias Work = @Sendable (_ term: Term) async throws -> Void

        /// One leadership: its number is one more than that of the one before.
        public struct Term: Sendable {
            public let number: UInt64
            fileprivate let key: String
            fileprivate let leases: any KeyValueDictionary

            /// Makes a transaction count only while nobody leads in a later term.
            ///
            /// - Throws: ``LeadershipLost``, where somebody does; what reading in a transaction throws.
            /// - Precondition: The attempt is one of the election's workspace.
            public nonisolated(nonsending) func confirm(
                in attempt: some KeyValueTransaction
            ) async throws {
                guard try await Self.newest(key, leases, in: attempt) == number else {
                    throw LeadershipLost()
                }
            }

            fileprivate nonisolated(nonsending) static func newest<Attempt: KeyValueTransaction>(
                _ key: String, _ leases: any KeyValueDictionary, in attempt: Attempt
            ) async throws -> UInt64 {
                guard let leases = leases as? Attempt.NamedDictionary else {
                    preconditionFailure(
                        "the transaction is of another workspace than the election")
                }
                return try await attempt.load(key, as: UInt64.self, in: leases) ?? 0
            }
        }

        private struct Leading {
            let term: Term
            var end: ContinuousClock.Instant
        }

        /// What stands in the workspace.
        private struct Lease: Codable, Sendable {
            var candidate: String
            /// Of one leadership: those of one name are told apart by it.
            var term: UInt64
        }

        /// Who leads, as far as the workspace knows.
        public struct Leader: Sendable, Hashable {
            /// The name that it stands for election with.
            public let candidate: String
            public let term: UInt64
        }

        /// What is led.
        public let name: String
        /// Whom the others see leading.
        public let candidate: String
        private let workspace: any KeyValueWorkspace
        private let dictionary: String
        private let leaseDuration: Duration
        private let logger: Logger
        private let work: Work
        private let leading = Mutex<Leading?>(nil)

        private var leaseKey: String { "\(name).lease" }
        private var termKey: String { "\(name).term" }

        /// - Parameters:
        ///   - workspace: One that the candidates share.
        ///   - name: What is led: those who stand for the same name are one election.
        ///   - candidate: Whom the others see leading.
        ///   - leaseDuration: After this time at the latest another leads where the leader has died. It is
        ///     renewed each third of it.
        ///   - work: What the leader does. Where it returns, this one goes on leading; where it throws, it gives the
        ///     leadership back and stands for election again after a lease's time.
        /// - Precondition: `leaseDuration` is at least 100 milliseconds.
        public init(
            _ workspace: some KeyValueWorkspace, of name: String, as candidate: String,
            dictionary: String = "leaderships", leaseDuration: Duration = .seconds(10),
            logger: Logger = Logger(label: "roost"), _ work: @escaping Work = { _ in }
        ) {
            precondition(leaseDuration >= .milliseconds(100), "nobody could renew it in time")
            self.workspace = workspace
            self.name = name
            self.candidate = candidate
            self.dictionary = dictionary
            self.leaseDuration = leaseDuration
            self.logger = logger
            self.work = work
        }

        // MARK: Asking

        /// The term that this one leads in; `nil` where it does not, or may not any more. Asks nobody.
        public var term: Term? {
            leading.withLock { leading in
                guard let leading, ContinuousClock.now < leading.end else { return nil }
                return leading.term
            }
        }

        /// Who leads; `nil` where nobody does now.
        ///
        /// - Throws: as `load(_:as:)` of the workspace's dictionaries.
        public func leader() async throws -> Leader? {
            try await workspace.dictionary(dictionary).load(leaseKey, as: Lease.self)
                .map { Leader(candidate: $0.candidate, term: $0.term) }
        }

        // MARK: Leading

        /// Stands for election, and leads, until the shutdown or the task's cancellation; then gives the leadership back,
        /// so that another leads at once. Where the workspace cannot be reached it tries again.
        ///
        /// - Throws: `.closed`, where the workspace is.
        public func run() async throws {
            try await WorkspaceUses.during(workspace) {
                while !Task.isShuttingDownGracefully, !Task.isCancelled {
                    var delay = leaseDuration / 3
                    do {
                        let begin = ContinuousClock.now
                        if let term = try await take() {
                            if try await !lead(in: term, since: begin) { delay = leaseDuration }
                        }
                    } catch let error as RoostError where error.code == .closed {
                        throw error
                    } catch {
                        if Task.isCancelled { return }
                        logger.warning(
                            "nobody can be asked who leads",
                            metadata: ["election": "\(name)", "reason": "\(error)"])
                    }
                    await wait(delay)
                }
            }
        }

        /// Leads until that ends, and gives the leadership back where it still has it; whether it did not end because the
        /// work threw.
        private func lead(in term: Term, since begin: ContinuousClock.Instant) async throws
            -> Bool
        {
            note(term, since: begin)
            logger.info("leads", metadata: ["election": "\(name)", "term": "\(term.number)"])
            var didFail = false
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { [work] in
                        try await work(term)
                        // Who has no more to do leads on.
                        try await Task.sleep(for: .seconds(1 << 32))
                    }
                    group.addTask { try await self.keepRenewing(term) }
                    group.addTask { try await self.waitForEnd() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } catch is LeadershipLost {
                logger.warning("leads no more", metadata: ["election": "\(name)"])
            } catch {
                didFail = !Task.isCancelled
                if didFail {
                    logger.error(
                        "the leader's work failed",
                        metadata: ["election": "\(name)", "reason": "\(error)"])
                }
            }
            // Given back only now that the work has ended.
            leading.withLock { $0 = nil }
            // A cancelled task's calls are refused, and the leadership is to be given back all the same.
            await Task { await self.giveBack(term) }.value
            return !didFail
        }

        /// Renews the lease until the shutdown; throws ``LeadershipLost`` once it may be another's.
        private func keepRenewing(_ term: Term) async throws {
            while !Task.isShuttingDownGracefully {
                await wait(leaseDuration / 3)
                if Task.isCancelled { return }
                let begin = ContinuousClock.now
                do {
                    try await renew(term)
                    note(term, since: begin)
                } catch let error as LeadershipLost {
                    throw error
                } catch {
                    // It counts until its end; another try may come in time.
                    logger.warning(
                        "the leadership could not be renewed",
                        metadata: ["election": "\(name)", "reason": "\(error)"])
                }
            }
        }

        /// Throws ``LeadershipLost`` once the lease may be another's, whatever a renewal is waiting for.
        private func waitForEnd() async throws {
            while let end = leading.withLock({ $0?.end }), ContinuousClock.now < end {
                try await Task.sleep(until: end, clock: .continuous)
            }
            throw LeadershipLost()
        }

        private func note(_ term: Term, since begin: ContinuousClock.Instant) {
            leading.withLock { $0 = Leading(term: term, end: begin + leaseDuration * 9 / 10) }
        }

        /// Waits, and no longer than until the shutdown.
        private func wait(_ duration: Duration) async {
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
            } catch {}
        }

        // MARK: The lease

        /// The new term; `nil` where another leads.
        private func take() async throws -> Term? { try await take(in: workspace) }

        private func take(in workspace: some KeyValueWorkspace) async throws -> Term? {
            let leases = workspace.dictionary(dictionary)
            return try await workspace.transaction { attempt in
                if try await attempt.contains(leaseKey, in: leases) { return nil }
                let number = try await Term.newest(termKey, leases, in: attempt) + 1
                try attempt.set(number, forKey: termKey, in: leases)
                try attempt.set(
                    Lease(candidate: candidate, term: number), forKey: leaseKey, in: leases,
                    expiresIn: leaseDuration)
                return Term(number: number, key: termKey, leases: leases)
            }
        }

        private func renew(_ term: Term) async throws { try await renew(term, in: workspace) }

        private func renew(_ term: Term, in workspace: some KeyValueWorkspace) async throws {
            let leases = workspace.dictionary(dictionary)
            try await workspace.transaction { attempt in
                // Where nobody has taken it since, one that has expired is this one's still.
                try await term.confirm(in: attempt)
                try attempt.set(
                    Lease(candidate: candidate, term: term.number), forKey: leaseKey, in: leases,
                    expiresIn: leaseDuration)
            }
        }

        private func giveBack(_ term: Term) async {
            do { try await giveBack(term, in: workspace) } catch is LeadershipLost {
                // Another has it.
            } catch {
                // The lease expires by itself.
                logger.info(
                    "the leadership could not be given back",
                    metadata: ["election": "\(name)", "reason": "\(error)"])
            }
        }

        private func giveBack(_ term: Term, in workspace: some KeyValueWorkspace) async throws {
            let leases = workspace.dictionary(dictionary)
            try await workspace.transaction { attempt in
                try await term.confirm(in: attempt)
                try attempt.removeValue(forKey: leaseKey, in: leases)
            }
        }
    }

    /// Another leads by now, in a later term.
    public struct LeadershipLost: Error, Sendable {}
#endif
