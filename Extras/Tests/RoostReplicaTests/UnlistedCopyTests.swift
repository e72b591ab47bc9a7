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
private struct UnlistingStorage: ForwardingStorage {
    let begin: ContinuousClock.Instant
    let base: any ObjectStorage = MemoryStorage()

    init(begin: ContinuousClock.Instant) { self.begin = begin }

    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        ContinuousClock.now < begin ? [] : try await base.list(prefix: prefix, after: name)
    }
}
