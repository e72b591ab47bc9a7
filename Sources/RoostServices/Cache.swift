#if Services
    public import Roost
    import Synchronization

    /// Values that are dear to make, kept for a time.
    ///
    /// - Of calls of one key that come while its value is made, one makes it and the others wait for it.
    /// - The value survives a restart. It is written with `.process`: what a power cut takes is made again.
    /// - `making` has the keys whose values are being made by this object; whoever added one removes it.
    public final class Cache<Value: Codable & Sendable>: Sendable {
        private let values: WorkspaceDictionary
        private let lifetime: Duration
        private let making = Mutex<[String: Task<Value, any Error>]>([:])

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
            let task = making.withLock { making in
                if let task = making[key] { return task }
                let task = Task { [self] in
                    defer { self.making.withLock { _ = $0.removeValue(forKey: key) } }
                    // Whoever made it may have been through between the look and the lock.
                    if let value = try values.value(forKey: key, as: Value.self) { return value }
                    let value = try await make()
                    try await values.set(
                        value, forKey: key, expiresIn: lifetime, durability: .process)
                    return value
                }
                making[key] = task
                return task
            }
            let value = try await task.value
            try Task.checkCancellation()
            return value
        }

        /// Makes the next call make the value anew.
        public func remove(_ key: String) async throws { try await values.removeValue(forKey: key) }
    }
#endif
