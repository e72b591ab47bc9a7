import RoostIO
import Synchronization

/// Takes a transaction's places from it where it keeps others waiting for too long: its body may itself
/// wait for one of them, and then nothing else would end that.
///
/// - While `isArmed`, a task looks at `held` several times within the limit; it ends once there is none.
final class TurnWatch: Sendable {
    private struct Held {
        let end: ContinuousClock.Instant
        let places: [(shard: Shard, number: UInt64)]
    }

    private struct State {
        var held: [UInt64: Held] = [:]
        var lastNumber: UInt64 = 0
        var isArmed = false
    }

    private let state = Mutex(State())
    private let scheduling: any Scheduling
    private let executor: WorkerTaskExecutor?
    private let limit: Duration

    init(scheduling: any Scheduling, executor: WorkerTaskExecutor?, limit: Duration) {
        self.scheduling = scheduling
        self.executor = executor
        self.limit = limit
    }

    /// A transaction has its turn, of which the longest attempt took `longest`.
    func add(_ places: [(shard: Shard, number: UInt64)], longest: Duration) -> UInt64 {
        let end = ContinuousClock.now + max(limit, longest * 8)
        let (number, arms) = state.withLock { state in
            state.lastNumber += 1
            state.held[state.lastNumber] = Held(end: end, places: places)
            defer { state.isArmed = true }
            return (state.lastNumber, !state.isArmed)
        }
        // Not on the cooperative pool, all of whose threads the bodies may hold.
        if arms { Task.detached(executorPreference: executor) { [self] in await look() } }
        return number
    }

    /// `false` where the places were taken from it.
    func remove(_ number: UInt64) -> Bool {
        state.withLock { $0.held.removeValue(forKey: number) != nil }
    }

    private func look() async {
        while true {
            // Nothing cancels this task; were it to be, looking early is right.
            do { try await scheduling.sleep(for: limit / 4) } catch {}
            let now = ContinuousClock.now
            let (late, isOver) = state.withLock { state in
                let late = state.held.filter { $0.value.end <= now }
                for number in late.keys { state.held[number] = nil }
                if state.held.isEmpty { state.isArmed = false }
                return (late.values.map(\.places), state.held.isEmpty)
            }
            for places in late {
                for (shard, number) in places { shard.giveBack(number) }
            }
            if isOver { return }
        }
    }
}
