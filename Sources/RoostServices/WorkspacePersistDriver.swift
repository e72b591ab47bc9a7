#if Services
    public import Hummingbird
    public import Roost

    /// Hummingbird's store of keys and values, in a dictionary of a workspace: sessions, tokens, whatever is
    /// to survive a request and a restart.
    ///
    /// - `create` and `set` are atomic, among processes that share nothing but the workspace too.
    /// - Values that expire are gone by the workspace's clock; compaction removes them from the disk.
    public struct WorkspacePersistDriver: PersistDriver {
        private let workspace: Workspace
        private let values: WorkspaceDictionary
        private let durability: Durability?

        /// - Parameter durability: What has survived when a call returns; the workspace's where it is `nil`.
        public init(
            _ workspace: Workspace, dictionary: String = "persist", durability: Durability? = nil
        ) {
            self.workspace = workspace
            self.durability = durability
            values = workspace.dictionary(dictionary)
        }

        /// Stores a value under a key that has none, with the driver's durability. Throws
        /// `PersistError.duplicate`, with nothing changed, where the key has one; else as
        /// `Workspace.transaction(durability:_:)`.
        public func create<Object: Codable & Sendable>(
            key: String, value: Object, expires: Duration?
        ) async throws {
            try await workspace.transaction(durability: durability) { transaction in
                if try transaction.contains(key, in: values) { throw PersistError.duplicate }
                try transaction.put(value, forKey: key, in: values, expiresIn: expires)
            }
        }

        /// Sets the value of a key, with the driver's durability. Without `expires` the time stays that the
        /// value had left. Throws as `Workspace.transaction(durability:_:)`.
        public func set<Object: Codable & Sendable>(
            key: String, value: Object, expires: Duration?
        ) async throws {
            if let expires {
                return try await values.set(
                    value, forKey: key, expiresIn: expires, durability: durability)
            }
            // The value that is there keeps the time that it has left.
            try await workspace.transaction(durability: durability) { transaction in
                let isThere = try transaction.contains(key, in: values)
                let remaining = isThere ? try values.remainingTime(forKey: key) : nil
                try transaction.put(value, forKey: key, in: values, expiresIn: remaining)
            }
        }

        /// The value of a key, or `nil`. Throws `PersistError.invalidConversion` where it is of another type;
        /// else as `load(_:as:)` of a `WorkspaceDictionary`.
        public func get<Object: Codable & Sendable>(
            key: String, as type: Object.Type
        ) async throws -> Object? {
            do { return try await values.load(key, as: type) } catch let error as RoostError
                where error.code == .typeMismatch || error.code == .decodingFailed
            {
                throw PersistError.invalidConversion
            }
        }

        /// The value of a key and the time that it has left, `nil` where it stays. Throws as `get(key:as:)`.
        public func getWithTTL<Object: Codable & Sendable>(
            key: String, as type: Object.Type
        ) async throws -> (object: Object, ttl: Duration?)? {
            do {
                // One read, so that the time is that of the value.
                let entry = try values.entry(forKey: key, as: type)
                guard let object = entry.value else { return nil }
                return (object, values.remainingTime(of: entry))
            } catch let error as RoostError
                where error.code == .typeMismatch || error.code == .decodingFailed
            {
                throw PersistError.invalidConversion
            }
        }

        /// Removes a key; one without a value is no error. Throws as `removeValue(forKey:durability:)` of a
        /// `WorkspaceDictionary`.
        public func remove(key: String) async throws {
            try await values.removeValue(forKey: key, durability: durability)
        }
    }

    extension Transaction {
        /// With no time, a value that stays.
        fileprivate mutating func put<Value: Codable & Sendable>(
            _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary,
            expiresIn duration: Duration?
        ) throws {
            if let duration {
                try set(value, forKey: key, in: dictionary, expiresIn: duration)
            } else {
                try set(value, forKey: key, in: dictionary)
            }
        }
    }
#endif
