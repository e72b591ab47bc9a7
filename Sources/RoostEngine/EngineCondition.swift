import CRoost
import RoostIO
import Synchronization

/// What every call checks first: whether the workspace is open, may be written, and has not
/// been poisoned; and whether writers must wait for the compaction.
///
/// - `flags` mirrors the rest, so that the usual case is one atomic load.
/// - `observed` stands in `flags` for as long as the engine has an observer: the usual case without one
///   stays one comparison.
/// - Poison and closing are final for this opening; mirroring ends at most once.
final class EngineCondition: Sendable {
    private struct Flag {
        static let closed: UInt16 = 1
        static let poisoned: UInt16 = 2
        static let readOnly: UInt16 = 4
        static let stalled: UInt16 = 8
        static let held: UInt16 = 16
        /// A reader's: nothing can be read any more.
        static let failed: UInt16 = 32
        /// What ends reading.
        static let unreadable = closed | failed
        /// All changes come from a workspace elsewhere.
        static let mirror: UInt16 = 64
        /// Somebody is told of what happens.
        static let observed: UInt16 = 128
        /// Flushes fail, and the log is as long as it may become: each write asks whether it may be made.
        static let overdue: UInt16 = 256
        /// What a writer waits for.
        static let waits = stalled | held
        /// What ends every wait.
        static let over = closed | poisoned
    }

    private struct Waiting {
        var poison: RoostError?
        /// Whether a call has thrown why.
        var isPoisonHeard = false
        var failure: RoostError?
        var writers: [CheckedContinuation<Void, Never>] = []
        /// Since when the observer knows that writers wait.
        var stalledSince: ContinuousClock.Instant?
        var heldSince: ContinuousClock.Instant?
    }

    private let flags: Atomic<UInt16>
    private let waiting = Mutex(Waiting())
    private let observer: (any WorkspaceObserver)?

    init(
        isReadOnly: Bool, isMirror: Bool = false, observer: (any WorkspaceObserver)? = nil
    ) {
        self.observer = observer
        flags = Atomic(
            (isReadOnly ? Flag.readOnly : 0) | (isMirror ? Flag.mirror : 0)
                | (observer == nil ? 0 : Flag.observed))
    }

    @inline(__always)
    func checkOpen() throws {
        let flags = flags.load(ordering: .relaxed)
        if flags & Flag.unreadable != 0 { throw unreadable(flags) }
    }

    @inline(never)
    private func unreadable(_ flags: UInt16) -> RoostError {
        if flags & Flag.closed == 0, let failure = waiting.withLock({ $0.failure }) {
            return failure
        }
        return Self.closed
    }

    /// Why nothing can be read any more of what is open.
    var readingFailure: RoostError? {
        let flags = flags.load(ordering: .relaxed)
        guard flags & Flag.failed != 0, flags & Flag.closed == 0 else { return nil }
        return waiting.withLock { $0.failure }
    }

    /// Refuses reads from here on.
    func setFailed(_ error: RoostError) {
        waiting.withLock { $0.failure = error }
        flags.bitwiseOr(Flag.failed, ordering: .relaxed)
    }

    /// Throws unless writes are accepted; `true` where the writer must first wait, or ask whether the log may grow.
    @inline(__always)
    @discardableResult
    func checkWritable() throws -> Bool {
        let flags = flags.load(ordering: .relaxed)
        if flags == 0 { return false }
        return try checkWritable(flags)
    }

    /// As `checkWritable`; `true` too where the write is to be measured.
    @inline(__always)
    func checkWritableSampling() throws -> Bool {
        let flags = flags.load(ordering: .relaxed)
        if flags == 0 { return false }
        return try checkWritable(flags) || (flags & Flag.observed != 0 && roost_takes_sample() != 0)
    }

    /// As `checkWritable`; `true` too where anybody observes.
    @inline(__always)
    func checkWritableObserving() throws -> Bool {
        let flags = flags.load(ordering: .relaxed)
        if flags == 0 { return false }
        return try checkWritable(flags) || flags & Flag.observed != 0
    }

    /// Whether writes are accepted, and none of them has to wait.
    @inline(__always)
    var isWritableNow: Bool { flags.load(ordering: .relaxed) & ~Flag.observed == 0 }

    /// What a writer that came now would wait for.
    var waitCause: ObservedOperation.Cause? {
        let flags = flags.load(ordering: .relaxed)
        if flags & Flag.stalled != 0 { return .compaction }
        return flags & Flag.held != 0 ? .disk : nil
    }

    private func checkWritable(_ flags: UInt16) throws -> Bool {
        if flags & Flag.closed != 0 { throw Self.closed }
        if flags & Flag.readOnly != 0 {
            throw RoostError(.readOnly, "the workspace was opened for reading only")
        }
        if flags & Flag.mirror != 0 {
            throw RoostError(
                .readOnly, "the workspace mirrors another by its copy: promote it to write to it")
        }
        if flags & Flag.poisoned != 0, let poison = hearPoison() { throw poison }
        return flags & (Flag.waits | Flag.overdue) != 0
    }

    /// Whether all changes come from the workspace that this one mirrors.
    var isMirror: Bool { flags.load(ordering: .relaxed) & Flag.mirror != 0 }

    /// As `checkWritable`, of whoever hands on what is mirrored.
    func checkMirror() throws -> Bool {
        let flags = flags.load(ordering: .relaxed)
        precondition(flags & Flag.mirror != 0, "the workspace mirrors nothing")
        return try checkWritable(flags & ~Flag.mirror)
    }

    func endMirroring() { flags.bitwiseAnd(~Flag.mirror, ordering: .releasing) }

    static var closed: RoostError { RoostError(.closed, "the workspace is closed") }

    var poison: RoostError? { waiting.withLock { $0.poison } }
    var isClosed: Bool { flags.load(ordering: .relaxed) & Flag.closed != 0 }

    /// Refuses writes from here on; the first reason counts.
    func setPoison(_ error: RoostError) {
        let isFirst = waiting.withLock { waiting in
            defer { waiting.poison = waiting.poison ?? error }
            return waiting.poison == nil
        }
        flags.bitwiseOr(Flag.poisoned, ordering: .relaxed)
        release()
        if isFirst { observer?.poisoned(error) }
    }

    /// The poison, which the caller throws.
    @discardableResult
    func hearPoison() -> RoostError? {
        waiting.withLock { waiting in
            if waiting.poison != nil { waiting.isPoisonHeard = true }
            return waiting.poison
        }
    }

    /// The poison, where no call has told it.
    var unheardPoison: RoostError? {
        waiting.withLock { $0.isPoisonHeard ? nil : $0.poison }
    }

    /// `false` where it was closed before.
    func beginClosing() -> Bool {
        let before = flags.bitwiseOr(Flag.closed, ordering: .relaxed).oldValue
        release()
        return before & Flag.closed == 0
    }

    // MARK: Writers that outrun the compaction

    /// - Who sets the flag looks then whether the compaction runs, and the compaction, once it runs no more, releases: neither
    ///   may come before the other's store, or a writer would wait for nobody.
    func stall() {
        let before = flags.bitwiseOr(Flag.stalled, ordering: .sequentiallyConsistent).oldValue
        if observer != nil, before & Flag.stalled == 0 { noteWait(.compaction) }
    }

    /// Lets writers go on that waited for the compaction.
    func release() { release(.compaction) }

    private func release(_ cause: ObservedOperation.Cause) {
        let (flag, since) = Self.place(of: cause)
        let (writers, begin) = waiting.withLock { waiting in
            flags.bitwiseAnd(~flag, ordering: .sequentiallyConsistent)
            let flags = flags.load(ordering: .relaxed)
            let begin = waiting[keyPath: since]
            waiting[keyPath: since] = nil
            var writers: [CheckedContinuation<Void, Never>] = []
            if flags & Flag.waits == 0 || flags & Flag.over != 0 {
                swap(&writers, &waiting.writers)
            }
            return (writers, begin)
        }
        for writer in writers { writer.resume() }
        if let begin { observer?.writersGoOn(after: ContinuousClock.now - begin, cause) }
    }

    /// Returns once nothing holds writers up; at once where nothing does.
    func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let goesOn = waiting.withLock { waiting in
                let flags = flags.load(ordering: .relaxed)
                if flags & Flag.waits == 0 || flags & Flag.over != 0 { return true }
                waiting.writers.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Whether each write has to ask whether the log may grow, as flushes fail again and again. Nobody waits for it.
    var isOverdue: Bool { flags.load(ordering: .relaxed) & Flag.overdue != 0 }

    func setOverdue() { flags.bitwiseOr(Flag.overdue, ordering: .relaxed) }

    func endOverdue() { flags.bitwiseAnd(~Flag.overdue, ordering: .relaxed) }

    // MARK: Writers that outrun the disk

    func hold() {
        let before = flags.bitwiseOr(Flag.held, ordering: .relaxed).oldValue
        if observer != nil, before & Flag.held == 0 { noteWait(.disk) }
    }

    func releaseHeld() {
        guard flags.load(ordering: .relaxed) & Flag.held != 0 else { return }
        release(.disk)
    }

    // MARK: Told to the observer

    /// The flag of writers that wait for `cause`, and since when the observer knows of them.
    private static func place(
        of cause: ObservedOperation.Cause
    ) -> (flag: UInt16, since: WritableKeyPath<Waiting, ContinuousClock.Instant?> & Sendable) {
        cause == .compaction ? (Flag.stalled, \.stalledSince) : (Flag.held, \.heldSince)
    }

    /// Tells that writers wait, if they still do.
    ///
    /// - The flag was set before, without the mutex: who releases the writers may have come in between. What was
    ///   noted then would be ended by the next wait's end, hours later perhaps.
    func noteWait(_ cause: ObservedOperation.Cause) {
        let (flag, since) = Self.place(of: cause)
        let begins = waiting.withLock { waiting in
            guard flags.load(ordering: .relaxed) & flag != 0, waiting[keyPath: since] == nil else {
                return false
            }
            waiting[keyPath: since] = .now
            return true
        }
        if begins { observer?.writersBeganToWait(for: cause) }
    }
}
