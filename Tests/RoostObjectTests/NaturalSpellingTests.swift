import Foundation
import Roost
import RoostTestSupport
import Testing

/// What is written without a look at the documentation, by who comes from Swift's collections and from other stores.
@Suite("Spellings that come to mind first") struct NaturalSpellingTests {
    enum Status: String, Codable { case draft, active, archived }

    struct Note: Codable, Identifiable, Equatable, Indexed {
        var id: Int
        var title: String
        var body: String?
        var status = Status.draft
        var tags: [String] = []
        var folder: Int?
        var link: URL?
        var cost = 0.5
        static var indexes: [Index<Note>] { [Index("link", \.link), Index("folder", \.folder)] }
    }

    private func repository() async throws -> Repository<Note> {
        let notes = try await Workspace.inMemory().repository(of: Note.self)
        try await notes.saveAll(
            (0..<40).map { id in
                Note(
                    id: id, title: "Note \(id)", body: id % 2 == 0 ? "BODY \(id)" : nil,
                    status: id % 3 == 0 ? .active : .archived, tags: id < 4 ? ["a\(id)", "b"] : [],
                    folder: id % 4 == 0 ? id : nil,
                    link: URL(string: id % 2 == 0 ? "/p?q=\(id)" : "http://a.b/\(id)")!
                )
            })
        try await notes.indexesBuilt()
        return notes
    }

    @Test("Arrays and sets are asked whether they contain a field") func containment() async throws
    {
        let notes = try await repository()
        let titles: Set = ["Note 3", "Note 5", "none"]
        #expect(try notes.where { ["Note 3", "Note 4"].contains($0.title) }.count() == 2)
        #expect(try notes.where { titles.contains($0.title) }.count() == 2)
        #expect(try notes.where { [.active, .draft].contains($0.status) }.count() == 14)
        #expect(try notes.where { ![Status.active].contains($0.status) }.count() == 26)
        let inFolders = notes.where { [4, 8, 9].contains($0.folder) }
        #expect(try inFolders.count() == 2)
        #expect(try inFolders.explain().hasPrefix("index \"folder\""))
        #expect(try notes.where { Set([4, 8, 9]).contains($0.folder) }.count() == 2)
        // Swift's own is what it was.
        #expect(["a"].contains("a") && titles.contains("none"))
    }

    @Test("Text is compared in lower case, and found as Foundation finds it") func text()
        async throws
    {
        let notes = try await repository()
        #expect(try notes.where { $0.title.lowercased() == "note 5" }.count() == 1)
        #expect(try notes.where { $0.title.uppercased().hasSuffix("E 5") }.count() == 1)
        #expect(try notes.where { $0.body.lowercased() == "body 6" }.count() == 1)
        #expect(try notes.where { $0.body.uppercased() == nil }.count() == 20)
        #expect(try notes.where { $0.title.localizedStandardContains("NOTE 1") }.count() == 11)
        #expect(
            try notes.where { $0.title.localizedCaseInsensitiveContains("nOTE 1") }.count() == 11)
        #expect(try notes.where { $0.body.localizedStandardContains("body 1") }.count() == 5)
    }

    @Test("Elements are asked by a closure") func elements() async throws {
        let notes = try await repository()
        #expect(try notes.where { $0.tags.contains { $0.hasSuffix("3") } }.count() == 1)
        #expect(try notes.where { $0.tags.allSatisfy { $0 == "b" } }.count() == 36)
        #expect(try notes.where { $0.tags.contains("b") }.count() == 4)
    }

    @Test("A partial index answers what asks for no more than its filter") func filterAlone()
        async throws
    {
        struct Task: Codable, Identifiable, Indexed {
            var id: Int
            var title: String
            var isPinned: Bool
            static var indexes: [Index<Task>] {
                [Index("pinned", \.title, where: { $0.isPinned })]
            }
        }
        let tasks = try await Workspace.inMemory().repository(of: Task.self)
        try await tasks.saveAll(
            (0..<300).map { Task(id: $0, title: "\($0)", isPinned: $0 % 50 == 0) })
        try await tasks.indexesBuilt()
        let pinned = tasks.where { $0.isPinned }
        #expect(
            try pinned.explain() == "index \"pinned\", isPinned = true: 6 entries, 6 objects read")
        #expect(try pinned.values(of: \.id) == [0, 50, 100, 150, 200, 250])
        #expect(try pinned.count() == 6 && tasks.where { !$0.isPinned }.count() == 294)
        #expect(try tasks.where { $0.isPinned && $0.id > 100 }.count() == 3)
    }

    @Test("A URL is a field of an index, told apart from one that is relative to another")
    func links()
        async throws
    {
        let notes = try await repository()
        let relative = URL(string: "/p?q=2", relativeTo: URL(string: "http://a.b"))!
        try await notes.save(Note(id: 100, title: "relative", link: relative))
        for link in [URL(string: "/p?q=2")!, relative, URL(string: "http://a.b/5")!] {
            let found = notes.where { $0.link == link }
            #expect(try found.explain().hasPrefix("index \"link\""))
            #expect(
                try found.values(of: \.id)
                    == notes.fetch().filter { $0.link == link }.map(\.id))
        }
    }

    @Test("A repository gives of all its objects what a query gives of some") func ofAll()
        async throws
    {
        let notes = try await repository()
        let workspace = notes.dictionary.workspace
        #expect(try notes.fetch() == notes.all.fetch())
        #expect(try notes.first() == notes[0])
        #expect(try notes.limit(3).fetch().count == 3)
        #expect(try notes.isEmpty == false)
        #expect(try notes.page(after: nil, limit: 7).items.count == 7)
        #expect(try notes.sum(of: \.cost) == 20)
        #expect(try notes.average(of: \.cost) == 0.5)
        #expect(try notes.max(of: \.folder) == 36)
        #expect(try notes.min(of: \.title) == "Note 0")
        var count = 0
        try notes.forEach { _ in count += 1 }
        #expect(count == 40)
        let seen = try workspace.read { view in try view.fetch(notes).count }
        let held = try await workspace.transaction { tx in try tx.fetch(notes).count }
        #expect(seen == 40 && held == 40)
        await MainActor.run { #expect(LiveQuery(notes).items.count == 40) }
        for await all in notes.updates() {
            #expect(all.count == 40)
            break
        }
        #expect(try await notes.deleteAll() == 40)
        #expect(try notes.isEmpty)
    }

    @Test("A workspace in memory is made without suspending too") func inMemoryAtOnce() throws {
        func make() throws -> Workspace { try Workspace(inMemory: .init()) }
        let settings = try make().dictionary("settings")
        settings.enqueue(1, forKey: "a")
        #expect(try settings["a", default: 0] == 1)
    }

    @Test("Limits, offsets and pages that a request brings never end the program") func limits()
        async throws
    {
        let notes = try await repository()
        #expect(try notes.limit(-1).fetch().isEmpty)
        #expect(try notes.all.offset(-3).count() == 40)
        #expect(try notes.limit(-1).page(after: nil, limit: 5).next == nil)
        for limit in [0, -7] {
            var cursor: PageCursor?
            var ids: [Int] = []
            repeat {
                let page = try notes.order(by: \.title).limit(9).page(after: cursor, limit: limit)
                ids += page.items.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(try ids == notes.order(by: \.title).limit(9).values(of: \.id))
        }
    }
}
