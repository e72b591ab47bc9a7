import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var title: String
    var stars = 0
}

extension Note: Indexed {
    static var indexes: [Index<Note>] { [Index("stars", \.stars)] }
}

private struct Named: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var name: String
}

extension Named: Indexed {
    static var indexes: [Index<Named>] { [Index("name", \.name, isUnique: true)] }
}

/// Queries over the objects of a device, by the repository of its local workspace.
@Suite(.timeLimit(.minutes(5))) struct SyncedIndexTests {
    private let engine = MemoryEngine()

    private func device<Item: Codable & Identifiable & Sendable>(
        _ type: Item.Type, _ local: Workspace
    ) async throws -> SyncedRepository<Item> where Item.ID: KeyRepresentable {
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        return SyncedRepository(of: type, in: local, with: shared)
    }

    @Test func whatIsChangedAndTakenKeepsTheIndexes() async throws {
        let (here, there) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        let notes = try await device(Note.self, here)
        let others = try await device(Note.self, there)
        let all = here.repository(of: Note.self)
        try await all.indexesBuilt()
        let starred = all.where { $0.stars >= 90 }
        func expect(_ ids: [Int]) throws {
            let plan = try starred.explain()
            #expect(plan.hasPrefix("index \"stars\""), "\(plan)")
            #expect(try starred.fetch().map(\.id).sorted() == ids)
        }
        for id in 0..<100 { try await notes.save(Note(id: id, title: "\(id)", stars: id)) }
        try expect(Array(90..<100))
        try await notes.update(5) { (note: inout Note) in note.stars = 95 }
        try await notes.delete(91)
        try expect([5, 90] + Array(92..<100))
        try await notes.synchronize()
        try await others.synchronize()
        try await others.update(6) { (note: inout Note) in note.stars = 96 }
        try await others.delete(92)
        try await others.save(Note(id: 200, title: "new", stars: 200))
        try await others.synchronize()
        #expect(try await notes.synchronize().takenCount == 3)
        try expect([5, 6, 90] + Array(93..<100) + [200])
        for workspace in [here, there] {
            #expect(try await workspace.verify().isSound)
            try await workspace.close()
        }
    }

    /// Each device keeps its own values unique, and takes what another has all the same.
    @Test func whatBreaksAUniqueIndexIsTakenAllTheSame() async throws {
        let (here, there) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        let notes = try await device(Named.self, here)
        let others = try await device(Named.self, there)
        let all = here.repository(of: Named.self)
        try await all.indexesBuilt()
        try await notes.save(Named(id: 1, name: "inbox"))
        try await others.save(Named(id: 2, name: "inbox"))
        try await others.synchronize()
        let report = try await notes.synchronize()
        #expect(report.sentCount == 1 && report.takenCount == 1)
        #expect(try all.where { $0.name == "inbox" }.fetch().map(\.id).sorted() == [1, 2])
        await #expect(throws: RoostError.self) { try await all.indexesBuilt() }
        // Both go on, and so does the index once the values are mended.
        try await others.synchronize()
        try await others.update(2) { (item: inout Named) in item.name = "other" }
        try await others.synchronize()
        #expect(try await notes.synchronize().takenCount == 1)
        try await all.reindex()
        let query = all.where { $0.name == "inbox" }
        #expect(try query.explain().hasPrefix("index \"name\"") && query.count() == 1)
        for workspace in [here, there] { try await workspace.close() }
    }
}
