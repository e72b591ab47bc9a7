#if Postgres
    import Synchronization

    /// Gives up the calls of a session whose time is over before their turn has come: with one timer for all, as one for
    /// each would take as long as a quick call.
    ///
    /// - `waiting` has the calls that are not over. The timer ends at the earliest of their deadlines, or before.
    final class PostgresDeadlines: Sendable {
        private struct State {
            var waiting: [UInt64: (call: PostgresCall, deadline: ContinuousClock.Instant)] = [:]
            var lastNumber: UInt64 = 0
            var timer: (task: Task<Void, Never>, end: ContinuousClock.Instant)?
        }

        private let state = Mutex(State())

        deinit { state.withLock { $0.timer?.task.cancel() } }

        /// Returns the number by which the call is removed.
        func add(_ call: PostgresCall, _ deadline: ContinuousClock.Instant) -> UInt64 {
            state.withLock { state in
                state.lastNumber += 1
                state.waiting[state.lastNumber] = (call, deadline)
                if state.timer.map({ deadline < $0.end }) ?? true { setTimer(deadline, &state) }
                return state.lastNumber
            }
        }

        func remove(_ number: UInt64) {
            state.withLock { _ = $0.waiting.removeValue(forKey: number) }
        }

        private func setTimer(_ end: ContinuousClock.Instant, _ state: inout State) {
            state.timer?.task.cancel()
            let task = Task { [weak self] in
                do { try await Task.sleep(until: end) } catch { return }
                self?.giveUpOverdue()
            }
            state.timer = (task, end)
        }

        private func giveUpOverdue() {
            let overdue = state.withLock { state in
                state.timer = nil
                let now = ContinuousClock.now
                let overdue = state.waiting.filter { $0.value.deadline <= now }
                for number in overdue.keys { state.waiting[number] = nil }
                if let next = state.waiting.values.map(\.deadline).min() { setTimer(next, &state) }
                return overdue.values.map(\.call)
            }
            for call in overdue {
                call.giveUp(
                    .unavailable,
                    "PostgreSQL could not be asked in time: calls before it took all the time")
            }
        }
    }
#endif
