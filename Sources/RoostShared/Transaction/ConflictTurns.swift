import RoostIO
import Synchronization

/// The turns of those of this process that lost to others, so that they do not lose to each other again: one
/// after another, in the order in which they asked.
///
/// - `waiting` has a queue for each name whose turn somebody has.
final class ConflictTurns: Sendable {
    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [[UInt8]: [Waiter]] = [:]
        var number: UInt64 = 0
        /// Cancelled before they came into the queue.
        var cancelled: Set<UInt64> = []
    }

    private let state = Mutex(State())

    /// Waits for the turn of `name`. To be given back with `pass`.
    ///
    /// - Throws: `.cancelled`, and then there is nothing to give back.
    func take(_ name: [UInt8]) async throws {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return .failure(Self.cancelled) }
                    guard state.waiting[name] != nil else {
                        state.waiting[name] = []
                        return .success(())
                    }
                    state.waiting[name]?.append(
                        Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            cancel(number, name)
        }
        // A cancellation that came too late to be told to the queue.
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    func pass(_ name: [UInt8]) {
        let next: Waiter? = state.withLock { state in
            guard var queue = state.waiting[name], !queue.isEmpty else {
                state.waiting[name] = nil
                return nil
            }
            let next = queue.removeFirst()
            state.waiting[name] = queue
            return next
        }
        next?.continuation.resume()
    }

    private func cancel(_ number: UInt64, _ name: [UInt8]) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiting[name]?.firstIndex(where: { $0.number == number })
            else {
                state.cancelled.insert(number)
                return nil
            }
            return state.waiting[name]?.remove(at: index)
        }
        waiter?.continuation.resume(throwing: Self.cancelled)
    }

    private static var cancelled: RoostError {
        RoostError(.cancelled, "the task was cancelled before the call took effect")
    }
}
