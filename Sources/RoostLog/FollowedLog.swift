import Synchronization

/// A log that a reader follows, as its watchers see it.
///
/// - `lastSequence` goes up just before the batch becomes visible, as a writer's does at the append.
package final class FollowedLog: CommittedLog {
    package let history: LogHistory
    private let last: Atomic<UInt64>

    package init(lastSequence: UInt64, segments: [FollowedSegment]) {
        last = Atomic(lastSequence)
        history = LogHistory()
        history.replace(with: segments.map(\.forHistory))
    }

    package var lastSequence: UInt64 { last.load(ordering: .acquiring) }

    /// For the one that follows alone.
    package func note(_ sequence: UInt64) { last.store(sequence, ordering: .releasing) }
}
