/// How long operations took, in buckets that are a sixteenth of a power of two wide, so that a
/// percentile is at most 6 % too high; the longest is kept as it is.
struct Latencies: Sendable {
    struct Histogram: Sendable {
        private var counts = [Int](repeating: 0, count: 64 * 16)
        private(set) var count = 0
        private(set) var maximumNanoseconds = 0

        mutating func note(_ nanoseconds: Int) {
            counts[Self.bucket(nanoseconds)] += 1
            count += 1
            maximumNanoseconds = max(maximumNanoseconds, nanoseconds)
        }

        mutating func add(_ other: Histogram) {
            for index in counts.indices { counts[index] += other.counts[index] }
            count += other.count
            maximumNanoseconds = max(maximumNanoseconds, other.maximumNanoseconds)
        }

        /// The upper bound of the bucket that holds the quantile.
        func nanoseconds(quantile: Double) -> Double {
            let rank = Int(Double(count) * quantile)
            var seen = 0
            for (index, number) in counts.enumerated() {
                seen += number
                if seen > rank { return Double(min(Self.upperBound(index), maximumNanoseconds)) }
            }
            return Double(maximumNanoseconds)
        }

        private static func bucket(_ nanoseconds: Int) -> Int {
            let value = max(nanoseconds, 16)
            let exponent = Int.bitWidth - 1 - value.leadingZeroBitCount
            return exponent * 16 + (value >> (exponent - 4)) & 15
        }

        private static func upperBound(_ bucket: Int) -> Int {
            let exponent = bucket / 16
            return (17 + bucket % 16) << (exponent - 4)
        }
    }

    var reads = Histogram()
    var writes = Histogram()

    mutating func note(_ duration: Duration, isRead: Bool) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        if isRead { reads.note(nanoseconds) } else { writes.note(nanoseconds) }
    }

    mutating func add(_ other: Latencies) {
        reads.add(other.reads)
        writes.add(other.writes)
    }
}
