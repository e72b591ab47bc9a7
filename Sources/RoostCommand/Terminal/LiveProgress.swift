import Foundation
import Synchronization

/// A progress bar for work that tells how far it is from whatever thread, seldom, or not at all: a thread draws it,
/// so that it says at least how long the work has gone on. Shows nothing where a `ProgressBar` does not.
final class LiveProgress: Sendable {
    private struct State: Sendable {
        var bar: ProgressBar
        var isEnded = false
    }

    private let state: Mutex<State>
    private static let intervalMicroseconds: UInt32 = 200_000

    private init(_ bar: ProgressBar) { state = Mutex(State(bar: bar)) }

    func update(count: Int, fraction: Double?) {
        state.withLock { if !$0.isEnded { $0.bar.update(count: count, fraction: fraction) } }
    }

    /// Shows a bar while `body` runs, and takes it away after it.
    static func show<Result>(
        _ verb: String, unit: String = "records", _ body: (LiveProgress) throws -> Result
    ) rethrows -> Result {
        let progress = begin(verb, unit)
        defer { progress.end() }
        return try body(progress)
    }

    /// Shows a bar while `body` runs, and takes it away after it.
    nonisolated(nonsending) static func show<Result>(
        _ verb: String, unit: String = "records",
        _ body: nonisolated(nonsending) (LiveProgress) async throws -> Result
    ) async rethrows -> Result {
        let progress = begin(verb, unit)
        defer { progress.end() }
        return try await body(progress)
    }

    private static func begin(_ verb: String, _ unit: String) -> LiveProgress {
        let bar = ProgressBar(verb: verb, unit: unit)
        let progress = LiveProgress(bar)
        guard bar.isShown else { return progress }
        // A thread of its own: those of tasks may all be at work.
        Thread.detachNewThread {
            while progress.pulse() { usleep(Self.intervalMicroseconds) }
        }
        return progress
    }

    /// `false` after the end.
    private func pulse() -> Bool {
        state.withLock { state in
            if !state.isEnded { state.bar.pulse() }
            return !state.isEnded
        }
    }

    private func end() {
        state.withLock { state in
            state.isEnded = true
            state.bar.clear()
        }
    }
}
