import Foundation

/// Lets threads pass while it is open and holds them while it is closed.
///
/// `@unchecked Sendable`: every variable is touched under `condition` alone.
package final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = true
    private var waitingCount = 0
    private var arrivals: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func close() { condition.withLock { isOpen = false } }

    package func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    /// Called where threads are to be held; blocks, so not for the cooperative pool, whose threads are as many as the
    /// processors: where each of them waits for what another should run, nothing ever runs again. Who cannot keep from
    /// holding one gives a time `limit`, behind which it passes through the closed gate.
    package func pass(limit: TimeInterval? = nil) {
        let told = condition.withLock {
            waitingCount += 1
            defer { arrivals.removeAll() }
            return arrivals
        }
        for arrival in told { arrival.resume() }
        condition.withLock {
            let end = limit.map { Date(timeIntervalSinceNow: $0) }
            while !isOpen {
                guard let end else {
                    condition.wait()
                    continue
                }
                if !condition.wait(until: end) { break }
            }
            waitingCount -= 1
        }
    }

    /// Returns once a thread stands before the gate, which is closed.
    package func waitForArrival() async {
        await withCheckedContinuation { continuation in
            let hasArrived = condition.withLock {
                if waitingCount > 0 { return true }
                arrivals.append(continuation)
                return false
            }
            if hasArrived { continuation.resume() }
        }
    }
}
