/// Which tiers to merge: those of similar sizes, so that a small change never rewrites the whole store,
/// and so that the space that overwritten records take stays bounded.
///
/// A pure decision over the tiers' sizes, newest first.
struct MergePolicy: Sendable {
    /// From this many tiers on they are merged, whatever their sizes.
    var maximumCount = 12
    /// A merge takes at least this many, while there are no more than there may be: while writers
    /// press more, as every merge takes from them.
    var busyMergeCount = 8
    var idleMergeCount = 4
    /// Everything is merged once the newer tiers together reach this part of the oldest, in
    /// percent: overwritten records then take at most about as much. While writers press, each
    /// merge has to move more for its cost.
    var busyGarbagePercent: UInt64 = 100
    var idleGarbagePercent: UInt64 = 45

    /// How many of the newest tiers to merge into one; `nil` where nothing is due. `isWhole`: the last
    /// of `sizes` is the oldest tier, and not one above a merge that is under way. `emptied`: what all of
    /// them have of dictionaries that were emptied since.
    func mergeCount(
        _ sizes: [UInt64], emptied: UInt64 = 0, isWhole: Bool = true, isIdle: Bool = false
    ) -> Int? {
        guard let oldest = sizes.last else { return nil }
        let garbagePercent = isIdle ? idleGarbagePercent : busyGarbagePercent
        let live = sizes.reduce(0, +) - min(emptied, sizes.reduce(0, +))
        if isWhole, emptied > 0, emptied * 100 >= live * garbagePercent { return sizes.count }
        guard sizes.count > 1 else { return nil }
        let minimumMergeCount = isIdle ? idleMergeCount : busyMergeCount
        if isWhole {
            let newer = sizes.dropLast().reduce(0, +)
            let isWorthAll = newer * 100 >= oldest * garbagePercent
            if isWorthAll && (sizes.count >= minimumMergeCount || isIdle) { return sizes.count }
        }
        guard sizes.count >= minimumMergeCount else { return nil }
        // The longest run of neighbours in which each is no larger than all newer ones together
        // twice over: merging those moves every record up a tier.
        let candidates = isWhole ? sizes.dropLast() : sizes[...]
        var total = sizes[0]
        var count = 1
        while count < candidates.count, sizes[count] <= total * 2 {
            total += sizes[count]
            count += 1
        }
        if count >= minimumMergeCount { return count }
        return sizes.count > maximumCount ? max(count, candidates.count) : nil
    }
}
