#if Etcd
    import RoostIO
    import RoostShared

    /// Leases, by which etcd removes what has expired. Values of about the same time share one.
    ///
    /// - A lease in `granted` lives longer than each value that is put under it may: it was granted for a
    ///   sixteenth more than the values' time, and is used for at most that sixteenth.
    actor EtcdLeases {
        private struct Lease {
            let task: Task<Int64, any Error>
            let lastUse: ContinuousClock.Instant
            /// Once etcd has answered: nobody has to wait for `task` any more.
            var id: Int64?
        }

        private let caller: EtcdCaller
        private var granted: [Int64: Lease] = [:]

        init(_ caller: EtcdCaller) { self.caller = caller }

        /// More than etcd's longest lease, of 9,000,000,000 seconds, is refused; with the slack this is less.
        private static let longestSeconds: Int64 = 8_000_000_000

        /// A lease that lives at least so long from now on; 250 years where it is more.
        func lease(
            for duration: Duration, before deadline: ContinuousClock.Instant
        ) async throws -> Int64 {
            let seconds = min(max(duration.components.seconds, 0), Self.longestSeconds) + 1
            let now = ContinuousClock.now
            if let lease = granted[seconds], now < lease.lastUse {
                if let id = lease.id { return id }
                do { return try await id(of: lease, before: deadline) } catch {
                    if Task.isCancelled || ContinuousClock.now >= deadline { throw error }
                    // Whoever began it may have had less time; it is begun again.
                    granted[seconds] = nil
                }
            }
            granted = granted.filter { now < $0.value.lastUse }
            let slack = max(2, seconds / 16)
            let task = Task { [caller] in
                let request = LeaseGrantRequest(seconds: seconds + slack)
                let answer: LeaseGrantResponse = try await caller.call(
                    .grantLease, request, before: deadline)
                guard answer.id != 0 else {
                    throw RoostError(.unavailable, "etcd granted no lease: \(answer.error)")
                }
                return answer.id
            }
            let lease = Lease(task: task, lastUse: now + .seconds(slack - 1))
            granted[seconds] = lease
            do {
                let id = try await id(of: lease, before: deadline)
                if granted[seconds]?.task == task { granted[seconds]?.id = id }
                return id
            } catch {
                // Others may wait for it, where only this caller gives it up.
                if !Task.isCancelled { granted[seconds] = nil }
                throw error
            }
        }

        private func id(
            of lease: Lease, before deadline: ContinuousClock.Instant
        ) async throws -> Int64 {
            guard let id = try await value(of: lease.task, before: deadline) else {
                throw RoostError(.unavailable, "etcd granted no lease in time")
            }
            return id
        }

        /// After one was lost: as after the server's data was restored from an older copy.
        func forgetAll() { granted = [:] }
    }
#endif
