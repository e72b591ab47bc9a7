import Foundation
import Roost
import RoostShared
import Testing

private struct Post: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var title: String
}

@Suite struct SharedRepositoryTests {
    @Test func objectsAreKeptUnderTheirIdentifiers() async throws {
        let workspace = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        let posts = workspace.repository(of: Post.self)
        let start = try await workspace.revision
        try await posts.saveAll([Post(id: -1, title: "a"), Post(id: 12, title: "b")])
        try await posts.insert(Post(id: 3, title: "c"))
        let error = await #expect(throws: RoostError.self) {
            try await posts.insert(Post(id: 3, title: "again"))
        }
        #expect(error?.code == .alreadyExists)
        #expect(try await posts.find(by: 12) == Post(id: 12, title: "b"))
        #expect(try await posts.loadAll().map(\.id) == [-1, 3, 12])
        let entry = try await posts.entry(of: 3)
        try await posts.update(3) { $0?.title = "changed" }
        let conflict = await #expect(throws: RoostError.self) {
            try await posts.replace(entry, with: Post(id: 3, title: "late"))
        }
        #expect(conflict?.code == .conflict)
        try await posts.delete(-1)
        #expect(try await posts.count == 2)

        var told: [String] = []
        for await change in posts.changes(since: start) {
            switch change {
            case .set(_, let post, _): told.append(post.title)
            case .removed: told.append("removed")
            default: Issue.record("\(change)")
            }
            if told.count == 5 { break }
        }
        #expect(told.sorted() == ["a", "b", "c", "changed", "removed"])
        #expect(told.suffix(3) == ["c", "changed", "removed"])
    }

    private struct Word: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var count = 0
    }

    private struct IndexedWord: Codable, Identifiable, Equatable, Sendable, Indexed {
        var id: String
        var count = 0
        static var indexes: [Index<IndexedWord>] { [Index("count", \.count)] }
    }

    private func conflict(_ body: () async throws -> Void) async {
        let error = await #expect(throws: RoostError.self) { try await body() }
        #expect(error?.code == .conflict)
    }

    /// It would stand under a key that no call for its identifier looks at.
    @Test func anUpdateLeavesAnObjectItsIdentifier() async throws {
        let workspace = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        let words = workspace.repository(of: Word.self)
        let indexed = workspace.repository(of: IndexedWord.self)
        try await indexed.buildIndexes()
        // Composed, and decomposed in what is to be refused: other bytes, and equal.
        let (id, equal) = ("caf\u{e9}", "cafe\u{301}")
        try await words.save(Word(id: id))
        try await indexed.save(IndexedWord(id: id))
        let entry = try await words.entry(of: id)
        let indexedEntry = try await indexed.entry(of: id)
        for other in ["tea", equal] {
            await conflict { _ = try await words.replace(entry, with: Word(id: other)) }
            await conflict {
                _ = try await indexed.replace(indexedEntry, with: IndexedWord(id: other))
            }
            await conflict { try await words.update(id) { $0?.id = other } }
            await conflict { try await words.update("new") { $0 = Word(id: other) } }
            await conflict { try await indexed.update(id) { $0?.id = other } }
            await conflict { try await indexed.update("new") { $0 = IndexedWord(id: other) } }
            await conflict { _ = try await indexed.all.updateAll { $0.id = other } }
        }
        #expect(try await words.loadAll() == [Word(id: id)])
        #expect(try await indexed.where { $0.count == 0 }.fetch() == [IndexedWord(id: id)])
        // One that stands under another key than its own is changed there.
        try await workspace.dictionary("Word").set(Word(id: "x"), forKey: "y")
        try await words.update("y") { $0?.count = 1 }
        #expect(try await words.find(by: "y") == Word(id: "x", count: 1))
        try await words.update("new") { $0 = Word(id: "new") }
        #expect(try await words.find(by: "new") == Word(id: "new"))
    }

    /// An object that has expired and is not removed yet is not there: it is not found, and another takes its place.
    @Test func whatHasExpiredIsInsertedAnew() async throws {
        let engine = MemoryEngine(tellsTime: false)
        let workspace = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        try await workspace.dictionary("Post").set(
            Post(id: 1, title: "old"), forKey: 1.key, expiresIn: .seconds(60))
        let later = try await SharedWorkspace.connect(
            to: .memory(engine), namespace: "test",
            configuration: .init(
                callDeadline: .seconds(120), clock: WallClock { Date.now.addingTimeInterval(120) }))
        let posts = later.repository(of: Post.self)
        #expect(try await posts.find(by: 1) == nil)
        try await posts.insert(Post(id: 1, title: "new"))
        #expect(try await workspace.repository(of: Post.self).find(by: 1)?.title == "new")
        let error = await #expect(throws: RoostError.self) {
            try await posts.insert(Post(id: 1, title: "again"))
        }
        #expect(error?.code == .alreadyExists)
    }

    /// What a workspace in files reads is what the shared one stored.
    @Test func valuesHaveTheFormOfTheEmbeddedOnes() async throws {
        let engine = MemoryEngine()
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        try await shared.repository(of: Post.self).save(Post(id: 7, title: "same"))
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("Post", in: local)
        #expect(try followed.value(forKey: 7.key, as: Post.self) == Post(id: 7, title: "same"))
    }
}
