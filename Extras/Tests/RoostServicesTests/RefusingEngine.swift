import Roost
import RoostShared
import Synchronization

/// An engine that does not answer as long as it is told not to: calls wait for their deadline. Or another is first at each
/// commit, or each takes its time.
final class RefusingEngine: SharedEngine {
    private let engine: MemoryEngine
    private let refusing = Mutex(false)
    private let conflicting = Mutex(false)
    private let commitDuration = Mutex(Duration.zero)

    init(_ engine: MemoryEngine) { self.engine = engine }

    func setRefusing(_ isRefusing: Bool) { refusing.withLock { $0 = isRefusing } }

    func setConflicting(_ isConflicting: Bool) { conflicting.withLock { $0 = isConflicting } }

    func setCommitDuration(_ duration: Duration) { commitDuration.withLock { $0 = duration } }

    var limits: SharedLimits { engine.limits }

    private func wait(before deadline: ContinuousClock.Instant) async throws {
        while refusing.withLock({ $0 }) {
            guard ContinuousClock.now < deadline else {
                throw RoostError(.unavailable, "nobody answers")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        try await wait(before: deadline)
        return try await engine.read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try await wait(before: deadline)
        if conflicting.withLock({ $0 }) { return .conflict }
        let duration = commitDuration.withLock { $0 }
        if duration > .zero { try await Task.sleep(for: duration) }
        return try await engine.commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        engine.watch(range, after: revision)
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    func close() async {}
}
