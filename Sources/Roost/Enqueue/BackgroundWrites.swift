import Synchronization

/// Writes that a call has taken and a task makes afterwards: what is synchronized or closed waits for those that were
/// taken before.
final class BackgroundWrites: Sendable {
    private struct State {
        var lastNumber: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Begins a task that writes.
    func begin(_ write: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task.detached { [self] in
                await write()
                _ = self.state.withLock { $0.tasks.removeValue(forKey: number) }
            }
            state.tasks[number] = task
            return task
        }
    }

    /// Returns once all that were begun until now have ended.
    func made() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
