import RoostIO
import Synchronization

/// An engine that is connected to by the first call, and where nobody answers by each later one.
///
/// - Several calls wait for one attempt, which goes on where one of them gives it up.
/// - Nobody watches before something was read: a watcher that comes before is told to come again.
final class LazyEngine: SharedEngine {
    private enum State {
        case apart
        case connecting(Task<any SharedEngine, any Error>)
        case connected(any SharedEngine)
        case closed
    }

    private let connect: @Sendable (ContinuousClock.Instant) async throws -> any SharedEngine
    private let attemptLimit: Duration
    private let state = Mutex(State.apart)

    /// - Parameters:
    ///   - attemptLimit: how long one attempt may take, whoever waits for it.
    ///   - connect: connects, and looks at what is there.
    init(
        attemptLimit: Duration,
        _ connect: @escaping @Sendable (ContinuousClock.Instant) async throws -> any SharedEngine
    ) {
        self.attemptLimit = attemptLimit
        self.connect = connect
    }

    /// `nil` before it is connected, and after it was closed.
    var connected: (any SharedEngine)? {
        state.withLock { if case .connected(let engine) = $0 { engine } else { nil } }
    }

    /// Connects where it is not yet, and again until the deadline where nobody answers.
    func engine(before deadline: ContinuousClock.Instant) async throws -> any SharedEngine {
        if let connected { return connected }
        var backoff = Backoff()
        while true {
            do {
                guard let engine = try await value(of: try attempt(), before: deadline) else {
                    throw RoostError(.unavailable, "nobody answered until the call's deadline")
                }
                return engine
            } catch let error as RoostError where error.code == .unavailable {
                guard ContinuousClock.now < deadline else { throw error }
                try await backoff.wait(before: deadline)
            }
        }
    }

    private func attempt() throws -> Task<any SharedEngine, any Error> {
        try state.withLock { state in
            switch state {
            case .connected(let engine): return Task { engine }
            case .connecting(let task): return task
            case .closed: throw Self.closed
            case .apart:
                let task = Task { try await self.makeAttempt() }
                state = .connecting(task)
                return task
            }
        }
    }

    private func makeAttempt() async throws -> any SharedEngine {
        let result: Result<any SharedEngine, any Error>
        do {
            result = .success(try await connect(SharedWorkspace.end(of: attemptLimit)))
        } catch { result = .failure(error) }
        let isClosed = state.withLock { state in
            if case .closed = state { return true }
            if case .success(let engine) = result {
                state = .connected(engine)
            } else {
                state = .apart
            }
            return false
        }
        guard isClosed else { return try result.get() }
        if case .success(let engine) = result { await engine.close() }
        throw Self.closed
    }

    private static var closed: RoostError { RoostError(.closed, "the workspace was closed") }

    // MARK: Calls

    /// As if there were none before it is connected: a commit is looked at again then.
    var limits: SharedLimits {
        connected?.limits
            ?? SharedLimits(
                operationCount: .max / 4, commitSizeBytes: .max / 4, keySizeBytes: .max / 4)
    }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        try await engine(before: deadline).read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try await engine(before: deadline).commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        if let connected { return connected.watch(range, after: revision) }
        let (events, source) = SharedEvents.make()
        let isClosed = state.withLock { if case .closed = $0 { true } else { false } }
        source.end(
            isClosed ? Self.closed : RoostError(.unavailable, "nobody has answered yet"))
        return events
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine(before: deadline).clockMilliseconds(before: deadline)
    }

    func close() async {
        let before = state.withLock { state in
            defer { state = .closed }
            return state
        }
        switch before {
        case .apart, .closed: break
        case .connecting(let task): task.cancel()
        case .connected(let engine): await engine.close()
        }
    }
}
