import RoostIO
import Synchronization

/// What every call checks first: whether the workspace is open, may be written, and has not
/// been poisoned; and whether writers must wait for the compaction.
///
/// - `flags` mirrors the rest, so that the usual case is one atomic load.
/// - Poison and closing are final for this opening.
final class EngineCondition: Sendable {
    private struct Flag {
        static let closed: UInt8 = 1
        static let poisoned: UInt8 = 2
        static let readOnly: UInt8 = 4
        static let stalled: UInt8 = 8
    }

    private struct Waiting {
        var poison: RoostError?
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    private let flags: Atomic<UInt8>
    private let waiting = Mutex(Waiting())

    init(isReadOnly: Bool) { flags = Atomic(isReadOnly ? Flag.readOnly : 0) }

    @inline(__always)
    func checkOpen() throws {
        if flags.load(ordering: .relaxed) & Flag.closed != 0 { throw Self.closed }
    }

    /// Throws unless writes are accepted; `true` where the writer must first wait.
    @inline(__always)
    @discardableResult
    func checkWritable() throws -> Bool {
        let flags = flags.load(ordering: .relaxed)
        if flags == 0 { return false }
        return try checkWritable(flags)
    }

    private func checkWritable(_ flags: UInt8) throws -> Bool {
        if flags & Flag.closed != 0 { throw Self.closed }
        if flags & Flag.readOnly != 0 {
            throw RoostError(.readOnly, "the workspace was opened for reading only")
        }
        if flags & Flag.poisoned != 0, let poison { throw poison }
        return flags & Flag.stalled != 0
    }

    static var closed: RoostError { RoostError(.closed, "the workspace is closed") }

    var poison: RoostError? { waiting.withLock { $0.poison } }
    var isClosed: Bool { flags.load(ordering: .relaxed) & Flag.closed != 0 }

    /// Refuses writes from here on; the first reason counts.
    func setPoison(_ error: RoostError) {
        waiting.withLock { $0.poison = $0.poison ?? error }
        flags.bitwiseOr(Flag.poisoned, ordering: .relaxed)
        release()
    }

    /// `false` where it was closed before.
    func beginClosing() -> Bool {
        let before = flags.bitwiseOr(Flag.closed, ordering: .relaxed).oldValue
        release()
        return before & Flag.closed == 0
    }

    // MARK: Writers that outrun the compaction

    func stall() { flags.bitwiseOr(Flag.stalled, ordering: .relaxed) }

    /// Lets waiting writers go on.
    func release() {
        let writers = waiting.withLock { waiting in
            flags.bitwiseAnd(~Flag.stalled, ordering: .relaxed)
            defer { waiting.writers.removeAll() }
            return waiting.writers
        }
        for writer in writers { writer.resume() }
    }

    /// Returns once `release` was called, at once where nothing is stalled.
    func waitWhileStalled() async {
        await withCheckedContinuation { continuation in
            let goesOn = waiting.withLock { waiting in
                if flags.load(ordering: .relaxed) & Flag.stalled == 0 { return true }
                waiting.writers.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }
}
