import RoostIO
import RoostLog
import Synchronization

/// Brings writes of `.interval` durability to disk in time: the first write after a sync's begin sets a
/// timer, later ones find it set. docs/decisions/0076, 0301.
///
/// - While `isArmed`, a sync of everything appended so far will begin within the usual interval, and before its end by
///   what syncs have taken lately; the flag falls before the sync looks at the log, so no write falls between.
/// - A write that comes right after a sync has begun is on disk once that sync and the next are through. So
///   that both take no longer than the interval, writers may append `roomBytes` between the begins of two
///   syncs: whoever reaches `limitBytes` has the next sync begin at once, and holds up all writers until
///   it begins.
/// - `roomBytes` follows what the disk does: what it writes in half the interval, as far as that is known.
final class IntervalSync: Sendable {
    /// However slow the disk is, writers get as much.
    private static let leastRoomBytes: UInt64 = 2 << 20
    private static let firstRoomBytes: UInt64 = 32 << 20
    /// A timer sleeps no longer, as the time of a clock has an end; to sync early is right.
    private static let longestSleep = Duration.seconds(365 * 86_400)

    private struct State {
        /// When the oldest write came that no sync has begun to bring to disk.
        var armedAt: ContinuousClock.Instant?
        /// As above, of the sync that is under way.
        var syncedFrom: ContinuousClock.Instant?
        /// As many bytes had been appended when the last sync began.
        var lastBeginBytes: UInt64 = 0
        var roomBytes = IntervalSync.firstRoomBytes
        /// What a sync is expected to take.
        var expected = Duration.zero
        /// Which timer is for `armedAt`; those before it have nothing to do any more.
        var timer: UInt64 = 0
        var isSyncing = false
        /// Another sync begins as soon as the one that is under way is through.
        var isDue = false
    }

    private let log: LogWriter?
    private let syncer: LogSyncer?
    private let condition: EngineCondition
    private let scheduling: any Scheduling
    private let isArmed = Atomic<Bool>(false)
    /// How many bytes may have been appended before writers wait for the next sync to begin.
    private let limitBytes = Atomic<UInt64>(IntervalSync.firstRoomBytes)
    private let state = Mutex(State())
    private let others = Mutex(Others())
    private let timers = Mutex(Timers())

    /// Timers for other intervals than the configured one.
    private struct Others {
        /// The oldest write that a timer waits for, and a batch from which on it is on disk.
        struct Oldest {
            let cameAt: ContinuousClock.Instant
            let sequence: UInt64
        }

        var armed: [Duration: Oldest] = [:]
        /// Those whose timers have run out, until they are on disk.
        var due: [Oldest] = []

        /// When the oldest of those came that are not on disk.
        func oldest(beyond durableSequence: UInt64) -> ContinuousClock.Instant? {
            (due + armed.values).filter { $0.sequence > durableSequence }.map(\.cameAt).min()
        }
    }

    /// The tasks that wait for an interval's end.
    private struct Timers {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastNumber: UInt64 = 0
    }

    init(
        log: LogWriter?, syncer: LogSyncer?, condition: EngineCondition,
        scheduling: any Scheduling
    ) {
        self.log = log
        self.syncer = syncer
        self.condition = condition
        self.scheduling = scheduling
    }

    /// A write was appended that has to be on disk within `duration`; `totalBytes` were appended in all.
    @inline(__always)
    func noteWrite(within duration: Duration, isUsual: Bool, totalBytes: UInt64) {
        if isUsual {
            if isArmed.load(ordering: .relaxed),
                totalBytes < limitBytes.load(ordering: .relaxed)
            {
                return
            }
            noteUsual(duration, totalBytes)
        } else {
            armOther(duration)
        }
    }

    @inline(never)
    private func noteUsual(_ duration: Duration, _ totalBytes: UInt64) {
        if !isArmed.exchange(true, ordering: .relaxed) {
            let (timer, lead) = state.withLock { state in
                state.armedAt = .now
                state.timer += 1
                return (state.timer, Self.lead(of: state.expected, interval: duration))
            }
            start(after: duration - lead) { [self] in
                let isMeant = state.withLock { $0.armedAt != nil && $0.timer == timer }
                if isMeant { await syncUsual(duration) }
            }
        }
        guard totalBytes >= limitBytes.load(ordering: .relaxed) else { return }
        condition.hold()
        let begins = state.withLock { state in
            defer { state.isDue = true }
            // One that has begun before anybody was held up sees it when it is through.
            return !state.isDue && !state.isSyncing
        }
        if begins { start(after: .zero) { [self] in await syncUsual(duration) } }
    }

    private func armOther(_ duration: Duration) {
        guard let log else { return }
        let isNew = others.withLock { others in
            let armed = others.armed[duration]
            // What the timer was set for may be on disk by another's sync.
            if armed == nil || armed!.sequence <= log.durableSequence {
                others.armed[duration] = .init(cameAt: .now, sequence: log.lastSequence)
            }
            return armed == nil
        }
        guard isNew else { return }
        start(after: duration) { [self] in
            others.withLock { others in
                others.due.removeAll { $0.sequence <= log.durableSequence }
                if let oldest = others.armed.removeValue(forKey: duration) {
                    others.due.append(oldest)
                }
            }
            // A failure poisons the workspace, which is how the next call learns of it.
            do { try await syncer?.sync() } catch {}
        }
    }

    private func start(after duration: Duration, _ body: @escaping @Sendable () async -> Void) {
        guard let syncer else { return }
        timers.withLock { timers in
            timers.lastNumber += 1
            let number = timers.lastNumber
            // On the syncer's own thread: writers that never pause may hold every thread of the pool,
            // and this has to be in time.
            timers.tasks[number] = Task.detached(
                executorPreference: syncer.taskExecutor, priority: .high
            ) { [self] in
                // Cancelled by `hurry` alone: to sync early is right.
                if duration > .zero {
                    let sleep = min(duration, Self.longestSleep)
                    do { try await scheduling.sleep(for: sleep) } catch {}
                }
                self.timers.withLock { $0.tasks[number] = nil }
                await body()
            }
        }
    }

    /// Nobody refers to the workspace any more: what waits for an interval's end, and keeps the directory and its lock
    /// as long, syncs now.
    func hurry() {
        for task in timers.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    /// Syncs, and again for as long as another sync is due at the end.
    private func syncUsual(_ interval: Duration) async {
        guard let log, let syncer else { return }
        let isOther = state.withLock { state in
            defer { state.isSyncing = true }
            if state.isSyncing { state.isDue = true }
            return state.isSyncing
        }
        if isOther { return }
        var isDue = true
        while isDue {
            let begin = scheduling.now
            let syncedBytes = state.withLock { state in
                isArmed.store(false, ordering: .sequentiallyConsistent)
                state.isDue = false
                state.syncedFrom = state.armedAt
                state.armedAt = nil
                let totalBytes = log.totalBytes
                defer { state.lastBeginBytes = totalBytes }
                limitBytes.store(totalBytes + state.roomBytes, ordering: .relaxed)
                return totalBytes - state.lastBeginBytes
            }
            condition.releaseHeld()
            // A failure poisons the workspace, which is how the next call learns of it.
            do { try await syncer.sync() } catch {}
            let duration = scheduling.now - begin
            isDue = state.withLock { state in
                state.syncedFrom = nil
                state.expected = max(duration, state.expected * 7 / 8)
                state.roomBytes = Self.room(
                    after: syncedBytes, in: duration, interval: interval, before: state.roomBytes)
                state.isSyncing = state.isDue
                return state.isDue
            }
        }
    }

    /// How long before an interval's end a sync begins, so that it is through by then. More would keep a slow disk
    /// with nothing but syncs.
    static func lead(of expected: Duration, interval: Duration) -> Duration {
        min(expected, interval / 4)
    }

    /// How many bytes a sync may have to bring to disk, after one of `syncedBytes` that took `duration`.
    static func room(
        after syncedBytes: UInt64, in duration: Duration, interval: Duration, before: UInt64
    ) -> UInt64 {
        let share = duration / (interval / 2)
        if share > 1 {
            // A small sync that took long says that the disk was late, and nothing of its rate.
            guard syncedBytes >= leastRoomBytes else { return before }
            return max(leastRoomBytes, min(before, UInt64(Double(syncedBytes) / share)))
        }
        // More only where it was used.
        return share < 0.5 && syncedBytes >= before / 2 ? min(before * 2, 1 << 40) : before
    }

    /// How long ago the oldest write came that is not on disk yet; `nil` where there is none.
    var oldestAge: Duration? {
        guard let log, log.durableSequence < log.lastSequence else { return nil }
        let usual = state.withLock { $0.syncedFrom ?? $0.armedAt }
        let other = others.withLock { $0.oldest(beyond: log.durableSequence) }
        return [usual, other].compactMap(\.self).min().map { $0.duration(to: .now) }
    }
}
