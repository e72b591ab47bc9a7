import Roost
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostShared

/// That an index whose code changed is built anew, as far as a sample of the objects tells.
@Suite struct SharedIndexSampleTests {
    /// Three versions of one type: what `code` computes changes, and then the closure in `where`.
    private struct Lower: Codable, Identifiable, Equatable, Sendable, Indexed {
        var id: Int
        var title: String
        var code: String { title.lowercased() }
        static var indexes: [Index<Lower>] {
            [
                Index("code", \.code), Index("title", \.title, isUnique: true),
                Index("some", \.id, where: { $0.satisfies { $0.id % 2 == 0 } }),
            ]
        }
    }

    private struct Upper: Codable, Identifiable, Equatable, Sendable, Indexed {
        var id: Int
        var title: String
        var code: String { title.uppercased() }
        static var indexes: [Index<Upper>] {
            [
                Index("code", \.code), Index("title", \.title, isUnique: true),
                Index("some", \.id, where: { $0.satisfies { $0.id % 3 == 0 } }),
            ]
        }
    }

    private let engine = MemoryEngine()

    private func withWorkspace(_ body: (SharedWorkspace) async throws -> Void) async throws {
        try await body(.connect(to: .memory(engine), namespace: "test"))
    }

    private func catalog(_ workspace: SharedWorkspace) async throws -> KnownCatalog {
        try await workspace.dictionary("notes").connection.readCatalog(
            of: "notes", before: .now + .seconds(60)
        ).known
    }

    private func entryCount(_ workspace: SharedWorkspace) async throws -> Int {
        let connection = workspace.dictionary("notes").connection
        return try await connection.read(
            SharedRead(connection.keys.entries(of: "notes"), limit: 10_000),
            before: .now + .seconds(60)
        ).records.count
    }

    @Test(arguments: [1, 3, 300])
    func anIndexWhoseCodeChangedIsBuiltAnew(count: Int) async throws {
        try await withWorkspace { workspace in
            let before = workspace.repository(of: Lower.self, named: "notes")
            for start in stride(from: 0, to: count, by: 20) {
                try await before.saveAll(
                    (start..<min(count, start + 20)).map { Lower(id: $0, title: "Title \($0)") })
            }
            try await before.buildIndexes()
            let first = try await catalog(workspace)
            let entries = try await entryCount(workspace)
            // It agrees: nothing is written.
            try await before.buildIndexes()
            #expect(try await catalog(workspace).revision == first.revision)

            let after = workspace.repository(of: Upper.self, named: "notes")
            try await after.buildIndexes()
            let second = try await catalog(workspace)
            #expect(second.catalog.indexes.map(\.isBuilt) == [true, true, true])
            for index in first.catalog.indexes {
                // A stored property's needs no look. Of one object both closures say the same.
                let stays = index.name == "title" || index.name == "some" && count == 1
                #expect(second.catalog.indexes.contains(index) == stays, "\(index.name)")
            }
            #expect(
                try await after.where { $0.code == "TITLE 0" }.fetch()
                    == [Upper(id: 0, title: "Title 0")])
            #expect(try await after.where { $0.code == "title 0" }.fetch().isEmpty)
            #expect(
                try await entryCount(workspace)
                    == entries - (count + 1) / 2 + (count + 2) / 3)
            try await after.buildIndexes()
            #expect(try await catalog(workspace).revision == second.revision)
        }
    }

    @Test func manyAtOnceBuildItAnewOnce() async throws {
        try await withWorkspace { workspace in
            let before = workspace.repository(of: Lower.self, named: "notes")
            try await before.saveAll((0..<100).map { Lower(id: $0, title: "Title \($0)") })
            try await before.buildIndexes()
            try await withThrowingTaskGroup { group in
                for _ in 0..<6 {
                    group.addTask {
                        let other = try await SharedWorkspace.connect(
                            to: .memory(engine), namespace: "test")
                        try await other.repository(of: Upper.self, named: "notes").buildIndexes()
                    }
                }
                try await group.waitForAll()
            }
            let after = workspace.repository(of: Upper.self, named: "notes")
            #expect(try await after.where { $0.code == "TITLE 70" }.fetch().map(\.id) == [70])
            let catalog = try await catalog(workspace).catalog
            #expect(catalog.indexes.map(\.isBuilt) == [true, true, true])
            #expect(try await entryCount(workspace) == 100 + 100 + 34)
        }
    }

    /// All is looked at as it was at one revision, which the engine gives up in the middle, again and again.
    @Test func whatIsCompactedWhileItIsLookedAtIsLookedAtAgain() async throws {
        let hooked = HookedEngine(engine)
        let workspace = try await SharedWorkspace.connect(to: .engine(hooked), namespace: "test")
        let before = workspace.repository(of: Lower.self, named: "notes")
        try await before.saveAll((0..<30).map { Lower(id: $0, title: "Title \($0)") })
        try await before.buildIndexes()
        let compactionCount = hooked.forgetRevisions(5)
        let after = workspace.repository(of: Upper.self, named: "notes")
        try await after.buildIndexes()
        #expect(compactionCount() == 5)
        #expect(try await after.where { $0.code == "TITLE 7" }.fetch().map(\.id) == [7])
    }

    /// One that is changed while its page is read each time: it is passed alone, and keeps no other from it.
    @Test func anObjectThatIsChangedAllTheTimeIsPassed() async throws {
        let hooked = HookedEngine(engine)
        let workspace = try await SharedWorkspace.connect(to: .engine(hooked), namespace: "test")
        let notes = workspace.repository(of: Lower.self, named: "notes")
        try await notes.saveAll((0..<30).map { Lower(id: $0, title: "Title \($0)") })
        let start = workspace.dictionary("notes").start
        let busy = start + Array(notes.key(of: 11).utf8)
        hooked.set {
            $0.commit = { [engine] commit in
                let objects = commit.guards.filter {
                    if case .key(let key, _) = $0 { key.starts(with: start) } else { false }
                }
                guard objects.count > 1 else { return nil }
                let page = try await engine.read(
                    SharedRead(SharedKeyRange(busy)), before: .now + .seconds(60))
                let puts = page.records.map {
                    SharedOperation.put(key: $0.key, value: $0.value, expiresIn: nil)
                }
                _ = try await engine.commit(
                    SharedCommit(operations: puts), before: .now + .seconds(60))
                return nil
            }
        }
        try await notes.buildIndexes()
        #expect(try await notes.where { $0.code == "title 11" }.fetch().map(\.id) == [11])
        #expect(try await notes.where { $0.code == "title 29" }.fetch().map(\.id) == [29])
        #expect(try await catalog(workspace).catalog.indexes.map(\.isBuilt) == [true, true, true])
    }

    /// What requires more than its successor: it cannot pass the last object.
    private struct Strict: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var title: String
        var extra: String
        var code: String { title.lowercased() }
        static var indexes: [Index<Strict>] { [Index("code", \.code)] }
    }

    private struct Lenient: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var title: String
        var extra: String?
        var code: String { title.uppercased() }
        static var indexes: [Index<Lenient>] { [Index("code", \.code)] }
    }

    @Test func oneThatAnotherDeclarationBeganIsBegunAnew() async throws {
        try await withWorkspace { workspace in
            let after = workspace.repository(of: Lenient.self, named: "notes")
            try await after.saveAll(
                (0..<100).map {
                    Lenient(id: $0, title: "Title \($0)", extra: $0 == 99 ? nil : "")
                })
            let before = workspace.repository(of: Strict.self, named: "notes")
            await #expect(throws: RoostError.self) { try await before.buildIndexes() }
            let begun = try await catalog(workspace).catalog.indexes
            #expect(begun.map(\.isBuilt) == [false])
            #expect(try await entryCount(workspace) > 0)
            try await after.buildIndexes()
            #expect(try await after.where { $0.code == "title 3" }.fetch().isEmpty)
            #expect(try await after.where { $0.code == "TITLE 3" }.fetch().map(\.id) == [3])
            #expect(try await entryCount(workspace) == 100)
        }
    }

    @Test func anObjectThatCannotBeReadSaysNothingOfTheIndex() async throws {
        try await withWorkspace { workspace in
            let before = workspace.repository(of: Lenient.self, named: "notes")
            try await before.saveAll(
                (0..<10).map { Lenient(id: $0, title: "Title \($0)", extra: nil) })
            try await before.buildIndexes()
            let first = try await catalog(workspace)
            let other = workspace.repository(of: Strict.self, named: "notes")
            try await other.buildIndexes()
            #expect(try await catalog(workspace).revision == first.revision)
        }
    }

    @Test func keysBetweenOthersAreInOrder() {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<1000 {
            let keys = (0..<2).map { _ in
                (0..<random.below(12)).map { _ in UInt8(random.below(4)) }
            }.sorted { $0.lexicographicallyPrecedes($1) }
            guard keys[0] != keys[1] else { continue }
            let between = (1...8).map {
                SharedIndexSample<Lower>.key(between: keys[0], keys[1], $0, of: 9)
            }
            #expect(between == between.sorted { $0.lexicographicallyPrecedes($1) })
            #expect(
                between.allSatisfy { $0 == keys[0] || $0.lexicographicallyPrecedes(keys[1]) },
                "\(keys): \(between)")
        }
    }
}
