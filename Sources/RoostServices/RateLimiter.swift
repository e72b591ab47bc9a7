#if Services
    import Foundation
    public import Roost

    /// Lets so many calls of each key pass in a time, by a token bucket: `burstCount` at once, and from then on as
    /// many as come back in `period`.
    ///
    /// The counts survive a restart, and calls of one key are counted one after the other. They are written
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

        private let workspace: Workspace
        private let buckets: WorkspaceDictionary
        private let burstCount: Double
        private let period: Duration
        private let now: @Sendable () -> Date

        /// Of a call.
        private static let tolerance = 0.001

        /// - Parameters:
        ///   - burstCount: So many pass at once.
        ///   - period: In this time as many come back.
        /// - Precondition: `burstCount` and `period` are more than zero, as nothing would ever pass.
        public init(
            _ workspace: Workspace, dictionary: String = "rate-limits", burstCount: Int,
            period: Duration, now: @escaping @Sendable () -> Date = { Date() }
        ) {
            precondition(burstCount > 0 && period > .zero, "nothing would ever pass")
            self.workspace = workspace
            buckets = workspace.dictionary(dictionary)
            self.burstCount = Double(burstCount)
            self.period = period
            self.now = now
        }

        /// Asks for a call of `key` to pass.
        ///
        /// - Throws: as `Workspace.transaction(durability:_:)`; `.decodingFailed` and `.typeMismatch` where
        ///   what is stored for the key is no count of this type's.
        public func admit(_ key: String) async throws -> Decision {
            let seconds = period / .seconds(1)
            return try await workspace.transaction(durability: .process) { transaction in
                // Asked for each time that the body is run: another call may have been counted meanwhile.
                let time = now().timeIntervalSince1970
                var bucket =
                    try transaction.value(forKey: key, as: Bucket.self, in: buckets)
                    ?? Bucket(tokens: burstCount, filledAt: time)
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
                // A full bucket is as good as none.
                try transaction.set(bucket, forKey: key, in: buckets, expiresIn: period)
                return Decision(
                    isAllowed: isAllowed,
                    remainingCount: Int(exactly: max(0, bucket.tokens).rounded(.down)) ?? .max,
                    retryAfter: retryAfter(bucket, time))
            }
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
