import Synchronization

/// The read views that are live, for the statistics.
final class LiveViews: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var begins: [UInt64: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// The identifier of a view that begins; views get them in the order in which they begin.
    func add() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.begins[state.lastID] = .now
            return state.lastID
        }
    }

    func remove(_ id: UInt64) { state.withLock { $0.begins[id] = nil } }

    var figures: (count: Int, oldestAge: Duration?) {
        state.withLock { state in
            (state.begins.count, state.begins.values.min().map { $0.duration(to: .now) })
        }
    }
}
