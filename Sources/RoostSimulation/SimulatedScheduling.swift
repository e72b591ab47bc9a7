import RoostIO
import Synchronization

/// One thread and a clock of its own for all of a simulated machine: what runs next, and when a
/// timer ends, is drawn from random numbers, and so is the same again for the same seed.
///
/// - Time stands still while anything can run, but for timers that a draw lets end early in the
///   course of things.
/// - What is run must be run on `executor`; nothing of it may wait for another thread.
package final class SimulatedScheduling: Scheduling {
    private let core: Core
    private let thread: WorkerThread

    package init(seed: UInt64) {
        core = Core(seed: seed)
        thread = WorkerThread(name: "roost-simulation", order: core)
    }

    package var executor: WorkerTaskExecutor { thread.forTasks }
    package var taskExecutor: (any TaskExecutor)? { executor }

    package func thread(named name: String) -> WorkerThread { WorkerThread(sharing: thread) }
    package func backgroundThread(named name: String) -> WorkerThread { thread(named: name) }

    package func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        let isOver = await withCheckedContinuation { core.add($0, sleepingFor: duration) }
        if isOver { throw CancellationError() }
    }

    /// Returns once nothing can run and no timer is left: all that was set off is done.
    package func waitUntilIdle() async {
        _ = await withCheckedContinuation { core.add($0, sleepingFor: nil) }
    }

    /// The time since the machine's begin.
    package var now: Duration { core.now }

    /// Runs `body` on the thread. Returns `nil` where it can never return, because everything in
    /// it waits for something else in it. To be called once; timers end with it.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) async -> Result? {
        let core = core
        let executor = executor
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result?, Never>) in
            let ending = Ending(continuation)
            Task.detached(executorPreference: executor) {
                core.begin { ending.end(with: nil) }
                ending.end(with: await body())
            }
        }
        core.finish()
        return result
    }
}

/// Resumes once.
private final class Ending<Result: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Result?, Never>?>

    init(_ continuation: CheckedContinuation<Result?, Never>) { waiting = Mutex(continuation) }

    func end(with result: Result?) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: result)
    }
}

private final class Core: JobOrder {
    /// Resumed with `true` where the simulation is over.
    typealias Sleep = CheckedContinuation<Bool, Never>

    fileprivate struct State {
        var random: SimulationRandom
        var now = Duration.zero
        /// Those without an end wait until nothing else is left.
        var sleepers: [(end: Duration?, sleep: Sleep)] = []
        var onHang: (@Sendable () -> Void)?
        var isOver = false
        /// How often nothing could run but for a timer to end.
        var idleCount = 0
    }

    private let state: Mutex<State>
    private static let idleLimit = 100_000

    init(seed: UInt64) { state = Mutex(State(random: SimulationRandom(seed: seed))) }

    var now: Duration { state.withLock { $0.now } }

    func begin(onHang: @escaping @Sendable () -> Void) { state.withLock { $0.onHang = onHang } }

    func finish() {
        let sleepers = state.withLock { state in
            defer { state.sleepers = [] }
            state.isOver = true
            state.onHang = nil
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.sleep.resume(returning: true) }
    }

    /// Without a duration, until nothing else is left.
    func add(_ sleep: Sleep, sleepingFor duration: Duration?) {
        let isOver = state.withLock { state in
            if !state.isOver { state.sleepers.append((duration.map { state.now + $0 }, sleep)) }
            return state.isOver
        }
        if isOver { sleep.resume(returning: true) }
    }

    func choose(among count: Int) -> Int {
        let (index, sleep) = state.withLock { state in
            let endsTimer = !state.sleepers.isEmpty && state.random.once(in: 200)
            return (state.random.below(count), endsTimer ? state.endNext(isIdle: false) : nil)
        }
        sleep?.resume(returning: false)
        return index
    }

    func goOnFromIdleness() -> Bool {
        let (sleep, onHang) = state.withLock { state in
            state.idleCount += 1
            let isStuck = state.idleCount > Self.idleLimit
            return (isStuck ? nil : state.endNext(isIdle: true), state.onHang)
        }
        sleep?.resume(returning: false)
        if sleep == nil { onHang?() }
        return sleep != nil
    }
}

extension Core.State {
    /// Lets the time pass until the next timer ends.
    fileprivate mutating func endNext(isIdle: Bool) -> Core.Sleep? {
        let timers = sleepers.indices.filter { sleepers[$0].end != nil }
        if let next = timers.min(by: { sleepers[$0].end! < sleepers[$1].end! }) {
            let sleeper = sleepers.remove(at: next)
            now = max(now, sleeper.end!)
            return sleeper.sleep
        }
        return isIdle && !sleepers.isEmpty ? sleepers.removeFirst().sleep : nil
    }
}
