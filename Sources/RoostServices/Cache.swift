#if Services
    public import Roost
    import Synchronization

    /// Values that are dear to make, kept for a time.
    ///
    /// - Of calls of one key that come while its value is made, one makes it and the others wait for it.
    /// - The value survives a restart. It is written with `.process`: what a power cut takes is made again.
    /// - `making` has the bytes of the keys whose values are being made by this object. Whoever added one removes it, or `remove`
    ///   does; a value is stored only while its key stands there, and `remove` waits for one that is being stored.
    public final class Cache<Value: Codable & Sendable>: Sendable {
        private struct Making {
            let value: PendingValue<Value>
            var isBeingStored = false
        }

        private let values: WorkspaceDictionary
        private let lifetime: Duration
        private let making = Mutex<[[UInt8]: Making]>([:])

        public init(_ workspace: Workspace, dictionary: String = "cache", lifetime: Duration) {
            values = workspace.dictionary(dictionary)
            self.lifetime = lifetime
        }

        /// The value of `key`; made by `make`, and kept for the lifetime, where there is none. What `make`
        /// throws, all who wait for it get, and nothing is kept. It runs in a task of its own: who
        /// waits may be cancelled, which throws `CancellationError`, and the others get their value.
        public func value(
            forKey key: String, _ make: @escaping @Sendable () async throws -> Value
        ) async throws -> Value {
            if let value = try values.value(forKey: key, as: Value.self) { return value }
            let pending = making.withLock { making in
                let bytes = Array(key.utf8)
                if let found = making[bytes] { return found.value }
                let pending = PendingValue<Value>()
                making[bytes] = Making(value: pending)
                Task { await fulfil(pending, forKey: key, make) }
                return pending
            }
            return try await pending.get()
        }

        /// Makes the next call make the value anew. A value that is being made meanwhile goes to those who wait for it
        /// already, and is not kept.
        public func remove(_ key: String) async throws {
            if let stored = oust(key) {
                // It may fail as well: there is nothing to be removed then.
                _ = try? await stored.get()
                try Task.checkCancellation()
            }
            try await values.removeValue(forKey: key)
            // Who began meanwhile may have found the value that is gone now.
            _ = oust(key)
        }

        // MARK: Within

        private func fulfil(
            _ pending: PendingValue<Value>, forKey key: String,
            _ make: @Sendable () async throws -> Value
        ) async {
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await made(pending, forKey: key, make)) } catch {
                outcome = .failure(error)
            }
            let bytes = Array(key.utf8)
            making.withLock { if $0[bytes]?.value === pending { $0[bytes] = nil } }
            pending.end(outcome)
        }

        private func made(
            _ pending: PendingValue<Value>, forKey key: String,
            _ make: @Sendable () async throws -> Value
        ) async throws -> Value {
            // Whoever made it may have been through between the look and the lock.
            if let value = try values.value(forKey: key, as: Value.self) { return value }
            let value = try await make()
            let bytes = Array(key.utf8)
            let isWanted = making.withLock { making in
                guard making[bytes]?.value === pending else { return false }
                making[bytes]?.isBeingStored = true
                return true
            }
            if isWanted {
                try await values.set(value, forKey: key, expiresIn: lifetime, durability: .process)
            }
            return value
        }

        /// Takes the key from whoever makes its value, which is not stored then; what is being stored already is
        /// handed on.
        private func oust(_ key: String) -> PendingValue<Value>? {
            making.withLock { making in
                guard let ousted = making.removeValue(forKey: Array(key.utf8)),
                    ousted.isBeingStored
                else {
                    return nil
                }
                return ousted.value
            }
        }
    }

    /// A value that is being made, and who waits for it.
    ///
    /// - Whoever waits is resumed once: what is resumed is taken out under the mutex.
    private final class PendingValue<Value: Sendable>: Sendable {
        private struct State {
            var outcome: Result<Value, any Error>?
            var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
            var lastWaiter = 0
        }

        private let state = Mutex(State())

        func get() async throws -> Value {
            let number = state.withLock { state in
                state.lastWaiter += 1
                return state.lastWaiter
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { enter($0, number) }
            } onCancel: {
                let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
                waiter?.resume(throwing: CancellationError())
            }
        }

        private func enter(_ waiter: CheckedContinuation<Value, any Error>, _ number: Int) {
            let outcome = state.withLock { state -> Result<Value, any Error>? in
                // A task that was cancelled before has had its handler run.
                if Task.isCancelled { return .failure(CancellationError()) }
                if state.outcome == nil { state.waiters[number] = waiter }
                return state.outcome
            }
            if let outcome { waiter.resume(with: outcome) }
        }

        func end(_ outcome: Result<Value, any Error>) {
            let waiters = state.withLock { state in
                state.outcome = outcome
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume(with: outcome) }
        }
    }
#endif
