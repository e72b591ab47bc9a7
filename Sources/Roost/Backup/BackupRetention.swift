/// Which generations of a series of backups are kept.
///
/// A generation is kept where any of the rules keeps it; the newest always is. One that cannot be read
/// (``BackupGeneration/problem``) takes no other's place: the rules keep as many that can be read as they say. It
/// stays itself as long as if it could be read, so that what is wrong for a while only, or is of another key,
/// removes nothing.
///
/// ```swift
/// let retention = BackupRetention(newestCount: 24, dailyCount: 14, weeklyCount: 8)
/// ```
public struct BackupRetention: Sendable, Hashable {
    /// So many of the newest; at least one, also where less is set.
    public var newestCount: Int
    /// The newest of each of so many days, the last ones that have any (UTC).
    public var dailyCount: Int
    /// The newest of each of so many weeks, from Monday on, the last ones that have any (UTC).
    public var weeklyCount: Int

    /// Keeps the newest, and the newest of each of some days and weeks; a backup that any rule keeps stays.
    ///
    /// - Precondition: `newestCount` is at least 1, and no count is negative.
    public init(newestCount: Int, dailyCount: Int = 0, weeklyCount: Int = 0) {
        precondition(newestCount > 0, "the newest backup is always kept")
        precondition(dailyCount >= 0 && weeklyCount >= 0, "counts are not negative")
        self.newestCount = newestCount
        self.dailyCount = dailyCount
        self.weeklyCount = weeklyCount
    }

    /// The last `count`.
    public static func newest(_ count: Int) -> Self { .init(newestCount: count) }

    /// Every one.
    public static let all = Self(newestCount: .max)

    private static let daySeconds = 86_400.0

    /// Those of `generations`, the oldest first, that no rule keeps.
    func removed(of generations: [BackupGeneration]) -> [BackupGeneration] {
        // What the rules keep of all is only more by those that cannot be read: each of the others that they keep
        // there they keep among the others too.
        let kept = numbersKept(of: generations.filter { $0.problem == nil })
            .union(numbersKept(of: generations))
        return generations.filter { !kept.contains($0.number) }
    }

    private func numbersKept(of generations: [BackupGeneration]) -> Set<UInt64> {
        var kept = Set(generations.suffix(max(1, newestCount)).map(\.number))
        func keep(_ count: Int, by period: (Double) -> Double) {
            var periods: Set<Double> = []
            for generation in generations.reversed() {
                let seconds = generation.date.timeIntervalSince1970
                if periods.contains(period(seconds)) { continue }
                if periods.count == count { return }
                periods.insert(period(seconds))
                kept.insert(generation.number)
            }
        }
        keep(dailyCount) { ($0 / Self.daySeconds).rounded(.down) }
        // The first of January 1970 was a Thursday.
        keep(weeklyCount) { (($0 / Self.daySeconds + 3) / 7).rounded(.down) }
        return kept
    }
}
