import RoostIO
import RoostLog
import Synchronization

/// Brings writes of `.interval` durability to disk in time: the first write after a sync sets a
/// timer, later ones find it set.
///
/// - While `isArmed`, a sync of everything appended so far will begin within the usual interval;
///   the flag falls before the sync looks at the log, so no write falls between.
final class IntervalSync: Sendable {
    private let syncer: LogSyncer?
    private let scheduling: any Scheduling
    private let isArmed = Atomic<Bool>(false)
    /// Timers for other intervals than the configured one.
    private let others = Mutex<Set<Duration>>([])

    init(syncer: LogSyncer?, scheduling: any Scheduling) {
        self.syncer = syncer
        self.scheduling = scheduling
    }

    /// A write was appended that has to be on disk within `duration`.
    @inline(__always)
    func noteWrite(within duration: Duration, isUsual: Bool) {
        if isUsual {
            if isArmed.load(ordering: .relaxed) { return }
            arm(duration)
        } else {
            armOther(duration)
        }
    }

    @inline(never)
    private func arm(_ duration: Duration) {
        guard !isArmed.exchange(true, ordering: .relaxed) else { return }
        start(duration) { $0.isArmed.store(false, ordering: .sequentiallyConsistent) }
    }

    private func armOther(_ duration: Duration) {
        guard others.withLock({ $0.insert(duration).inserted }) else { return }
        start(duration) { timers in _ = timers.others.withLock { $0.remove(duration) } }
    }

    private func start(_ duration: Duration, disarm: @escaping @Sendable (IntervalSync) -> Void) {
        guard let syncer else { return }
        // On the syncer's own thread: writers that never pause may hold every thread of the pool,
        // and this has to be in time.
        Task.detached(executorPreference: syncer.taskExecutor, priority: .high) { [self] in
            // Nothing cancels this task; were it to be, syncing early is right.
            do { try await scheduling.sleep(for: duration) } catch {}
            disarm(self)
            // A failure poisons the workspace, which is how the next call learns of it.
            do { try await syncer.sync() } catch {}
        }
    }
}
