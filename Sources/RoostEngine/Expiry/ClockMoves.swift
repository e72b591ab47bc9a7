import Synchronization

/// Tells of each move of a clock that is set by hand: a timer would wait in real time for what has come already.
package final class ClockMoves: Sendable {
    private let calls = Mutex<[ObjectIdentifier: @Sendable () -> Void]>([:])

    package init() {}

    /// To be called after a move, with no lock held: those who are told read the clock, and more.
    package func tell() {
        for call in calls.withLock({ Array($0.values) }) { call() }
    }

    func add(_ owner: ObjectIdentifier, _ call: @escaping @Sendable () -> Void) {
        calls.withLock { $0[owner] = call }
    }

    func remove(_ owner: ObjectIdentifier) {
        let call = calls.withLock { $0.removeValue(forKey: owner) }
        withExtendedLifetime(call) {}
    }
}
