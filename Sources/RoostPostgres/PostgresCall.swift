#if Postgres
    import RoostIO
    import Synchronization

    /// One call of a session, of which there may be many behind one that takes long.
    ///
    /// - It is given up only while it waits: what has begun is waited for, as it says what became of it.
    final class PostgresCall: Sendable {
        private typealias Continuation = CheckedContinuation<PostgresRows, any Error>

        private enum State {
            case new
            case waiting(Continuation)
            case begun(Continuation)
            case over(any Error)
        }

        private let state = Mutex(State.new)

        /// Says whether it is to be begun: not where it was given up before it came to wait.
        func wait(_ continuation: CheckedContinuation<PostgresRows, any Error>) -> Bool {
            let error: (any Error)? = state.withLock { state in
                if case .over(let error) = state { return error }
                state = .waiting(continuation)
                return nil
            }
            if let error { continuation.resume(throwing: error) }
            return error == nil
        }

        /// Ends with what `body` makes of it, unless it was given up.
        func make(_ body: () throws -> PostgresRows) {
            let continuation: Continuation? = state.withLock { state in
                guard case .waiting(let continuation) = state else { return nil }
                state = .begun(continuation)
                return continuation
            }
            continuation?.resume(with: Result(catching: body))
        }

        /// Ends it where it has not begun.
        func giveUp(_ code: RoostError.Code, _ message: String) {
            let error = RoostError(code, message)
            let continuation: Continuation? = state.withLock { state in
                switch state {
                case .new:
                    state = .over(error)
                    return nil
                case .waiting(let continuation):
                    state = .over(error)
                    return continuation
                case .begun, .over: return nil
                }
            }
            continuation?.resume(throwing: error)
        }
    }

    extension PostgresSession {
        /// Runs one prepared statement, and again where it conflicts with another or the connection is lost.
        ///
        /// Its turn comes after the calls before it. Where these take all of its time, or its task is cancelled meanwhile,
        /// it ends without them.
        ///
        /// - Parameter mayRepeat: whether it may be run again where it is not known whether it was run.
        nonisolated func run(
            _ statement: PostgresStatement, _ parameters: [PostgresParameter],
            before deadline: ContinuousClock.Instant, mayRepeat: Bool, _ flag: CancellationFlag
        ) async throws -> PostgresRows {
            let call = PostgresCall()
            let number = deadlines.add(call, deadline)
            callCount.wrappingAdd(1, ordering: .relaxed)
            defer {
                deadlines.remove(number)
                callCount.wrappingSubtract(1, ordering: .relaxed)
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard call.wait(continuation) else { return }
                    // From its begin on the session's thread: no thread of the pool is woken for it.
                    Task(executorPreference: thread.forTasks) {
                        await self.make(
                            call, statement, parameters, before: deadline, mayRepeat: mayRepeat,
                            flag)
                    }
                }
            } onCancel: {
                call.giveUp(.cancelled, "the task was cancelled before the call took effect")
            }
        }

        /// Makes a call whose turn has come, unless it was given up.
        private func make(
            _ call: PostgresCall, _ statement: PostgresStatement,
            _ parameters: [PostgresParameter], before deadline: ContinuousClock.Instant,
            mayRepeat: Bool, _ flag: CancellationFlag
        ) {
            call.make {
                try runNow(statement, parameters, before: deadline, mayRepeat: mayRepeat, flag)
            }
        }
    }
#endif
