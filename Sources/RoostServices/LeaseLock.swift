#if Services
    import Foundation
    public import Logging
    public import Roost

    /// A lock that the processes of a shared workspace have in common: at most one of them holds it at a time.
    ///
    /// ```swift
    /// let lock = LeaseLock(workspace, "monthly invoices", as: hostName)
    /// try await lock.withLock(waitingAtMost: .seconds(30)) { term in
    ///     try await sendInvoices()
    /// }
    /// ```
    ///
    /// - Who holds it has a lease that is renewed for as long as the body runs. Where the holder dies, another gets the lock
    ///   once the lease has expired: ten seconds, where nothing else is said. Of a workspace in files it is free as soon as
    ///   that is opened again: close it once what holds the lock has ended.
    /// - As with each lock that outlives its holder's machine, a process that was paused may believe for a moment that it
    ///   holds what another has by now. What the body changes in the workspace it changes in a transaction that
    ///   ``Leadership/Term/confirm(in:)`` is part of, and what it tells others it tells with the term's number, for them to
    ///   refuse a lower one than they have seen.
    /// - Those who wait come in no order. A lock is for what takes longer than a transaction, or happens outside of the
    ///   workspace: values of a workspace are changed together by a transaction alone.
    /// - Its name is one of its own, beside those of ``Leadership`` in the same dictionary.
    public struct LeaseLock: Sendable {
        private let lease: TermLease
        private let logger: Logger

        /// - Parameters:
        ///   - workspace: One that those who lock share.
        ///   - name: What is locked.
        ///   - holder: Whom the others see holding it.
        ///   - leaseDuration: After this time at the latest another gets the lock where its holder has died. It is renewed
        ///     each third of it.
        /// - Precondition: `leaseDuration` is at least 100 milliseconds.
        public init(
            _ workspace: some KeyValueWorkspace, _ name: String,
            as holder: String =
                "\(ProcessInfo.processInfo.hostName), process \(ProcessInfo.processInfo.processIdentifier)",
            dictionary: String = "locks", leaseDuration: Duration = .seconds(10),
            logger: Logger = Logger(label: "roost")
        ) {
            precondition(leaseDuration >= .milliseconds(100), "nobody could renew it in time")
            lease = TermLease(
                workspace: workspace, dictionary: dictionary, name: name, holder: holder,
                duration: leaseDuration)
            self.logger = logger
        }

        /// What is locked.
        public var name: String { lease.name }

        /// Who holds the lock, and in which term; `nil` where nobody does now.
        ///
        /// - Throws: as `load(_:as:)` of the workspace's dictionaries.
        public func holder() async throws -> Leadership.Leader? { try await lease.current() }

        /// Runs `body` while this one holds the lock, and gives it back. It waits until nobody else holds it, and asks for that
        /// at least each half second.
        ///
        /// The lease is renewed until `body` has returned, also where the task is cancelled or a shutdown has begun meanwhile:
        /// a body that goes on then has the lock until it ends.
        ///
        /// Where the lock is lost on the way, as the workspace could not be reached for as long as the lease lasts, `body` is
        /// cancelled, and its result, if it gives one all the same, does not count. One that does not heed that goes on
        /// beside whoever has the lock next.
        ///
        /// - Parameters:
        ///   - limit: How long to wait for others; for as long as it takes where it is `nil`. With `.zero` it asks once.
        ///   - body: What one alone is to do, in which term.
        /// - Throws: `.locked` where another held it for as long as `limit`; ``LeadershipLost`` where it was lost on the way;
        ///   `.cancelled` where the task was cancelled while it waited; `.closed` where the workspace was closed, also while
        ///   `body` ran, which is cancelled then; what a transaction throws; what `body` throws.
        public func withLock<Result: Sendable>(
            waitingAtMost limit: Duration? = nil,
            _ body: @escaping @Sendable (_ term: Leadership.Term) async throws -> Result
        ) async throws -> Result {
            let end = limit.map { ContinuousClock.now + $0 }
            let longest = min(lease.duration / 4, .milliseconds(500))
            while true {
                if let taken = try await lease.take() {
                    return try await hold(LeaseKeeper(lease, taken, logger), body)
                }
                let rest = end.map { $0 - ContinuousClock.now } ?? longest
                guard rest > .zero else {
                    let holder = try await holder().map { " by \($0.candidate)" } ?? ""
                    throw RoostError(.locked, "\"\(name)\" is locked\(holder)")
                }
                // Those who wait for one lock are not to ask all at once.
                let pause = longest * Double.random(in: 0.5...1)
                do { try await Task.sleep(for: min(rest, pause)) } catch {
                    throw RoostError(
                        .cancelled, "the task that waits for the lock \"\(name)\" was cancelled")
                }
            }
        }

        private func hold<Result: Sendable>(
            _ keeper: LeaseKeeper,
            _ body: @escaping @Sendable (_ term: Leadership.Term) async throws -> Result
        ) async throws -> Result {
            let outcome: Swift.Result<Result, any Error>
            do { outcome = .success(try await keeper.hold { try await body(keeper.term) }) } catch {
                outcome = .failure(error)
            }
            let isHeld = keeper.isHeld
            await keeper.giveBack()
            if case .success = outcome, !isHeld { throw LeadershipLost() }
            return try outcome.get()
        }
    }
#endif
