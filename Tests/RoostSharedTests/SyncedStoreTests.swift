import Roost
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostShared

/// A device that meets another store than the one it last exchanged with.
@Suite(.timeLimit(.minutes(5))) struct SyncedStoreTests {
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

    /// As by `roost copy`, which takes the store's name with it. A version there may be one that an object had before by
    /// chance.
    @Test(arguments: [false, true])
    func versionsOfACopiedStoreAreOthers(isChangedHere: Bool) async throws {
        let (from, to) = (MemoryEngine(), MemoryEngine())
        let first = try await SharedWorkspace.connect(to: .memory(from), namespace: "test")
        let second = try await SharedWorkspace.connect(to: .memory(to), namespace: "test")
        let locals = [try await Workspace.inMemory(), try await Workspace.inMemory()]
        // Later than what a copy begins with.
        for number in 0..<10 { try await first.dictionary("any").set(number, forKey: "n") }
        let editor = try await notes(locals[0], from)
        for id in [1, 2] { try await editor.save(Note(id: id, text: "1")) }
        _ = try await editor.synchronize()
        let late = try await notes(locals[1], from)
        #expect(try await late.synchronize().takenCount == 2)
        let version = try await first.dictionary("notes").loadEntry(1.key, as: Note.self).version
        try await editor.save(Note(id: 1, text: "2"))
        try await editor.delete(2)
        _ = try await editor.synchronize()
        if isChangedHere { try await late.save(Note(id: 1, text: "mine")) }

        let name = try await first.dictionary("notes/devices").load(".store", as: String.self)
        try await second.dictionary("notes/devices").set(try #require(name), forKey: ".store")
        while try await second.revision + 1 < version {
            try await second.dictionary("any").set(0, forKey: "n")
        }
        try await second.dictionary("notes").set(Note(id: 1, text: "2"), forKey: 1.key)
        let copied = try await second.dictionary("notes").loadEntry(1.key, as: Note.self).version
        #expect(copied == version)

        let moved = try await notes(locals[1], to)
        let report = try await moved.synchronize()
        #expect(report.resolutions.map(\.theirs?.text) == (isChangedHere ? ["2"] : []))
        let expected = [Note(id: 1, text: isChangedHere ? "mine" : "2")]
        #expect(try await moved.loadAll() == expected)
        #expect(try moved.waitingCount == 0)
        let again = try await moved.synchronize()
        #expect(again.takenCount == 0 && again.sentCount == 0)
        for local in locals { try await local.close() }
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
