import RoostFormat
import RoostIO

/// Keeps what a reader of the log has not read yet, after a flush has removed its files: they stay
/// mapped, and so on disk, though they have no name any more. The last reference gives it back.
package final class LogHold: Sendable {
    /// What the history keeps for one hold.
    ///
    /// - `retained` is ascending, and each of it has batches after `position`.
    /// - Together they are no larger than `limitBytes`; what would be more makes the hold lost.
    struct Held {
        /// Every batch up to this one was read.
        var position: UInt64
        let limitBytes: Int
        private(set) var retained: [LogHistory.Segment] = []
        private(set) var isLost = false

        init(position: UInt64, limitBytes: Int) {
            self.position = position
            self.limitBytes = limitBytes
        }

        /// Takes over what is forgotten and gives up what was read; returns that. `following` is the
        /// first sequence number of what the history goes on with.
        mutating func take(
            _ forgotten: [LogHistory.Segment], before following: UInt64?
        ) -> [LogHistory.Segment] {
            if isLost { return [] }
            let all = retained + forgotten
            // A segment ends where the next one begins.
            let begin =
                all.indices.first { index in
                    let end = index + 1 < all.count ? all[index + 1].firstSequence : following
                    return end.map { $0 > position + 1 } ?? true
                } ?? all.endIndex
            retained = Array(all[begin...])
            guard retained.reduce(0, { $0 + $1.region.sizeBytes }) <= limitBytes else {
                isLost = true
                retained = []
                return all
            }
            return Array(all[..<begin])
        }
    }

    private let number: UInt64
    private let history: LogHistory

    init(number: UInt64, history: LogHistory) {
        self.number = number
        self.history = history
    }

    deinit { history.release(number) }

    /// From the one that has the next batch on, in order; `nil` where more would have had to be kept
    /// than the limit allows, and batches are lost to this reader.
    package var segments: [LogHistory.Segment]? { history.segments(of: number) }

    /// Every batch up to `sequence` was read.
    package func advance(to sequence: UInt64) { history.advance(number, to: sequence) }
}
