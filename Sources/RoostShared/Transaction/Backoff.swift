import RoostIO

/// How long to wait before the next attempt: up to twice as long each time, by chance, so that many clients do
/// not come back at once.
public struct Backoff: Sendable {
    private var longest: Duration
    private let limit: Duration

    /// - Parameters:
    ///   - first: how long the first wait is at most.
    ///   - limit: how long any is at most.
    public init(first: Duration = .milliseconds(10), limit: Duration = .seconds(1)) {
        longest = first
        self.limit = limit
    }

    /// Of who lost to another writer, who is often there again at once: to wait much longer than that one takes would be to
    /// lose each time.
    static var ofConflicts: Backoff { Backoff(first: .milliseconds(2), limit: .milliseconds(32)) }

    /// How long to wait now.
    public mutating func next() -> Duration {
        defer { longest = min(longest * 2, limit) }
        return longest * Double.random(in: 0.5...1)
    }

    /// Waits, but not past `deadline`.
    ///
    /// - Throws: `.cancelled`.
    public mutating func wait(before deadline: ContinuousClock.Instant) async throws {
        let duration = min(next(), deadline - .now)
        guard duration > .zero else { return }
        do { try await Task.sleep(for: duration) } catch {
            throw RoostError(.cancelled, "the task was cancelled before the call took effect")
        }
    }
}
