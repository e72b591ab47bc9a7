import Roost
import Testing

@testable import RoostReplica

/// A storage that takes objects and lists none, as one is that changes the prefix of what it takes.
@Suite(.timeLimit(.minutes(5))) struct UnlistedCopyTests {
    @Test func aCopyThatNobodyCouldRestoreIsNotMade() async throws {
        let workspace = try await Workspace.inMemory()
        let storage = ListsNothing()
        let replica = try Replica(of: workspace, to: storage)
        try await workspace.dictionary("values").set(1, forKey: "a")
        let error = await #expect(throws: RoostError.self) { try await replica.waitUntilCopied() }
        #expect(error?.code == .io)
        #expect(error?.message.contains("does not list it") == true)
        await #expect(throws: RoostError.self) { try await replica.stop() }
        try await workspace.close()
    }
}

private struct ListsNothing: ObjectStorage {
    private let memory = MemoryStorage()

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        try await memory.get(name, maximumSizeBytes: maximumSizeBytes)
    }
    func download(
        _ name: String, to receive: ([UInt8]) async throws -> Void
    ) async throws -> Bool { try await memory.download(name, to: receive) }
    func put(_ name: String, _ content: ObjectContent) async throws {
        try await memory.put(name, content)
    }
    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        try await memory.putIfAbsent(name, bytes)
    }
    func list(prefix: String, after name: String?) async throws -> [StoredObject] { [] }
    func delete(_ name: String) async throws { try await memory.delete(name) }
}
