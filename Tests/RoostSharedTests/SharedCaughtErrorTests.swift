import Roost
import RoostShared
import Testing

/// A call in a shared transaction that throws has changed nothing; a body that catches that has the rest committed.
@Suite struct SharedCaughtErrorTests {
    private func chores() async throws -> (SharedWorkspace, SharedRepository<Chore>) {
        let workspace = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine()), namespace: "test")
        let chores = workspace.repository(of: Chore.self)
        try await chores.buildIndexes()
        try await chores.saveAll((0..<5).map { makeChore($0) })
        return (workspace, chores)
    }

    @Test func aKeyThatIsTooLongLeavesTheRest() async throws {
        let (workspace, _) = try await chores()
        let values = workspace.dictionary("values")
        try await workspace.transaction { attempt in
            try attempt.set(1, forKey: "a", in: values)
            let error = #expect(throws: RoostError.self) {
                try attempt.set(2, forKey: String(repeating: "x", count: 65_537), in: values)
            }
            #expect(error?.code == .keyTooLarge)
        }
        #expect(try await workspace.dictionary("values", keys: String.self).keys == ["a"])
    }

    /// Taken values are found out behind entries of other indexes that were changed already.
    @Test func aTakenValueLeavesTheObjectsAndEntriesAsTheyWere() async throws {
        let (workspace, chores) = try await chores()
        try await workspace.transaction { attempt in
            try await attempt.save(makeChore(10), in: chores)
            // So that the values are known, and not taken for absent until the commit.
            for id in 0..<5 { _ = try await attempt.find(id, in: chores) }
            var taken = makeChore(1, slug: "s10")
            taken.priority = 77
            let error = await #expect(throws: RoostError.self) {
                try await attempt.save(taken, in: chores)
            }
            #expect(error?.code == .notUnique)
            let together = await #expect(throws: RoostError.self) {
                try await attempt.updateAll(chores.where { $0.priority >= 0 }) {
                    $0.priority = 88
                    $0.slug = "one for all"
                }
            }
            #expect(together?.code == .notUnique)
            try await attempt.save(makeChore(11, slug: "one for all"), in: chores)
        }
        #expect(try await chores.count == 7)
        #expect(try await chores.where { $0.priority == 77 }.fetch().isEmpty)
        #expect(try await chores.where { $0.priority == 88 }.fetch().isEmpty)
        #expect(try await chores.where { $0.slug == "s1" }.fetch().map(\.id) == [1])
        #expect(try await chores.where { $0.slug == "one for all" }.fetch().map(\.id) == [11])
        #expect(try await chores.where { $0.slug == "s10" }.fetch().map(\.id) == [10])
    }

    @Test func manyAreInsertedAndDeletedTogether() async throws {
        let (_, chores) = try await chores()
        for many in [[makeChore(7), makeChore(3)], [makeChore(7), makeChore(7)]] {
            let error = await #expect(throws: RoostError.self) { try await chores.insertAll(many) }
            #expect(error?.code == .alreadyExists)
        }
        #expect(try await chores.count == 5)
        try await chores.insertAll([makeChore(7), makeChore(8)])
        #expect(try await chores.deleteAll(ids: [7, 0, 99, 7]) == 2)
        #expect(try await chores.loadAll().map(\.id) == [1, 2, 3, 4, 8])
        #expect(try await chores.where { $0.slug == "s7" }.fetch().isEmpty)
    }
}
