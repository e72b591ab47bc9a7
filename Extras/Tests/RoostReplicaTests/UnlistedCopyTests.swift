import Roost
import Testing

@testable import RoostReplica

/// A storage that takes objects and lists none, as one is that changes the prefix of what it takes, or lists them late.
@Suite(.timeLimit(.minutes(5))) struct UnlistedCopyTests {
    @Test func aCopyThatNobodyCouldRestoreIsNotMade() async throws {
        let workspace = try await Workspace.inMemory()
        let storage = UnlistingStorage(begin: .now + .seconds(1 << 30))
        let replica = try Replica(of: workspace, to: storage)
        try await workspace.dictionary("values").set(1, forKey: "a")
        let error = await #expect(throws: RoostError.self) { try await replica.waitUntilCopied() }
        #expect(error?.code == .io)
        #expect(error?.message.contains("does not list it") == true)
        await #expect(throws: RoostError.self) { try await replica.stop() }
        try await workspace.close()
    }

    @Test func aStorageThatListsLateIsAskedAgain() async throws {
        let workspace = try await Workspace.inMemory()
        let storage = UnlistingStorage(begin: .now + .milliseconds(1500))
        let replica = try Replica(of: workspace, to: storage)
        try await workspace.dictionary("values").set(1, forKey: "a")
        try await replica.waitUntilCopied()
        try await replica.end()
        try await workspace.close()
        try await withDirectory { path in
            try await Replica.restore(from: storage, to: "\(path)/r")
            let restored = try await Workspace.open(at: "\(path)/r")
            #expect(try restored.dictionary("values")["a", as: Int.self] == 1)
            try await restored.close()
        }
    }
}

/// Lists nothing before a moment.
private struct UnlistingStorage: ObjectStorage {
    let begin: ContinuousClock.Instant
    private let memory = MemoryStorage()

    init(begin: ContinuousClock.Instant) { self.begin = begin }

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
    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        ContinuousClock.now < begin ? [] : try await memory.list(prefix: prefix, after: name)
    }
    func delete(_ name: String) async throws { try await memory.delete(name) }
}
