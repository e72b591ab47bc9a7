import RoostIO
import Synchronization

/// What a task that several wait for returns; `nil` where that is not there by the deadline. The task goes on then, as it
/// does when one of those who wait is cancelled.
///
/// - Throws: what the task throws, `.cancelled`.
package func value<Value: Sendable>(
    of task: Task<Value, any Error>, before deadline: ContinuousClock.Instant
) async throws -> Value? {
    let waiter = Waiter<Value?>()
    let value = Task { waiter.end(await task.result.map { .some($0) }) }
    let timer = Task {
        do { try await Task.sleep(until: deadline) } catch { return }
        waiter.end(.success(nil))
    }
    defer {
        timer.cancel()
        value.cancel()
    }
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { waiter.wait($0) }
    } onCancel: {
        waiter.end(
            .failure(
                RoostError(.cancelled, "the task was cancelled before the call took effect")))
    }
}

/// One who waits for the first of several results.
private final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
    }

    private let state = Mutex(State.empty)

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let result: Result<Value, any Error>? = state.withLock { state in
            if case .ended(let result) = state { return result }
            state = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    func end(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .ended: return nil
            case .empty:
                state = .ended(result)
                return nil
            case .waiting(let continuation):
                state = .ended(result)
                return continuation
            }
        }
        continuation?.resume(with: result)
    }
}
