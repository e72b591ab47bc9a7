import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What indexes keep alive, what is declared after them, and what is written after a call has returned.
@Suite(.timeLimit(.minutes(5))) struct IndexLifetimeTests {
    private struct Post: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var number = 0
        static var indexes: [Index<Post>] { [Index("number", \.number)] }
    }

    private struct Reference { weak var workspace: Workspace? }

    private struct Note: Codable, Identifiable, Sendable, Indexed {
        static let workspace = Mutex<Workspace?>(nil)
        var id: Int
        var number = 0
        static var indexes: [Index<Note>] {
            _ = workspace.withLock { $0 }?.repository(of: Post.self)
            return [Index("number", \.number)]
        }
    }

    /// What a type declares is the program's own code, which may make what it needs when it is first asked.
    @Test func whatATypeDeclaresMayAskForAnotherRepository() async throws {
        let workspace = try await Workspace.inMemory()
        Note.workspace.withLock { $0 = workspace }
        defer { Note.workspace.withLock { $0 = nil } }
        let notes = workspace.repository(of: Note.self)
        try await notes.save(Note(id: 1, number: 7))
        try await notes.indexesBuilt()
        #expect(try notes.where { $0.number == 7 }.count() == 1)
        try await workspace.close()
    }

    /// As an older program has it.
    private struct PlainRating: Codable, Identifiable, Sendable {
        var id: Int
        var rank: Int?
    }

    private struct Rating: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int?
        static var indexes: [Index<Rating>] {
            [Index("high", \.id, where: { _ in Condition(#Predicate<Rating> { $0.rank! > 6 }) })]
        }
    }

    /// What a predicate cannot be asked of keeps an index from being built, and is changed and deleted as anything else.
    @Test func whatAnIndexsPredicateThrowsOfIsMended() async throws {
        let workspace = try await Workspace.inMemory()
        let plain = workspace.repository(of: PlainRating.self, named: "ratings")
        try await plain.saveAll([
            PlainRating(id: 1, rank: 9), PlainRating(id: 2), PlainRating(id: 3),
            PlainRating(id: 4), PlainRating(id: 5),
        ])
        let ratings = workspace.repository(of: Rating.self, named: "ratings")
        await #expect(throws: RoostError.self) { try await ratings.indexesBuilt() }
        try await ratings.update(2) { $0.rank = 7 }
        try await ratings.save(Rating(id: 3, rank: 1))
        try await ratings.delete(4)
        #expect(try await ratings.where { $0.rank == nil }.deleteAll() == 1)
        try await ratings.reindex()
        for state in try ratings.indexStates() { #expect(state.faults == []) }
        #expect(try ratings.all.fetch().map(\.id) == [1, 2, 3])
        try await workspace.close()
    }

    @Test(arguments: [true, false]) func aWorkspaceGoesThoughItHasIndexes(isClosed: Bool)
        async throws
    {
        try await withTemporaryDirectory { path in
            func use() async throws -> Reference {
                let workspace = try await Workspace.open(at: path)
                let posts = workspace.repository(of: Post.self)
                try await posts.save(Post(id: 1))
                try await posts.indexesBuilt()
                if isClosed { try await workspace.close() }
                return Reference(workspace: workspace)
            }
            let reference = try await use()
            let end = ContinuousClock.now + .seconds(60)
            while reference.workspace != nil, ContinuousClock.now < end { await Task.yield() }
            #expect(reference.workspace == nil)
            // Its lock goes with it, once its threads have ended.
            var opened: Workspace?
            while opened == nil {
                do { opened = try await Workspace.open(at: path) } catch let error as RoostError
                    where error.code == .locked && ContinuousClock.now < end
                {
                    await Task.yield()
                }
            }
            let again = try #require(opened)
            #expect(try await again.repository(of: Post.self).find(by: 1)?.number == 0)
            try await again.close()
        }
    }

    private struct Old: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
    }

    private struct User: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String
        var length: Int
        static var indexes: [Index<User>] {
            [Index("length", \.length), Index("name", \.name, isUnique: true)]
        }
    }

    @Test(arguments: [true, false])
    func aMigrationThatIsDeclaredLaterHasTheIndexesBuiltAnew(waits: Bool) async throws {
        try await withTemporaryDirectory { path in
            let before = try await Workspace.open(at: path)
            try await before.repository(of: Old.self, named: "User").saveAll(
                (0..<300).map { Old(id: $0, name: "n\($0)") })
            try await before.close()
            let workspace = try await Workspace.open(at: path)
            let users = workspace.repository(of: User.self)
            if waits { await #expect(throws: RoostError.self) { try await users.indexesBuilt() } }
            users.dictionary.migrating(from: Old.self, to: User.self, version: 2) {
                User(id: $0.id, name: $0.name, length: $0.name.utf8.count)
            }
            try await users.indexesBuilt()
            #expect(try users.where { $0.length == 2 }.count() == 10)
            let error = await #expect(throws: RoostError.self) {
                try await users.insert(User(id: 1000, name: "n7", length: 2))
            }
            #expect(error?.code == .notUnique)
            for state in try users.indexStates() { #expect(state.faults == []) }
            try await workspace.close()
        }
    }

    @MainActor @Test(arguments: [true, false])
    func whatAnObservedRepositoryHasTakenIsThereAfterTheClose(isSynchronized: Bool) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let items = ObservedRepository(workspace.repository(of: Post.self))
            for id in 0..<200 {
                guard case .success = items.add(Post(id: id, number: id)) else {
                    Issue.record("\(id) was not taken")
                    continue
                }
            }
            if isSynchronized {
                try await workspace.synchronize()
                #expect(try items.repository.count == 200)
            }
            try await workspace.close()
            guard case .failure(let error) = items.add(Post(id: 500)) else {
                Issue.record("a closed workspace takes an item")
                return
            }
            #expect(error.code == .closed)
            #expect(!items.items.contains { $0.id == 500 })
            let again = try await Workspace.open(at: path)
            #expect(try again.repository(of: Post.self).count == 200)
            try await again.close()
        }
    }
}
