/// The rows of the objects' table, by the names that `--workloads` takes.
enum ObjectWorkload: String, CaseIterable, Sendable {
    /// Each object its own transaction.
    case insert
    /// 10,000 objects in one transaction.
    case insertTogether = "insert-10000-together"
    case update
    /// As `update`, of a field that an index has.
    case updateIndexed = "update-indexed"
    case findHot = "find-hot"
    /// In a store that was opened again.
    case findCold = "find-cold"
    /// A sixth of the objects, by a field that no index has; objects a second.
    case fetchUnindexed = "fetch-unindexed"
    /// The first 20 of an indexed range, in its order.
    case firstOfRange = "first-20-of-range"
    /// An indexed range of 100,000, or of all where they are fewer; ranges a second.
    case countRange = "count-range"
    case delete
    /// Four tasks that insert 10,000 each and then delete them, each its own transaction.
    case fourTasks = "insert-delete-4-tasks"
    /// 40,000 integers under text keys, each its own transaction: by which Dflat's figures are scaled.
    case insertInt = "insert-int"

    /// 1,000 subscriptions of one object each; milliseconds from the begin of one transaction that changes
    /// all 10,000 objects to the last delivery.
    case liveObjects = "live-objects"
    /// 1,000 live queries of 1,000 objects each; as before, of one that moves all 10,000 objects.
    case liveRanges = "live-ranges"
    /// Inserts, each its own transaction, that no live query asks for.
    case commitBesideLive = "commit-beside-live"
    /// The same where nothing is live; measured with it.
    case commitBesideNone = "commit-beside-none"

    static let live: Set<ObjectWorkload> = [
        .liveObjects, .liveRanges, .commitBesideLive, .commitBesideNone,
    ]

    static let yardstickCount = 40_000
}
