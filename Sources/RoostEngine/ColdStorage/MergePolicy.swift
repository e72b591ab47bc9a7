/// Which of a shard's snapshots to merge: size tiers, so that a small change never rewrites the
/// whole shard, and the space that overwritten records take stays bounded.
///
/// A pure decision over the file sizes, newest first.
struct MergePolicy: Sendable {
    /// From this many snapshots on they are merged, whatever their sizes.
    var maximumCount = 12
    /// A merge takes at least this many, while the shard has no more than it may: while writers
    /// press more, as every merge takes from them.
    var busyMergeCount = 8
    var idleMergeCount = 4
    /// Everything is merged once the newer snapshots together reach this part of the oldest, in
    /// percent: overwritten records then take at most about as much. While writers press, each
    /// merge has to move more for its cost.
    var busyGarbagePercent: UInt64 = 100
    var idleGarbagePercent: UInt64 = 45

    /// How many of the newest snapshots to merge into one; `nil` where nothing is due.
    func mergeCount(_ sizes: [UInt64], isIdle: Bool = false) -> Int? {
        guard sizes.count > 1, let oldest = sizes.last else { return nil }
        let newer = sizes.dropLast().reduce(0, +)
        let minimumMergeCount = isIdle ? idleMergeCount : busyMergeCount
        let garbagePercent = isIdle ? idleGarbagePercent : busyGarbagePercent
        let isWorthAll = newer * 100 >= oldest * garbagePercent
        if isWorthAll && (sizes.count >= minimumMergeCount || isIdle) { return sizes.count }
        guard sizes.count >= minimumMergeCount else { return nil }
        // The longest run of neighbours in which each is no larger than all newer ones together
        // twice over: merging those moves every record up a tier.
        var total = sizes[0]
        var count = 1
        while count < sizes.count - 1, sizes[count] <= total * 2 {
            total += sizes[count]
            count += 1
        }
        if count >= minimumMergeCount { return count }
        return sizes.count > maximumCount ? max(count, sizes.count - 1) : nil
    }
}
