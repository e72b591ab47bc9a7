import RoostReplica

/// A storage in front of another one, which has what it does not say itself.
protocol ForwardingStorage: ObjectStorage {
    var base: any ObjectStorage { get }
}

extension ForwardingStorage {
    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        try await base.get(name, maximumSizeBytes: maximumSizeBytes)
    }
    func download(_ name: String, to receive: ([UInt8]) async throws -> Void) async throws -> Bool {
        try await base.download(name, to: receive)
    }
    func put(_ name: String, _ content: ObjectContent) async throws {
        try await base.put(name, content)
    }
    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        try await base.putIfAbsent(name, bytes)
    }
    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        try await base.list(prefix: prefix, after: name)
    }
    func delete(_ name: String) async throws { try await base.delete(name) }
}
