import Roost
import RoostShared
import RoostTestSupport
import Testing

/// Values that are to be unique, of many objects that one `saveAll` stores: what counts is how it ends.
@Suite struct SharedUniqueTogetherTests {
    private func chores() async throws -> SharedRepository<Chore> {
        let workspace = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine()), namespace: "test")
        let chores = workspace.repository(of: Chore.self)
        try await chores.buildIndexes()
        try await chores.saveAll((0..<10).map { makeChore($0) })
        return chores
    }

    private func holders(_ chores: SharedRepository<Chore>, of slug: String) async throws -> [Int] {
        try await chores.where { $0.slug == slug }.fetch().map(\.id)
    }

    private func expectRefused(_ body: () async throws -> Void) async {
        let error = await #expect(throws: RoostError.self) { try await body() }
        #expect(error?.code == .notUnique)
        #expect((error?.cause as? NotUnique)?.index == "slug")
    }

    @Test func objectsSwapValuesAndPassThemOn() async throws {
        let chores = try await chores()
        try await chores.saveAll([makeChore(1, slug: "s2"), makeChore(2, slug: "s1")])
        #expect(try await holders(chores, of: "s1") == [2])
        #expect(try await holders(chores, of: "s2") == [1])
        // Each takes the next one's, and the last a new one.
        try await chores.saveAll(
            (3..<8).map { makeChore($0, slug: "s\($0 + 1)") } + [makeChore(8, slug: "new")])
        #expect(try await holders(chores, of: "s4") == [3])
        #expect(try await holders(chores, of: "s8") == [7])
        #expect(try await holders(chores, of: "s3") == [])
        try await chores.save(makeChore(20, slug: "s3"))
    }

    @Test func ofSeveralObjectsWithOneIdentifierTheLastOnesValueIsTaken() async throws {
        let chores = try await chores()
        // 3 has the value of 4 for a while, which keeps it.
        try await chores.saveAll([
            makeChore(3, slug: "s4"), makeChore(3, slug: "other"), makeChore(20, slug: "s3"),
        ])
        #expect(try await holders(chores, of: "s4") == [4])
        #expect(try await holders(chores, of: "s3") == [20])
        #expect(try await holders(chores, of: "other") == [3])
    }

    @Test func whatTwoObjectsHaveAtTheEndIsRefusedAndNothingIsChanged() async throws {
        let chores = try await chores()
        let before = try await chores.loadAll()
        for many in [
            [makeChore(1, slug: "x"), makeChore(2, slug: "x")],
            [makeChore(1, slug: "s2"), makeChore(2, slug: "s3")], [makeChore(40, slug: "s5")],
        ] {
            await expectRefused { try await chores.saveAll(many) }
            #expect(try await chores.loadAll() == before)
        }
    }

    @Test func randomCallsSucceedJustWhereWhatTheyEndWithIsUnique() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let chores = try await chores()
        var model = Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, makeChore($0)) })
        var counts = (done: 0, refused: 0)
        for _ in 0..<300 {
            let many = (0..<random.below(6) + 1).map { _ in
                makeChore(random.below(12), slug: "s\(random.below(14))")
            }
            var after = model
            for chore in many { after[chore.id] = chore }
            let areUnique = Set(after.values.map(\.slug)).count == after.count
            do {
                try await chores.saveAll(many)
                #expect(areUnique, "seed \(seed)")
                model = after
                counts.done += 1
            } catch let error as RoostError where error.code == .notUnique {
                #expect(!areUnique, "seed \(seed)")
                counts.refused += 1
            }
            #expect(
                try await chores.loadAll() == model.values.sorted { $0.id < $1.id }, "seed \(seed)")
        }
        for number in 0..<14 {
            let wanted = model.values.filter { $0.slug == "s\(number)" }.map(\.id)
            #expect(try await holders(chores, of: "s\(number)") == wanted, "seed \(seed)")
        }
        #expect(counts.done > 0 && counts.refused > 0, "seed \(seed)")
    }
}
