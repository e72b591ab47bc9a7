import RoostIO
import Synchronization

/// When the next flush is looked for and when writers must wait, in bytes appended to the log in this
/// opening; and how much was written, for the statistics.
final class CompactionSchedule: Sendable {
    private struct Offsets {
        var flush: UInt64
        var rest: UInt64
    }

    private let offsets: Mutex<Offsets>
    /// What `offsets` holds, for who only looks.
    private let nextFlush: Atomic<UInt64>
    private let nextRest: Atomic<UInt64>
    private let notice: Atomic<UInt64>
    /// Log bytes that a finished flush has taken over.
    private let flushed = Atomic<UInt64>(0)
    let isRunning = Atomic<Bool>(false)
    /// The workspace is being closed: work that is not finished is given up.
    let isStopping = Atomic<Bool>(false)
    /// Why the last step failed; it is tried again later.
    let failure = Mutex<RoostError?>(nil)
    let hasFailed = Atomic<Bool>(false)
    /// When a flush was tried last of those that refused writers ask for, after the scheduling's begin.
    private let lastAttempt = Mutex(Duration.zero)
    private static let retryDelay = Duration.seconds(1)
    let snapshotBytesWritten = Atomic<UInt64>(0)
    let flushCount = Atomic<UInt64>(0)
    let mergeCount = Atomic<UInt64>(0)

    init(firstFlushBytes: UInt64, firstRestBytes: UInt64) {
        offsets = Mutex(Offsets(flush: firstFlushBytes, rest: firstRestBytes))
        nextFlush = Atomic(firstFlushBytes)
        nextRest = Atomic(firstRestBytes)
        notice = Atomic(min(firstFlushBytes, firstRestBytes))
    }

    /// From here on a writer tells the compactor of what it has appended.
    var noticeBytes: UInt64 {
        @inline(__always) get { notice.load(ordering: .relaxed) }
    }

    /// From here on a flush may be due.
    var nextFlushBytes: UInt64 { nextFlush.load(ordering: .relaxed) }

    /// From here on the log may take much for what it holds; `.max` where that is being waited for.
    var nextRestBytes: UInt64 { nextRest.load(ordering: .relaxed) }

    var flushedBytes: UInt64 { flushed.load(ordering: .relaxed) }

    func noteFlushed(through totalBytes: UInt64, next: UInt64) {
        flushed.store(totalBytes, ordering: .relaxed)
        postpone(to: next)
    }

    func postpone(to totalBytes: UInt64) { change { $0.flush = totalBytes } }

    /// A flush was tried, and failed.
    func noteAttempt(now: Duration) { lastAttempt.withLock { $0 = now } }

    /// Whether it is time to try a flush again; `true` once in a second.
    func takesRetry(now: Duration) -> Bool {
        lastAttempt.withLock { last in
            guard now - last >= Self.retryDelay else { return false }
            last = now
            return true
        }
    }

    func expectRest(from totalBytes: UInt64) { change { $0.rest = totalBytes } }

    private func change(_ body: (inout Offsets) -> Void) {
        offsets.withLock { offsets in
            body(&offsets)
            nextFlush.store(offsets.flush, ordering: .relaxed)
            nextRest.store(offsets.rest, ordering: .relaxed)
            notice.store(min(offsets.flush, offsets.rest), ordering: .relaxed)
        }
    }
}
