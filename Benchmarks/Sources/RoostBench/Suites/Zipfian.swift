import Foundation

/// YCSB's distributions: ranks by Zipf's law with 0.99, scattered over all keys so that the
/// frequent ones are not neighbours.
struct Zipfian {
    private static let theta = 0.99

    let count: Int
    private let alpha = 1 / (1 - theta)
    private let zetaCount: Double
    private let eta: Double

    init(count: Int) {
        self.count = count
        zetaCount = Self.zeta(count)
        let zetaTwo = Self.zeta(2)
        eta =
            (1 - pow(2 / Double(count), 1 - Self.theta)) / (1 - zetaTwo / zetaCount)
    }

    private static func zeta(_ count: Int) -> Double {
        (1...count).reduce(0) { $0 + 1 / pow(Double($1), theta) }
    }

    /// 0 is the most frequent.
    func rank(_ random: inout SplitMix) -> Int {
        let uniform = Double(random.next() >> 11) / Double(1 << 53)
        let scaled = uniform * zetaCount
        if scaled < 1 { return 0 }
        if scaled < 1 + pow(0.5, Self.theta) { return min(1, count - 1) }
        return min(count - 1, Int(Double(count) * pow(eta * uniform - eta + 1, alpha)))
    }

    /// A key's index: the rank, scattered.
    func index(_ random: inout SplitMix) -> Int {
        var scatter = SplitMix(state: UInt64(rank(&random)))
        return Int(scatter.next() % UInt64(count))
    }
}
