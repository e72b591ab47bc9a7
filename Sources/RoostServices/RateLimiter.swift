#if Services
    import Foundation
    public import Roost

    /// Lets so many calls of each key pass in a time, by a token bucket: `burstCount` at once, and from then on as
    /// many as come back in `period`.
    ///
    /// The counts survive a restart, and calls of one key are counted one after the other. In files they are written
    /// with `.process`: a power cut may let some calls pass again.
    public struct RateLimiter: Sendable {
        public struct Decision: Sendable, Hashable {
            public let isAllowed: Bool
            /// How many more would pass now.
            public let remainingCount: Int
            /// When the next one will pass, where none would now, in whole milliseconds.
            public let retryAfter: Duration
        }

        private struct Bucket: Codable, Sendable {
            var tokens: Double
            /// Seconds since 1970.
            var filledAt: Double
        }

        private let workspace: any KeyValueWorkspace
        private let dictionary: String
        private let burstCount: Double
        private let period: Duration
        private let clock: (@Sendable () -> Date)?

        /// Of a call.
        private static let tolerance = 0.001

        /// - Parameters:
        ///   - workspace: A `Workspace`, or one that processes share: then the limit is that of all of them together.
        ///   - burstCount: So many pass at once.
        ///   - period: In this time as many come back.
        ///   - now: What time it is; the workspace's ``Roost/KeyValueWorkspace/currentDate`` where it is not given.
        /// - Precondition: `burstCount` and `period` are more than zero, as nothing would ever pass.
        public init(
            _ workspace: some KeyValueWorkspace, dictionary: String = "rate-limits",
            burstCount: Int, period: Duration, now: (@Sendable () -> Date)? = nil
        ) {
            precondition(burstCount > 0 && period > .zero, "nothing would ever pass")
            self.workspace = workspace
            self.dictionary = dictionary
            self.burstCount = Double(burstCount)
            self.period = period
            clock = now
        }

        /// Asks for a call of `key` to pass.
        ///
        /// - Throws: as the workspace's `transaction`; `.decodingFailed` and `.typeMismatch` where
        ///   what is stored for the key is no count of this type's.
        public func admit(_ key: String) async throws -> Decision {
            try await admit(key, in: workspace)
        }

        // MARK: Within

        private func admit<Store: KeyValueWorkspace>(
            _ key: String, in workspace: Store
        ) async throws -> Decision {
            let buckets = workspace.dictionary(dictionary)
            return try await workspace.transaction(durability: .process) { attempt in
                var bucket = try await attempt.load(key, as: Bucket.self, in: buckets)
                // Asked for each time that the body is run: another call may have been counted meanwhile.
                let time = try await now(in: workspace).timeIntervalSince1970
                let decision = decide(&bucket, at: time)
                // A full bucket is as good as none.
                try attempt.set(bucket, forKey: key, in: buckets, expiresIn: period)
                return decision
            }
        }

        private func now(in workspace: some KeyValueWorkspace) async throws -> Date {
            if let clock { clock() } else { try await workspace.currentDate }
        }

        private func decide(_ found: inout Bucket?, at time: Double) -> Decision {
            let seconds = period / .seconds(1)
            var bucket = found ?? Bucket(tokens: burstCount, filledAt: time)
            // A clock that was set back fills nothing, and what came back is not given twice: only where it was
            // set back so far that the bucket would be full anyway, time begins anew.
            let elapsed = max(0, time - bucket.filledAt)
            bucket.tokens = min(burstCount, bucket.tokens + elapsed / seconds * burstCount)
            if time > bucket.filledAt || bucket.filledAt - time > seconds {
                bucket.filledAt = time
            }
            // What is missing by that calculation's error is missing for the next call.
            let isAllowed = bucket.tokens >= 1 - Self.tolerance
            if isAllowed { bucket.tokens -= 1 }
            found = bucket
            return Decision(
                isAllowed: isAllowed,
                remainingCount: Int(exactly: max(0, bucket.tokens).rounded(.down)) ?? .max,
                retryAfter: retryAfter(bucket, time))
        }

        /// In whole milliseconds, rounded up: a clock's seconds since 1970 tell no less than a quarter of a microsecond.
        private func retryAfter(_ bucket: Bucket, _ time: Double) -> Duration {
            let missing = 1 - bucket.tokens
            guard missing > Self.tolerance else { return .zero }
            let seconds = bucket.filledAt - time + missing / burstCount * (period / .seconds(1))
            // What the calculation is off by makes no millisecond more.
            let milliseconds = (seconds * 1000 - 0.001).rounded(.up)
            return milliseconds < 0x1p62
                ? .milliseconds(Int64(milliseconds)) : .milliseconds(1 << 62)
        }
    }
#endif
