import RoostIO
import Synchronization

/// What went wrong where no caller waits to hear of it.
///
/// - `unreported` is the first failed enqueued write that no `synchronize` or `close` has thrown.
package final class WriteFailures: Sendable {
    private struct State {
        var unreported: RoostError?
        var listeners: [UInt64: AsyncStream<RoostError>.Continuation] = [:]
        /// Those of them that hear of lost writes alone.
        var ofLostWrites: Set<UInt64> = []
        var lastListener: UInt64 = 0
        var isEnded = false
    }

    /// How many failures wait for a listener that does not read them; older ones are dropped.
    private static let bufferCount = 1000
    private let state = Mutex(State())

    package init() {}

    /// An enqueued write failed: told to all who listen, and to the next `synchronize`.
    package func noteLostWrite(_ failure: RoostError) {
        keep(failure)
        tellLostWrite(failure)
    }

    /// As `noteLostWrite`, of what was kept before.
    func tellLostWrite(_ failure: RoostError) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(failure) }
    }

    /// Only the next `synchronize` is told; `note` tells the others. For callers that hold a lock,
    /// with which nobody is to be woken.
    func keep(_ failure: RoostError) {
        state.withLock { $0.unreported = $0.unreported ?? failure }
    }

    /// Something else failed that nobody waits for: told to all who listen.
    package func note(_ failure: RoostError) {
        let listeners = state.withLock { state in
            state.listeners.filter { !state.ofLostWrites.contains($0.key) }.values
        }
        for listener in listeners { listener.yield(failure) }
    }

    /// Throws what was not thrown yet.
    func throwUnreported() throws {
        let failure = state.withLock { state in
            defer { state.unreported = nil }
            return state.unreported
        }
        if let failure { throw failure }
    }

    /// The failures from here on; ends with the workspace.
    package func listen() -> AsyncStream<RoostError> {
        listen(toLostWritesAlone: false, bufferCount: Self.bufferCount)
    }

    /// That enqueued writes were lost, from here on, the newest for several; ends with the workspace. For those who have
    /// shown such a write: whatever else fails, reading not least, has changed nothing that they show.
    package func listenToLostWrites() -> AsyncStream<RoostError> {
        listen(toLostWritesAlone: true, bufferCount: 1)
    }

    private func listen(
        toLostWritesAlone isOfLostWrites: Bool, bufferCount: Int
    ) -> AsyncStream<RoostError> {
        AsyncStream(bufferingPolicy: .bufferingNewest(bufferCount)) { continuation in
            let id = state.withLock { state -> UInt64? in
                if state.isEnded { return nil }
                state.lastListener += 1
                state.listeners[state.lastListener] = continuation
                if isOfLostWrites { state.ofLostWrites.insert(state.lastListener) }
                return state.lastListener
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { state in
                    state.listeners[id] = nil
                    state.ofLostWrites.remove(id)
                }
            }
        }
    }

    package func end() {
        let listeners = state.withLock { state in
            state.isEnded = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
