#if Replica
    import Roost
    import Synchronization

    /// Objects in memory, for tests and previews: what is in it ends with its last reference.
    public final class MemoryStorage: ObjectStorage {
        private let objects = Mutex<[String: [UInt8]]>([:])

        /// An empty one.
        public init() {}

        /// The bytes of all objects.
        public var sizeBytes: UInt64 {
            objects.withLock { $0.values.reduce(0) { $0 + UInt64($1.count) } }
        }

        /// As of ``ObjectStorage``.
        public func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
            let bytes = objects.withLock { $0[name] }
            try checkSize(bytes?.count ?? 0, of: name, maximumSizeBytes)
            return bytes
        }

        /// As of ``ObjectStorage``.
        public func download(
            _ name: String, to receive: ([UInt8]) async throws -> Void
        ) async throws -> Bool {
            guard let bytes = objects.withLock({ $0[name] }) else { return false }
            try await receive(bytes)
            return true
        }

        /// As of ``ObjectStorage``.
        public func put(_ name: String, _ content: ObjectContent) async throws {
            let bytes = try await content.readAll()
            objects.withLock { $0[name] = bytes }
        }

        /// As of ``ObjectStorage``.
        public func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
            objects.withLock { objects in
                if objects[name] != nil { return false }
                objects[name] = bytes
                return true
            }
        }

        /// As of ``ObjectStorage``.
        public func list(prefix: String, after name: String?) async throws -> [StoredObject] {
            let found = objects.withLock { objects in
                objects.lazy.filter { entry in
                    entry.key.utf8.starts(with: prefix.utf8)
                        && name.map { isBefore($0, entry.key) } ?? true
                }.map { StoredObject(name: $0.key, sizeBytes: UInt64($0.value.count)) }
            }
            return Array(found.sorted { isBefore($0.name, $1.name) }.prefix(1000))
        }

        /// As of ``ObjectStorage``.
        public func delete(_ name: String) async throws {
            objects.withLock { _ = $0.removeValue(forKey: name) }
        }
    }

    /// The order of names: by their bytes.
    func isBefore(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    func checkSize(_ sizeBytes: Int, of name: String, _ maximumSizeBytes: Int) throws {
        guard sizeBytes <= maximumSizeBytes else {
            throw RoostError(
                .io, "the object has \(sizeBytes) bytes; up to \(maximumSizeBytes) were expected",
                file: name)
        }
    }
#endif
