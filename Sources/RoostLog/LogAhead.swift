import RoostIO
import Synchronization

/// Makes ready what writers will come to, on a thread of its own: the next pages of the segment that
/// is written to, and the next segment. A page fault in a fresh file costs a writer as much as the
/// frames that the page holds (docs/decisions/0034), and to preallocate a segment can take the file
/// system hundreds of milliseconds (docs/decisions/0066).
///
/// - What is asked for lies ahead of all that was appended; nothing here writes a byte.
/// - Standbys are made one after another, and none while `rotate` runs: no segment is in the making
///   that is older than the one that it begins.
/// - The thread begins with the first request: small stores never have it.
package actor LogAhead {
    /// How far ahead of the writers the pages are made ready.
    static let aheadBytes = 1 << 20
    /// A call holds off those who map and unmap files.
    private static let stepBytes = 128 << 10

    private let thread: WorkerThread
    private let scheduling: any Scheduling
    private let hasBegun = Atomic(false)
    private var finishCount = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    package init(scheduling: any Scheduling) {
        thread = scheduling.thread(named: "roost-ahead")
        self.scheduling = scheduling
    }

    /// The time since some moment, by which segments get their sizes.
    nonisolated var now: Duration { scheduling.now }

    // MARK: What nobody waits for

    /// Begins to make a part of `region` ready.
    nonisolated func beginPrefault(_ region: MappedRegion, offset: Int, sizeBytes: Int) {
        begin { ahead in await ahead.prefault(region, offset: offset, sizeBytes: sizeBytes) }
    }

    /// Begins to make the segment that the next rotation of `log` will want.
    nonisolated func beginStandby(of log: LogWriter) {
        begin { ahead in await ahead.tryStandby(of: log) }
    }

    private nonisolated func begin(_ work: @escaping @Sendable (LogAhead) async -> Void) {
        hasBegun.store(true, ordering: .relaxed)
        // On the thread itself: writers that never pause may hold all of the pool. The task holds
        // the actor: the thread's end would be the end of what it has not begun.
        Task.detached(executorPreference: thread.forTasks) { await work(self) }
    }

    private func prefault(_ region: MappedRegion, offset: Int, sizeBytes: Int) {
        for step in stride(from: offset, to: offset + sizeBytes, by: Self.stepBytes) {
            let size = min(Self.stepBytes, offset + sizeBytes - step)
            region.prefault(offset: step, sizeBytes: size)
        }
    }

    private func tryStandby(of log: LogWriter) {
        do { try log.makeStandby() } catch {
            // Whoever comes to need the segment tries again, and says what is wrong.
        }
    }

    // MARK: What the caller waits for

    /// Makes the segment that the next rotation of `log` will want, where there is none.
    package func prepareStandby(of log: LogWriter) throws { try log.makeStandby() }

    /// `LogWriter.rotate`, to a segment that is made before: to one of the smallest size on a disk that has no room for what a
    /// log that has grown fast wants, as who rotates is mostly a flush, which makes room.
    func rotate(_ log: LogWriter) throws -> LogWriter.Boundary {
        if log.holdsFrames {
            do { try log.makeStandby() } catch let error as RoostError
                where error.code == .outOfSpace
            { try log.makeSmallestStandby() }
        }
        return try log.rotate()
    }

    /// As `rotate`, to a segment of the smallest size.
    func rotateToSmallest(_ log: LogWriter) throws -> LogWriter.Boundary {
        if log.holdsFrames { try log.makeSmallestStandby() }
        return try log.rotate()
    }

    /// Returns once nothing is in the making that was asked for before the call.
    package nonisolated func finish() async {
        if hasBegun.load(ordering: .relaxed) { await finishBegun() }
    }

    /// It changes what the actor alone may, or else the optimizer leaves out the way to its thread, and with it the wait.
    private func finishBegun() { finishCount &+= 1 }
}
