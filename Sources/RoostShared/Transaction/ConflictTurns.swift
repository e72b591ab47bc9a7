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
        /// Those that ask now, with why they ended where that was before they came into the queue.
        var asking: [UInt64: RoostError?] = [:]
    }

    private let state = Mutex(State())

    /// Waits for the turn of `name`. To be given back with `pass`.
    ///
    /// - Parameter deadline: how long it is waited for; for ever where it is `nil`.
    /// - Throws: `.cancelled`, or `.conflict` at the deadline, and then there is nothing to give back.
    func take(_ name: [UInt8], before deadline: ContinuousClock.Instant? = nil) async throws {
        let number = state.withLock { state in
            state.number += 1
            state.asking[state.number] = .some(nil)
            return state.number
        }
        let timer = deadline.map { deadline in
            Task {
                do { try await Task.sleep(until: deadline) } catch { return }
                self.end(number, name, Self.late)
            }
        }
        defer {
            timer?.cancel()
            state.withLock { _ = $0.asking.removeValue(forKey: number) }
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if let error = state.asking[number] ?? nil { return .failure(error) }
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
            end(number, name, Self.cancelled)
        }
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

    private func end(_ number: UInt64, _ name: [UInt8], _ error: RoostError) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiting[name]?.firstIndex(where: { $0.number == number })
            else {
                // One that has its turn, or has gone, is not asking any more.
                if state.asking[number] != nil { state.asking[number] = error }
                return nil
            }
            return state.waiting[name]?.remove(at: index)
        }
        waiter?.continuation.resume(throwing: error)
    }

    private static var cancelled: RoostError {
        RoostError(.cancelled, "the task was cancelled before the call took effect")
    }

    private static var late: RoostError {
        RoostError(
            .conflict, "other writers were first until the call's deadline; nothing is changed")
    }
}
