#if Replica
    import Roost
    import Synchronization

    /// What a copier and its owners share: how it stands, who waits, and what it is asked for.
    ///
    /// - Whoever waits is resumed once: what is resumed is taken out under the mutex.
    final class CopyShared: Sendable {
        private struct Waiter {
            var sequence: UInt64
            var continuation: CheckedContinuation<Void, any Error>
        }

        private struct Requests {
            var waiters: [UInt64: Waiter] = [:]
            var lastWaiter: UInt64 = 0
            var isStopping = false
            /// Why nothing more is copied.
            var end: Result<Void, RoostError>?
            /// `nil` while nothing could be restored.
            var copiedSequence: UInt64?
            /// Somebody asked for a copy since the copier last looked.
            var isAsked = false
            /// What sleeps until there is something to do.
            var sleeper: Task<Void, Never>?
        }

        let status = Mutex(ReplicaStatus())
        private let requests = Mutex(Requests())

        // MARK: Owners

        func wait(through sequence: UInt64) async throws {
            let number = requests.withLock { requests in
                requests.lastWaiter += 1
                return requests.lastWaiter
            }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let waiter = Waiter(sequence: sequence, continuation: continuation)
                    enter(waiter, number)
                }
            } onCancel: {
                let waiter = requests.withLock { $0.waiters.removeValue(forKey: number) }
                waiter?.continuation.resume(throwing: Self.cancelled)
            }
        }

        private func enter(_ waiter: Waiter, _ number: UInt64) {
            let outcome = requests.withLock { requests -> Result<Void, RoostError>? in
                if let copied = requests.copiedSequence, copied >= waiter.sequence {
                    return .success(())
                }
                if let end = requests.end {
                    return .failure(end.failure ?? Self.stopped)
                }
                // A task that was cancelled before has had its handler run.
                if Task.isCancelled { return .failure(Self.cancelled) }
                requests.waiters[number] = waiter
                requests.isAsked = true
                requests.sleeper?.cancel()
                return nil
            }
            switch outcome {
            case nil: return
            case .success: waiter.continuation.resume()
            case .failure(let error): waiter.continuation.resume(throwing: error)
            }
        }

        private static var cancelled: RoostError {
            RoostError(.cancelled, "the task was cancelled while it waited for the copy")
        }

        private static var stopped: RoostError {
            RoostError(.closed, "the copying was stopped before all was copied")
        }

        func askToStop() {
            requests.withLock { requests in
                requests.isStopping = true
                requests.isAsked = true
                requests.sleeper?.cancel()
            }
        }

        /// - Throws: why nothing more is copied; `.cancelled` where the copier does not even end.
        func outcome() throws {
            guard let end = requests.withLock({ $0.end }) else {
                throw abandoned()
            }
            try end.get()
        }

        /// Says how far the copy is, and what kept it.
        func abandoned() -> RoostError {
            let status = status.withLock { $0 }
            let cause = status.trouble.map { ", as \($0)" } ?? ""
            return RoostError(
                .cancelled,
                "the copying was abandoned before all was copied: the storage has what came up to batch \(status.copiedSequence)\(cause)",
                cause: status.trouble)
        }

        // MARK: The copier

        var isStopping: Bool { requests.withLock { $0.isStopping } }

        /// Whether somebody has asked for a copy since the last such call. `look` looks what was committed.
        ///
        /// - The ask is taken before: one that comes meanwhile is of a batch that was perhaps not seen, and counts
        ///   for the next call.
        func takeAsk(before look: () -> Void) -> Bool {
            let isAsked = requests.withLock { requests in
                defer { requests.isAsked = false }
                return requests.isAsked
            }
            look()
            return isAsked
        }

        /// Sleeps until `duration` has passed, somebody asks, or the copier's task is cancelled.
        func sleep(for duration: Duration) async {
            let sleeper = Task { do { try await Task.sleep(for: duration) } catch {} }
            let isAsked = requests.withLock { requests in
                requests.sleeper = sleeper
                return requests.isAsked
            }
            if isAsked { sleeper.cancel() }
            await withTaskCancellationHandler {
                await sleeper.value
            } onCancel: {
                sleeper.cancel()
            }
            requests.withLock { $0.sleeper = nil }
        }

        /// Ends the sleep, if there is one.
        func wake() {
            requests.withLock { requests in
                requests.isAsked = true
                requests.sleeper?.cancel()
            }
        }

        /// Why the storage takes nothing; `nil` once it does.
        func note(_ trouble: RoostError?) { status.withLock { $0.trouble = trouble } }

        func noteCopied(through sequence: UInt64) {
            let served = requests.withLock { requests -> [Waiter] in
                requests.copiedSequence = sequence
                let served = requests.waiters.filter { $0.value.sequence <= sequence }
                for number in served.keys { requests.waiters[number] = nil }
                return Array(served.values)
            }
            for waiter in served { waiter.continuation.resume() }
        }

        /// Nothing more is copied.
        func end(_ outcome: Result<Void, RoostError>) {
            let left = requests.withLock { requests -> [Waiter] in
                requests.end = outcome
                defer { requests.waiters = [:] }
                return Array(requests.waiters.values)
            }
            status.withLock { status in
                if let failure = outcome.failure {
                    status.state = .failed(failure)
                } else {
                    status.state = .stopped
                }
            }
            for waiter in left {
                waiter.continuation.resume(throwing: outcome.failure ?? Self.stopped)
            }
        }
    }

    extension Result {
        fileprivate var failure: Failure? {
            if case .failure(let failure) = self { failure } else { nil }
        }
    }
#endif
