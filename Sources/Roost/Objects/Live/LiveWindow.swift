/// What of the matches a query with a limit or an offset shows, and how many are kept for that.
struct LiveWindow {
    let offset: Int
    /// After the last position that is shown.
    let end: Int
    /// How many of the first matches are read and kept.
    let keptCount: Int
    /// With more than so many the last are let go of.
    let largestCount: Int

    init?<Item>(_ query: Query<Item>) {
        guard query.limitCount != nil || query.offsetCount > 0 else { return nil }
        offset = query.offsetCount
        let (end, isEndless) = offset.addingReportingOverflow(query.limitCount ?? .max)
        self.end = isEndless ? .max : end
        let spareCount = Swift.max(16, Swift.min(self.end, 1024))
        let (count, isAll) = self.end.addingReportingOverflow(spareCount)
        keptCount = isAll ? .max : count
        largestCount = isAll || count > .max - spareCount ? .max : count + spareCount
    }
}
