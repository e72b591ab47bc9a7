import RoostFormat
import RoostIO
import Synchronization

/// Calls those who show values once the earliest of these has expired: one timer for the workspace. What is
/// there is decided at each look, with or without it (docs/decisions/0018).
///
/// - One task sleeps, as long as anybody waits, until the earliest deadline. A later one that takes its place lets it
///   sleep on: it finds nothing to do when it wakes. An earlier one begins another.
/// - The time of day may be set while it sleeps, so that it looks again after `longestSleep` at the latest. It sleeps
///   longer and longer, up to `longestLook`, where the clock does not come nearer: such a clock stands or was set back.
/// - `state` is the last mutex in every order. Neither the clock is read nor anybody called under it.
package final class ExpiryTimer: Sendable {
    private struct State {
        var queue = DeadlineQueue<UInt64>()
        var calls: [UInt64: @Sendable () -> Void] = [:]
        var lastWaiter: UInt64 = 0
        /// Of the task that sleeps; others with another number end.
        var sleeper: UInt64 = 0
        var sleep: (until: Deadline, task: Task<Void, Never>)?
        var isEnded = false
    }

    private static let longestSleep = Duration.seconds(10)
    private static let longestLook = Duration.seconds(1)

    let clock: ExpiryClock
    private let scheduling: any Scheduling
    private let moves: ClockMoves?
    private let state = Mutex(State())

    init(_ clock: ExpiryClock, _ scheduling: any Scheduling, _ moves: ClockMoves?) {
        self.clock = clock
        self.scheduling = scheduling
        self.moves = moves
        moves?.add(ObjectIdentifier(self)) { [weak self] in self?.fire() }
    }

    deinit { stop() }

    /// Whether a task sleeps, for tests.
    package var isArmed: Bool { state.withLock { $0.sleep != nil } }

    /// Nobody is called any more, but by calls that are under way.
    func stop() {
        moves?.remove(ObjectIdentifier(self))
        let calls = state.withLock { state in
            state.isEnded = true
            state.queue.removeAll()
            arm(&state)
            defer { state.calls = [:] }
            return state.calls
        }
        withExtendedLifetime(calls) {}
    }

    // MARK: Waiting

    /// Somebody who may wait. `call` is called with no lock held, once for each deadline that was waited for.
    package func waiter(_ call: @escaping @Sendable () -> Void) -> ExpiryWaiter {
        let id = state.withLock { state in
            state.lastWaiter += 1
            if !state.isEnded { state.calls[state.lastWaiter] = call }
            return state.lastWaiter
        }
        return ExpiryWaiter(timer: self, id: id)
    }

    fileprivate func wait(until deadline: Deadline, _ id: UInt64) {
        state.withLock { state in
            if state.isEnded { return }
            state.queue.set(deadline, for: id)
            arm(&state)
        }
    }

    fileprivate func remove(_ id: UInt64) {
        let call = state.withLock { state in
            state.queue.remove(id)
            arm(&state)
            return state.calls.removeValue(forKey: id)
        }
        withExtendedLifetime(call) {}
    }

    // MARK: Sleeping

    /// Has a task sleep that wakes in time, where anybody waits.
    private func arm(_ state: inout State) {
        let earliest = state.queue.earliest()
        if let sleep = state.sleep {
            if earliest != .never, sleep.until <= earliest { return }
            sleep.task.cancel()
            state.sleep = nil
        }
        guard earliest != .never else { return }
        state.sleeper += 1
        let sleeper = state.sleeper
        let task = Task.detached(executorPreference: scheduling.taskExecutor) {
            await self.run(sleeper)
        }
        state.sleep = (earliest, task)
    }

    private func run(_ sleeper: UInt64) async {
        var seen = Deadline.never
        var leastSleep = Duration.milliseconds(1)
        while let deadline = nextDeadline(sleeper) {
            let remaining = clock.duration(until: deadline)
            guard remaining > .zero else { return fire(by: sleeper) }
            leastSleep =
                deadline == seen ? min(leastSleep * 2, Self.longestLook) : .milliseconds(1)
            seen = deadline
            // Cancelled where it is not needed any more, or another sleeps in its place.
            do {
                try await scheduling.sleep(for: min(max(remaining, leastSleep), Self.longestSleep))
            } catch { return }
        }
    }

    /// What the task has to wait for now; `nil` where it is at its end.
    private func nextDeadline(_ sleeper: UInt64) -> Deadline? {
        state.withLock { state in
            guard state.sleeper == sleeper, state.sleep != nil else { return nil }
            let earliest = state.queue.earliest()
            guard earliest != .never else {
                state.sleep = nil
                return nil
            }
            state.sleep?.until = earliest
            return earliest
        }
    }

    /// Calls those whose deadlines have come. A sleeper's last act: another sleeps for those who wait then, so that
    /// nobody cancels the task that the calls are made by.
    private func fire(by sleeper: UInt64? = nil) {
        guard state.withLock({ $0.queue.earliest() != .never }) else { return }
        let now = clock.milliseconds
        let calls = state.withLock { state in
            var calls: [@Sendable () -> Void] = []
            while let id = state.queue.popFirst(upTo: now) {
                if let call = state.calls[id] { calls.append(call) }
            }
            if sleeper == state.sleeper { state.sleep = nil }
            arm(&state)
            return calls
        }
        for call in calls { call() }
    }
}

/// Waits for one deadline at a time; the last reference ends that.
package final class ExpiryWaiter: Sendable {
    private let timer: ExpiryTimer
    private let id: UInt64

    fileprivate init(timer: ExpiryTimer, id: UInt64) {
        self.timer = timer
        self.id = id
    }

    deinit { timer.remove(id) }

    /// Waits for this deadline and no other; for none where it is `.never`. Its call may come before this returns.
    package func wait(until deadline: Deadline) { timer.wait(until: deadline, id) }
}
