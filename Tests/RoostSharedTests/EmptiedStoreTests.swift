import Roost
import RoostIO
import RoostShared
import Testing

/// Clients go on in a store that somebody emptied, or set up anew in its place, and others find what they write.
@Suite struct EmptiedStoreTests {
    private let engine = MemoryEngine()

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(engine), namespace: "test")
    }

    private func empty(_ workspace: SharedWorkspace) async throws {
        let everything = SharedOperation.removeRange(workspace.connection.keys.everything)
        _ = try await engine.commit(
            SharedCommit(operations: [everything]), before: .now + .seconds(60))
    }

    /// A client that has written has marks that went with the rest, one that has only read has none yet.
    @Test(arguments: [true, false], [1, 9]) func whoConnectsLaterReadsWhatWasWrittenThen(
        hasWritten: Bool, writerCount: Int
    ) async throws {
        let client = try await connect()
        let values = client.dictionary("values")
        if hasWritten { try await values.set(0, forKey: "before") }
        try await empty(client)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<writerCount {
                group.addTask { try await values.set(number, forKey: "key \(number)") }
            }
            try await group.waitForAll()
        }
        let later = try await connect()
        #expect(try await later.dictionary("values").count == writerCount)
        #expect(try await later.dictionary("values").load("key 0", as: Int.self) == 0)
        try await later.dictionary("values").set(1, forKey: "later")
        #expect(try await values.load("later", as: Int.self) == 1)
    }

    @Test func transactionsAndConditionsMeetNoConflictThatIsNone() async throws {
        let (client, other) = (try await connect(), try await connect())
        let values = client.dictionary("values")
        let entry = try await values.loadEntry("a", as: Int.self)
        try await empty(client)
        // Nobody has written the key, before or since.
        try await values.replace(entry, with: 1)
        try await empty(client)
        let sum = try await other.transaction { attempt in
            let before = try await attempt.load("a", as: Int.self, in: other.dictionary("values"))
            try attempt.set((before ?? 0) + 2, forKey: "a", in: other.dictionary("values"))
            return before
        }
        #expect(sum == nil)
        #expect(try await connect().dictionary("values").load("a", as: Int.self) == 2)
        // And one that is a conflict stays one.
        await #expect(throws: RoostError.self) { try await values.replace(entry, with: 3) }
    }

    @Test func aNamespaceOfAnotherProgramIsRefused() async throws {
        let client = try await connect()
        try await empty(client)
        let key = client.connection.keys.start(of: "values") + [1]
        _ = try await engine.commit(
            SharedCommit(operations: [.put(key: key, value: [1], expiresIn: nil)]),
            before: .now + .seconds(60))
        let error = await #expect(throws: RoostError.self) { try await connect() }
        #expect(error?.code == .unsupportedVersion)
    }
}
