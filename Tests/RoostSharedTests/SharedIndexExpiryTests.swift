import Roost
import RoostShared
import RoostTestSupport
import Testing

/// Objects that expire, and indexes that were built by a client whose clock is ahead of another's.
@Suite struct SharedIndexExpiryTests {
    private func connect(
        _ engine: MemoryEngine, _ time: SettableTime
    ) async throws -> SharedRepository<Chore> {
        try await SharedWorkspace.connect(
            to: .memory(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(120), clock: .settable(time))
        ).repository(of: Chore.self)
    }

    /// An object that the building has passed by, as it had expired for that client, is still there for another: it has no
    /// entries, whatever its values are.
    @Test func whatABuildingTookForExpiredHasNoEntries() async throws {
        let engine = MemoryEngine(tellsTime: false)
        let (early, late) = (SettableTime(), SettableTime())
        let behind = try await connect(engine, early)
        let ahead = try await connect(engine, late)
        for (id, slug) in [(1, "a"), (2, "b")] {
            try await behind.dictionary.set(
                makeChore(id, slug: slug), forKey: id.key, expiresIn: .seconds(3600))
        }
        late.advance(by: .seconds(3601))
        try await ahead.buildIndexes()
        // It says nothing of the index, which is not built anew.
        try await behind.buildIndexes()

        // It stays from now on, and with all of its entries.
        try await behind.update(1) { $0?.priority = 5 }
        #expect(try await behind.where { $0.slug == "a" }.fetch().map(\.id) == [1])
        #expect(try await behind.where { $0.priority == 5 }.fetch().map(\.id) == [1])
        #expect(try await behind.where { $0.owner == "ada" }.count() == 1)
        // The value is free, and its entry is of who has taken it.
        try await ahead.save(makeChore(3, slug: "b"))
        try await behind.delete(2)
        #expect(try await ahead.where { $0.slug == "b" }.fetch().map(\.id) == [3])
        await behind.dictionary.workspace.close()
    }
}
