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
    ///   the lease has expired; of a workspace in files as soon as that is opened again.
    /// - Each leadership has a *term*, a number that is one more than that of the one before. A process that was paused may
    ///   believe that it leads when another does already: what it changes in the workspace it changes in a transaction
    ///   that ``Term/confirm(in:)`` is part of, and what it tells others it tells with the term's number, for them to refuse a
    ///   lower one than they have seen.
    /// - `leading` is set while this one leads, and keeps the lease.
    public final class Leadership: Service {
        /// What the leader does. It is cancelled where the leadership ends, by the shutdown, the task's cancellation, the
        /// loss of the lease or a workspace that was closed. The lease is renewed until it has returned, but where that is
        /// lost: work that does not heed its cancellation goes on then beside the next leader.
        public typealias Work = @Sendable (_ term: Term) async throws -> Void

        /// One leadership: its number is one more than that of the one before.
        public struct Term: Sendable {
            public let number: UInt64
            let key: String
            let leases: any KeyValueDictionary

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

            nonisolated(nonsending) static func newest<Attempt: KeyValueTransaction>(
                _ key: String, _ leases: any KeyValueDictionary, in attempt: Attempt
            ) async throws -> UInt64 {
                guard let leases = leases as? Attempt.NamedDictionary else {
                    preconditionFailure(
                        "the transaction is of another workspace than the election")
                }
                return try await attempt.load(key, as: UInt64.self, in: leases) ?? 0
            }
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
        private let lease: TermLease
        private let logger: Logger
        private let work: Work
        private let leading = Mutex<LeaseKeeper?>(nil)

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
            self.name = name
            self.candidate = candidate
            lease = TermLease(
                workspace: workspace, dictionary: dictionary, name: name, holder: candidate,
                duration: leaseDuration)
            self.logger = logger
            self.work = work
        }

        // MARK: Asking

        /// The term that this one leads in; `nil` where it does not, or may not any more. Asks nobody.
        public var term: Term? {
            leading.withLock { leading in
                guard let leading, leading.isHeld else { return nil }
                return leading.term
            }
        }

        /// Who leads; `nil` where nobody does now.
        ///
        /// - Throws: as `load(_:as:)` of the workspace's dictionaries.
        public func leader() async throws -> Leader? { try await lease.current() }

        // MARK: Leading

        /// Stands for election, and leads, until the shutdown or the task's cancellation; then gives the leadership back,
        /// so that another leads at once. Where the workspace cannot be reached it tries again.
        ///
        /// - Throws: `.closed`, where the workspace is: within a third of the lease, once the work that is cancelled then has
        ///   returned.
        public func run() async throws {
            try await WorkspaceUses.during(lease.workspace) {
                while !Task.isShuttingDownGracefully, !Task.isCancelled {
                    var delay = lease.duration / 3
                    do {
                        if let taken = try await lease.take() {
                            let keeper = LeaseKeeper(lease, taken, logger)
                            if try await !lead(keeper) { delay = lease.duration }
                        }
                    } catch let error as RoostError where error.code == .closed {
                        throw error
                    } catch {
                        if Task.isCancelled { return }
                        logger.warning(
                            "nobody can be asked who leads",
                            metadata: ["election": "\(name)", "reason": "\(error)"])
                    }
                    await LeaseKeeper.wait(delay)
                }
            }
        }

        /// Leads until that ends, and gives the leadership back where it still has it; whether it did not end because the
        /// work threw.
        ///
        /// - Throws: `.closed`, where it did not end by a shutdown or the task's cancellation.
        private func lead(_ keeper: LeaseKeeper) async throws -> Bool {
            let term = keeper.term
            leading.withLock { $0 = keeper }
            logger.info("leads", metadata: ["election": "\(name)", "term": "\(term.number)"])
            var didFail = false
            do {
                try await keeper.hold { [work] in
                    try await cancelWhenGracefulShutdown {
                        try await work(term)
                        // Who has no more to do leads on.
                        try await Task.sleep(for: .seconds(1 << 32))
                    }
                }
            } catch is LeadershipLost {
                logger.warning("leads no more", metadata: ["election": "\(name)"])
            } catch {
                didFail =
                    !Task.isCancelled && !Task.isShuttingDownGracefully && keeper.closed == nil
                if didFail {
                    logger.error(
                        "the leader's work failed",
                        metadata: ["election": "\(name)", "reason": "\(error)"])
                }
            }
            // Given back only now that the work has ended.
            leading.withLock { $0 = nil }
            await keeper.giveBack()
            if let closed = keeper.closed, !Task.isCancelled, !Task.isShuttingDownGracefully {
                throw closed
            }
            return !didFail
        }
    }

    /// Another leads by now, in a later term, or holds the lock; or may do so, as the lease could not be renewed in time.
    public struct LeadershipLost: Error, Sendable {}
#endif
