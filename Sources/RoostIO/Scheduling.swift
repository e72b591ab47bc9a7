/// Threads and timers: the part of the seam to the operating system that decides what runs when.
/// A simulation gives its own, so that a run can be run again.
package protocol Scheduling: Sendable {
    /// The thread of an actor whose calls block.
    func thread(named name: String) -> WorkerThread
    /// A thread that gives way to others that have work.
    func backgroundThread(named name: String) -> WorkerThread
    /// What runs tasks that no actor claims; the cooperative pool where `nil`.
    var taskExecutor: (any TaskExecutor)? { get }
    /// Suspends for at least `duration`; throws where the task is cancelled meanwhile.
    func sleep(for duration: Duration) async throws
    /// The time since some moment.
    var now: Duration { get }
}

/// The real threads and the real time.
package struct SystemScheduling: Scheduling {
    package init() {}

    package func thread(named name: String) -> WorkerThread { WorkerThread(name: name) }
    package func backgroundThread(named name: String) -> WorkerThread {
        WorkerThread(name: name, isInBackground: true)
    }

    package var taskExecutor: (any TaskExecutor)? { nil }

    package func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }

    private static let begin = ContinuousClock.now
    package var now: Duration { Self.begin.duration(to: .now) }
}
