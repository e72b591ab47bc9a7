#if Postgres
    import RoostIO
    import Synchronization

    /// Whether the caller was cancelled, for a call that runs on another thread.
    final class CancellationFlag: Sendable {
        private let flag = Atomic<Bool>(false)

        var isSet: Bool { flag.load(ordering: .relaxed) }

        func set() { flag.store(true, ordering: .relaxed) }

        func check() throws {
            if isSet {
                throw RoostError(.cancelled, "the task was cancelled before the call took effect")
            }
        }

        /// Runs `body` with a flag that is set once the task is cancelled.
        static func with<Result: Sendable>(
            _ body: (CancellationFlag) async throws -> Result
        ) async throws -> Result {
            let flag = CancellationFlag()
            return try await withTaskCancellationHandler {
                try await body(flag)
            } onCancel: {
                flag.set()
            }
        }
    }
#endif
