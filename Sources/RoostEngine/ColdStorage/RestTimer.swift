import RoostIO
import Synchronization

/// Has the compactor make the log small once nobody has written for a while.
///
/// - Begins where the log has grown by a part of what it may take at rest since it was looked at last, so that
///   who writes a little at a time neither wakes anything nor has anything written again.
/// - Looks a few times in `delay` for as long as writers go on, and ends once as many looks in a row have
///   found nothing new.
/// - Knows the compactor until `stop` alone: what sleeps must not keep the directory of a workspace that
///   was dropped.
///
/// docs/decisions/0175.
final class RestTimer: Sendable {
    private let schedule: CompactionSchedule
    private let scheduling: any Scheduling
    /// The compactor's; it lives as long as what sleeps.
    private let thread: WorkerThread
    private let delay: Duration
    private static let lookCount = 3
    /// As many bytes are appended before the log is looked at again.
    private let stepBytes: UInt64
    private let compactor = Mutex<Compactor?>(nil)
    private let isArmed = Atomic<Bool>(false)

    init(
        schedule: CompactionSchedule, thread: WorkerThread, scheduling: any Scheduling,
        delay: Duration, stepBytes: UInt64
    ) {
        self.schedule = schedule
        self.thread = thread
        self.scheduling = scheduling
        self.delay = delay
        self.stepBytes = stepBytes
    }

    func begin(for compactor: Compactor) { self.compactor.withLock { $0 = compactor } }

    func stop() { compactor.withLock { $0 = nil } }

    /// `totalBytes` were appended to the log, as many as wanted a look at it.
    func noteGrowth(_ totalBytes: UInt64) {
        guard takeTurn() else { return }
        Task.detached(executorPreference: thread.forTasks) { await self.run(totalBytes) }
    }

    private func takeTurn() -> Bool {
        guard !isArmed.exchange(true, ordering: .sequentiallyConsistent) else { return false }
        schedule.expectRest(from: .max)
        return true
    }

    private func run(_ totalBytes: UInt64) async {
        var seen = totalBytes
        var quietCount = 0
        while true {
            // Nothing cancels this task but the end of a simulation.
            do { try await scheduling.sleep(for: delay / Self.lookCount) } catch { return }
            guard let (compactor, totalBytes) = look() else { return }
            quietCount = totalBytes == seen ? quietCount + 1 : 0
            seen = totalBytes
            guard quietCount >= Self.lookCount, await compactor.rest() else { continue }
            quietCount = 0
            schedule.expectRest(from: totalBytes + stepBytes)
            isArmed.store(false, ordering: .sequentiallyConsistent)
            // Those who wrote meanwhile found it armed.
            guard let (_, now) = look(), now >= totalBytes + stepBytes, takeTurn() else { return }
        }
    }

    private func look() -> (Compactor, totalBytes: UInt64)? {
        guard let compactor = compactor.withLock({ $0 }), let log = compactor.log else {
            return nil
        }
        return (compactor, log.totalBytes)
    }
}
