import RoostIO
import Synchronization

/// Writes that a call has taken and a task makes afterwards: what is synchronized or closed waits for those that were
/// taken before.
final class BackgroundWrites: Sendable {
    private struct State {
        var lastNumber: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())
    private let closing = Atomic<Bool>(false)
    private let left = Atomic<Bool>(false)

    /// Whether the workspace is about to be closed, and waits for these writes.
    var isClosing: Bool { closing.load(ordering: .relaxed) }

    /// From here on a write that waits for something that others may put off for ever gives up.
    func beginClosing() { closing.store(true, ordering: .relaxed) }

    /// Whether nobody refers to the workspace any more: what nobody waits for ends then.
    var isLeft: Bool { left.load(ordering: .relaxed) }

    func noteLeft() { left.store(true, ordering: .relaxed) }

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

    /// What a write fails with that waits for an index which is taken away meanwhile.
    static var closedWhileIndexing: RoostError {
        RoostError(.closed, "the workspace is being closed, and an index was taken away")
    }

    /// Returns once all that were begun until now have ended.
    func made() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
