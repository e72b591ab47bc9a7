import Roost
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostShared

/// A device that meets another store than the one it last exchanged with.
@Suite(.timeLimit(.minutes(2))) struct SyncedStoreTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: Int
        var text: String
    }

    private func notes(_ local: Workspace, _ engine: MemoryEngine) async throws
        -> SyncedRepository<Note>
    {
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        return SyncedRepository(of: Note.self, named: "notes", in: local, with: shared) { mine, _ in
            mine == nil ? .theirs : .mine
        }
    }

    @Test func whatAnEmptyStoreLacksIsSentToItAndNotRemovedHere() async throws {
        let local = try await Workspace.inMemory()
        let first = try await notes(local, MemoryEngine())
        for id in 0..<5 { try await first.save(Note(id: id, text: "\(id)")) }
        #expect(try await first.synchronize().sentCount == 5)
        try await first.delete(4)
        let engine = MemoryEngine()
        let second = try await notes(local, engine)
        let report = try await second.synchronize()
        #expect(report.sentCount == 4)
        #expect(report.resolutions.isEmpty)
        #expect(try await second.loadAll().map(\.id).sorted() == [0, 1, 2, 3])
        // Another device gets them, and the same store says nothing new.
        let other = try await notes(try await .inMemory(), engine)
        #expect(try await other.synchronize().takenCount == 4)
        let again = try await second.synchronize()
        #expect(again.sentCount == 0 && again.takenCount == 0)
        try await local.close()
    }

    @Test func anotherObjectOfTheSameVersionIsAConflict() async throws {
        let engines = [MemoryEngine(), MemoryEngine()]
        let local = try await Workspace.inMemory()
        let mine = try await notes(local, engines[0])
        try await mine.save(Note(id: 1, text: "mine"))
        _ = try await mine.synchronize()
        let theirs = try await notes(try await .inMemory(), engines[1])
        try await theirs.save(Note(id: 1, text: "theirs"))
        _ = try await theirs.synchronize()
        let moved = try await notes(local, engines[1])
        let report = try await moved.synchronize()
        #expect(report.resolutions.map(\.mine) == [Note(id: 1, text: "mine")])
        #expect(report.resolutions.map(\.theirs) == [Note(id: 1, text: "theirs")])
        _ = try await theirs.synchronize()
        #expect(try theirs.find(by: 1) == Note(id: 1, text: "mine"))
        #expect(try moved.find(by: 1) == Note(id: 1, text: "mine"))
        try await local.close()
    }

    /// Nobody removed what a store lacks that is empty; but what others removed goes.
    @Test func whatOthersRemoveOfTheSameStoreGoes() async throws {
        let engine = MemoryEngine()
        let local = try await Workspace.inMemory()
        let mine = try await notes(local, engine)
        for id in 0..<3 { try await mine.save(Note(id: id, text: "")) }
        _ = try await mine.synchronize()
        let other = try await notes(try await .inMemory(), engine)
        _ = try await other.synchronize()
        try await other.delete(1)
        _ = try await other.synchronize()
        #expect(try await mine.synchronize().takenCount == 1)
        #expect(try await mine.loadAll().map(\.id).sorted() == [0, 2])
        try await local.close()
    }
}
