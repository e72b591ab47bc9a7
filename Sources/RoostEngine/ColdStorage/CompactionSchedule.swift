import RoostIO
import Synchronization

/// When the next flush is due and when writers must wait, in bytes appended to the log in this
/// opening; and how much was written, for the statistics.
final class CompactionSchedule: Sendable {
    private let nextFlush: Atomic<UInt64>
    /// Log bytes that a finished flush has taken over.
    private let flushed = Atomic<UInt64>(0)
    let isRunning = Atomic<Bool>(false)
    /// The workspace is being closed: work that is not finished is given up.
    let isStopping = Atomic<Bool>(false)
    /// Why the last step failed; it is tried again later.
    let failure = Mutex<RoostError?>(nil)
    let hasFailed = Atomic<Bool>(false)
    let snapshotBytesWritten = Atomic<UInt64>(0)
    let flushCount = Atomic<UInt64>(0)
    let mergeCount = Atomic<UInt64>(0)

    init(firstFlushBytes: UInt64) { nextFlush = Atomic(firstFlushBytes) }

    var nextFlushBytes: UInt64 {
        @inline(__always) get { nextFlush.load(ordering: .relaxed) }
    }

    var flushedBytes: UInt64 { flushed.load(ordering: .relaxed) }

    func noteFlushed(through totalBytes: UInt64, next: UInt64) {
        flushed.store(totalBytes, ordering: .relaxed)
        nextFlush.store(next, ordering: .relaxed)
    }

    func postpone(to totalBytes: UInt64) { nextFlush.store(totalBytes, ordering: .relaxed) }
}
