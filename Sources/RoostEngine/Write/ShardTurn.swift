import RoostIO
import Synchronization

/// A shard's turn: whoever has it is the only one that changes the shard's keys.
///
/// - It stands in a mutex, `Shard.turn`, that is held from what a change checks to the change
///   itself, and while nothing is waited for but the log's next segment. A function that takes a
///   turn as its argument can be called by its holder alone.
/// - Whoever has to wait for a staged batch gives it back and is a task among `waiters`.
/// - Taken before the feed's mutex and before `Shard.published`, never behind them.
struct ShardTurn {
    /// Calls that wait for some staged batch to be resolved.
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// How often staged batches were resolved.
    var resolutionCount = 0
    /// Whether anything is staged, so that a put can tell without the other mutex.
    var hasStaged = false
    /// The count of resolved batches at which waiters were last woken: a read view that begins
    /// folds too, and wakes nobody.
    var seenResolvedCount: UInt64 = 0
    /// The last segment that `published.active` was told to hold.
    var heldRegion: MappedRegion?

    /// What came of a look at a shard.
    enum Outcome<Result: Sendable>: Sendable {
        case done(Result)
        /// A staged batch comes first; staged batches had been resolved that often.
        case blocked(resolutionCount: Int)
    }

    func blocked<Result>() -> Outcome<Result> { .blocked(resolutionCount: resolutionCount) }
}
