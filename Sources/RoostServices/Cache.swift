#if Services
    public import Logging
    public import Roost
    import Synchronization

    /// Values that are dear to make, kept for a time.
    ///
    /// - Of calls of one key that come while its value is made, one makes it and the others wait for it.
    /// - The value survives a restart. In files it is written with `.process`: what a power cut takes is made again.
    /// - Over a shared workspace each process finds what the others have made. Two of them may make a value at once; the
    ///   later one is kept.
    /// - A stored value that does not decode as `Value`, as one of another version of the service, counts as none.
    /// - `making` has the bytes of the keys whose values are being made by this object. Whoever added one removes it, or `remove`
    ///   does; storing a value begins only while its key stands there.
    /// - `storing` has the values that are being written, by the bytes of their keys, from that begin until the write is
    ///   over, whatever becomes of the key in `making` meanwhile: each `remove` waits for them, and no call of `value` joins
    ///   them there. There may be several of a key, as `remove` makes way for the next.
    public final class Cache<Value: Codable & Sendable>: Sendable {
        private struct State {
            var making: [[UInt8]: PendingValue<Value>] = [:]
            var storing: [[UInt8]: [PendingValue<Value>]] = [:]
        }

        private let values: any KeyValueDictionary
        /// Returns once a value is written. Tests hold it there.
        private let store: @Sendable (Value, _ key: String) async throws -> Void
        private let logger: Logger
        private let state = Mutex(State())

        /// - Parameters:
        ///   - workspace: A `Workspace`, or one that processes share.
        ///   - lifetime: How long a value is kept from when it was made.
        ///   - logger: Where it is said that a value could not be stored.
        public convenience init(
            _ workspace: some KeyValueWorkspace, dictionary: String = "cache",
            lifetime: Duration, logger: Logger = Logger(label: "roost")
        ) {
            let values = workspace.dictionary(dictionary)
            self.init(values, logger: logger) { value, key in
                try await workspace.transaction(durability: .process) { attempt in
                    try attempt.set(value, forKey: key, in: values, expiresIn: lifetime)
                }
            }
        }

        init(
            _ values: any KeyValueDictionary, logger: Logger,
            storing store: @escaping @Sendable (Value, _ key: String) async throws -> Void
        ) {
            self.values = values
            self.logger = logger
            self.store = store
        }

        /// The value of `key`; made by `make`, and kept for the lifetime, where there is none. What `make`
        /// throws, all who wait for it get, and nothing is kept. It runs in a task of its own: who
        /// waits may be cancelled, which throws `CancellationError`, and the others get their value.
        ///
        /// A value that was made and cannot be stored, as on a full disk, is returned all the same, and made again by
        /// the next call; the log says so. So is that of a key which is too long to be stored.
        ///
        /// - Throws: What `make` throws; `CancellationError`; what reading throws, but for `.decodingFailed`,
        ///   `.typeMismatch` and `.keyTooLarge`.
        public func value(
            forKey key: String, _ make: @escaping @Sendable () async throws -> Value
        ) async throws -> Value {
            if let value = try await storedValue(forKey: key) { return value }
            let pending = state.withLock { state in
                let bytes = Array(key.utf8)
                if let found = state.making[bytes] { return found }
                let pending = PendingValue<Value>()
                state.making[bytes] = pending
                Task { await fulfil(pending, forKey: key, make) }
                return pending
            }
            return try await pending.get()
        }

        /// Makes the next call make the value anew. A value that is being made meanwhile goes to those who wait for it
        /// already, and is not kept; one that another process is making is kept, once it is there.
        ///
        /// - Throws: `CancellationError`, and what `removeValue(forKey:)` of the workspace's dictionaries throws; the value
        ///   may still be there then.
        public func remove(_ key: String) async throws {
            for stored in oust(key) {
                // Who waits is cancelled, or the value is there: no value is stored whose making failed.
                _ = try await stored.get()
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
            state.withLock { if $0.making[bytes] === pending { $0.making[bytes] = nil } }
            pending.end(outcome)
        }

        private func made(
            _ pending: PendingValue<Value>, forKey key: String,
            _ make: @Sendable () async throws -> Value
        ) async throws -> Value {
            // Whoever made it may have been through between the look and the lock.
            if let value = try await storedValue(forKey: key) { return value }
            let value = try await make()
            let bytes = Array(key.utf8)
            let isWanted = state.withLock { state in
                guard state.making[bytes] === pending else { return false }
                state.storing[bytes, default: []].append(pending)
                return true
            }
            guard isWanted else { return value }
            do {
                try await store(value, key)
            } catch {
                // The value is as good as one that was stored, and whoever waits for it gets it.
                logger.warning(
                    "a value could not be stored in the cache",
                    metadata: [
                        "key": "\(key.cut(toBytes: Self.loggedKeyBytes))", "reason": "\(error)",
                    ])
            }
            state.withLock { state in
                let others = state.storing[bytes]?.filter { $0 !== pending } ?? []
                state.storing[bytes] = others.isEmpty ? nil : others
            }
            return value
        }

        /// So much of a key is logged.
        private static var loggedKeyBytes: Int { 128 }

        /// What is stored; `nil` also where it does not decode, and where no value can have the key.
        private func storedValue(forKey key: String) async throws -> Value? {
            do {
                return try await values.load(key, as: Value.self)
            } catch let error as RoostError
                where [.decodingFailed, .typeMismatch, .keyTooLarge].contains(error.code)
            {
                return nil
            }
        }

        /// Takes the key from whoever makes its value, which is not stored then; those that are being stored already.
        private func oust(_ key: String) -> [PendingValue<Value>] {
            state.withLock { state in
                let bytes = Array(key.utf8)
                state.making[bytes] = nil
                return state.storing[bytes] ?? []
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
