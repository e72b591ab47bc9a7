#if Services
    public import Hummingbird
    public import Roost

    /// Hummingbird's store of keys and values, in a dictionary of a workspace: sessions, tokens, whatever is
    /// to survive a request and a restart.
    ///
    /// - `create` and `set` are atomic, among processes that share nothing but the workspace too.
    /// - Values that expire are gone by the workspace's clock; compaction removes them from the disk, or the engine
    ///   of a shared workspace does.
    public struct WorkspacePersistDriver: PersistDriver {
        private let workspace: any KeyValueWorkspace
        private let values: any KeyValueDictionary
        private let durability: Durability?

        /// - Parameters:
        ///   - workspace: A `Workspace`, or one that processes share.
        ///   - durability: What has survived when a call returns, where the workspace is in files; the workspace's where
        ///     it is `nil`.
        public init(
            _ workspace: some KeyValueWorkspace, dictionary: String = "persist",
            durability: Durability? = nil
        ) {
            self.workspace = workspace
            self.durability = durability
            values = workspace.dictionary(dictionary)
        }

        /// Stores a value under a key that has none, with the driver's durability. Throws
        /// `PersistError.duplicate`, with nothing changed, where the key has one; else as the workspace's `transaction`.
        public func create<Object: Codable & Sendable>(
            key: String, value: Object, expires: Duration?
        ) async throws {
            try await create(key, value, expires, in: workspace)
        }

        /// Sets the value of a key, with the driver's durability. Without `expires` the time stays that the
        /// value had left. Throws as the workspace's `transaction`.
        public func set<Object: Codable & Sendable>(
            key: String, value: Object, expires: Duration?
        ) async throws {
            try await set(key, value, expires, in: workspace)
        }

        /// The value of a key, or `nil`. Throws `PersistError.invalidConversion` where it is of another type;
        /// else as `load(_:as:)` of the workspace's dictionaries.
        public func get<Object: Codable & Sendable>(
            key: String, as type: Object.Type
        ) async throws -> Object? {
            try await converting { try await values.load(key, as: type) }
        }

        /// The value of a key and the time that it has left, `nil` where it stays. Throws as `get(key:as:)`.
        public func getWithTTL<Object: Codable & Sendable>(
            key: String, as type: Object.Type
        ) async throws -> (object: Object, ttl: Duration?)? {
            // One read, so that the time is that of the value.
            let entry = try await converting { try await values.loadEntry(key, as: type) }
            return entry.value.map { ($0, values.remainingTime(of: entry)) }
        }

        /// Removes a key; one without a value is no error. Throws as the workspace's `transaction`.
        public func remove(key: String) async throws { try await remove(key, in: workspace) }

        // MARK: Within

        private func create<Object: Codable & Sendable, Store: KeyValueWorkspace>(
            _ key: String, _ value: Object, _ expires: Duration?, in workspace: Store
        ) async throws {
            let values = workspace.dictionary(values.name)
            try await workspace.transaction(durability: durability) { attempt in
                if try await attempt.contains(key, in: values) { throw PersistError.duplicate }
                try attempt.set(value, forKey: key, in: values, expiresIn: expires)
            }
        }

        private func set<Object: Codable & Sendable, Store: KeyValueWorkspace>(
            _ key: String, _ value: Object, _ expires: Duration?, in workspace: Store
        ) async throws {
            let values = workspace.dictionary(values.name)
            try await workspace.transaction(durability: durability) { attempt in
                var duration = expires
                // The value that is there keeps the time that it has left.
                if duration == nil, try await attempt.contains(key, in: values) {
                    duration = try await values.remainingTime(forKey: key)
                }
                try attempt.set(value, forKey: key, in: values, expiresIn: duration)
            }
        }

        private func remove<Store: KeyValueWorkspace>(
            _ key: String, in workspace: Store
        ) async throws {
            let values = workspace.dictionary(values.name)
            try await workspace.transaction(durability: durability) { attempt in
                try attempt.removeValue(forKey: key, in: values)
            }
        }

        private func converting<Result>(_ read: () async throws -> Result) async throws -> Result {
            do { return try await read() } catch let error as RoostError
                where error.code == .typeMismatch || error.code == .decodingFailed
            {
                throw PersistError.invalidConversion
            }
        }
    }
#endif
