import RoostEngine
import RoostFormat
import Synchronization

/// Elements of a scan, or the bytes to make them of.
protocol ScanPiece: Sendable {
    /// Takes in the scan's next records, at most `count`, one at least unless it has ended; how many.
    /// Where it throws, what came before is in it.
    mutating func fill(from scan: ViewScan, count: Int) throws -> Int
    var isEmpty: Bool { get }
}

/// Walks a scan a piece at a time, so that neither memory nor a thread of the pool is held for
/// long.
///
/// - Its mutex is held while a piece is filled. Only copies of one iterator meet there.
final class ScanFeed: Sendable {
    private struct State {
        /// Begun by the first piece; `nil` again at the end, so that the view goes.
        var scan: ViewScan?
        var remaining: Int
        var pieceCount: Int
        /// Since others had their turn.
        var takenCount = 0
        var isFinished = false
        /// What went wrong after the last piece.
        var failure: (any Error)?
    }

    let ordered: OrderedScan
    let clock: ExpiryClock
    private let state: Mutex<State>

    private static let largestPieceCount = 256
    /// A scan that is known to be short is filled at once.
    private static let shortCount = 128
    private static let firstPieceCount = 32

    init(_ ordered: OrderedScan) {
        self.ordered = ordered
        clock = ordered.dictionary.workspace.engine.clock
        state = Mutex(
            State(
                remaining: ordered.limit,
                pieceCount: ordered.limit <= Self.shortCount
                    ? Self.shortCount : Self.firstPieceCount,
                isFinished: ordered.limit == 0))
    }

    /// The next elements, one at least, in the room of `spent`; `nil` at the end. Never on the caller's
    /// actor.
    func nextPiece<Piece: ScanPiece>(behind spent: consuming Piece) async throws -> Piece? {
        try checkCancellation()
        if isYieldDue() { await Task.yield() }
        var piece = consume spent
        return try fill(&piece) ? piece : nil
    }

    /// Others get their turn once in a millisecond or so: it costs another thread's waking, and on
    /// a busy machine its waiting, as long as hundreds of elements.
    private func isYieldDue() -> Bool {
        state.withLock { state in
            guard state.takenCount >= 4096 else { return false }
            state.takenCount = 0
            return true
        }
    }

    /// After an element that could not be made nothing comes.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            state.failure = nil
            state.scan = nil
        }
    }

    private func fill(_ piece: inout some ScanPiece) throws -> Bool {
        try state.withLock { state in
            if let failure = state.failure {
                // After its error the sequence has ended.
                state.failure = nil
                throw failure
            }
            if state.isFinished { return false }
            do {
                let scan = try state.scan ?? ordered.begin()
                state.scan = scan
                let count = try piece.fill(
                    from: scan, count: min(state.pieceCount, state.remaining))
                state.remaining -= count
                state.takenCount += count
                state.pieceCount = min(state.pieceCount * 2, Self.largestPieceCount)
                if state.remaining == 0 || scan.recordKey == nil { state.isFinished = true }
            } catch {
                state.isFinished = true
                if piece.isEmpty {
                    state.scan = nil
                    throw error
                }
                // What was read before it stays in order: the error comes after.
                state.failure = error
            }
            if state.isFinished { state.scan = nil }
            return !piece.isEmpty
        }
    }
}
