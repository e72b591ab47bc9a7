import Foundation

/// What a reader saw.
struct FollowerReport: Codable, Sendable {
    var viewCount = 0
    var lookCount = 0
    var changeCount = 0
    var queryCount = 0
    var openingCount = 0
    /// Changes that a watcher was told that it missed.
    var missedCount = 0
    var tornCount = 0
    var staleCount = 0
    /// Changes that a watcher was not told of, nor that it missed any, or that came in another order.
    var untoldCount = 0
    /// Looks at what there was once no writer was left.
    var endCount = 0
    var errorCount = 0
    /// How long it read in all, without moments in which the machine stood still.
    var readSeconds = 0.0
    var problems: [String] = []
    /// How many changes came so late: by halves of a tenth of a millisecond, doubled each time.
    var lagCounts = [Int](repeating: 0, count: 64)

    var isSound: Bool { tornCount + staleCount + untoldCount + errorCount == 0 }

    /// Who reads for so many seconds is told of changes, however slow the machine is.
    static let longSeconds = 10.0

    /// What a reader has not done that each has to do; `nil` where there is nothing. On a slow machine it may be started
    /// when the run is nearly over.
    func omission() -> String? {
        if endCount == 0 { return "never looked at the end" }
        guard readSeconds >= Self.longSeconds else { return nil }
        if changeCount == 0 { return "was told no change" }
        return viewCount == 0 || queryCount == 0 ? "never looked" : nil
    }

    private static let stepsPerDoubling = 4.0

    mutating func addLag(nanoseconds: UInt64) {
        let steps = log2(max(Double(nanoseconds) / 50_000, 1)) * Self.stepsPerDoubling
        lagCounts[min(Int(steps), lagCounts.count - 1)] += 1
    }

    /// In milliseconds, rounded up by a fifth at the most.
    func lag(_ share: Double) -> Double {
        let wanted = Int(Double(lagCounts.reduce(0, +)) * share)
        var count = 0
        for (index, lags) in lagCounts.enumerated() {
            count += lags
            if count > wanted {
                let milliseconds = 0.05 * exp2(Double(index + 1) / Self.stepsPerDoubling)
                return (milliseconds * 1000).rounded() / 1000
            }
        }
        return 0
    }

    mutating func add(_ other: FollowerReport) {
        viewCount += other.viewCount
        lookCount += other.lookCount
        changeCount += other.changeCount
        queryCount += other.queryCount
        openingCount += other.openingCount
        missedCount += other.missedCount
        tornCount += other.tornCount
        staleCount += other.staleCount
        untoldCount += other.untoldCount
        endCount += other.endCount
        errorCount += other.errorCount
        readSeconds += other.readSeconds
        problems += other.problems
        for index in lagCounts.indices { lagCounts[index] += other.lagCounts[index] }
    }
}
