import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostShared

/// Devices that exchanged with one store and meet another: which of them has the later state.
@Suite(.timeLimit(.minutes(2))) struct SyncedOriginTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
    }

    private func notes(
        _ local: Workspace, _ engine: any SharedEngine
    ) async throws -> SyncedRepository<Note> {
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        return SyncedRepository(of: Note.self, named: "notes", in: local, with: shared)
    }

    /// Two devices, each of which has the objects from one store.
    private func devices(
        _ ids: [String], _ engine: any SharedEngine = MemoryEngine()
    ) async throws -> [Workspace] {
        let locals = [try await Workspace.inMemory(), try await Workspace.inMemory()]
        let first = try await notes(locals[0], engine)
        for id in ids { try await first.save(Note(id: id, text: "1")) }
        _ = try await first.synchronize()
        _ = try await notes(locals[1], engine).synchronize()
        return locals
    }

    /// All exchange, in this order and once more; returns what any of them reports.
    private func exchange(
        _ devices: [SyncedRepository<Note>]
    ) async throws -> [SyncedRepository<Note>.Resolution] {
        var resolutions: [SyncedRepository<Note>.Resolution] = []
        for device in devices + devices {
            resolutions += try await device.synchronize().resolutions
        }
        return resolutions
    }

    private func close(_ locals: [Workspace]) async throws {
        for local in locals { try await local.close() }
    }

    /// A device that changed nothing has nothing to say against the edit that it did not hear of in time.
    @Test(arguments: [false, true])
    func anUnchangedCopyDoesNotReplaceALaterEdit(isStaleFirst: Bool) async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["x"], engine)
        let editor = try await notes(locals[0], engine)
        try await editor.save(Note(id: "x", text: "2"))
        _ = try await editor.synchronize()

        let other = MemoryEngine()
        let moved = [try await notes(locals[0], other), try await notes(locals[1], other)]
        #expect(try await exchange(isStaleFirst ? moved.reversed() : moved).isEmpty)
        for device in moved { #expect(try device.find(by: "x")?.text == "2") }
        // From then on it is an object as any other.
        try await moved[1].save(Note(id: "x", text: "3"))
        #expect(try await exchange([moved[1], moved[0]]).isEmpty)
        #expect(try moved[0].find(by: "x")?.text == "3")
        try await close(locals)
    }

    /// One edits, unsent as the store is lost; the other has what that is based on.
    @Test(arguments: [false, true])
    func anEditThatWaitsReplacesWhatItIsBasedOn(isStaleFirst: Bool) async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["x", "y"], engine)
        let editor = try await notes(locals[0], engine)
        try await editor.save(Note(id: "x", text: "2"))
        try await editor.delete("y")

        let other = MemoryEngine()
        let moved = [try await notes(locals[0], other), try await notes(locals[1], other)]
        #expect(try await exchange(isStaleFirst ? moved.reversed() : moved).isEmpty)
        for device in moved {
            #expect(try await device.loadAll() == [Note(id: "x", text: "2")])
            #expect(try device.waitingCount == 0)
        }
        try await close(locals)
    }

    /// What was edited or removed in the new store before the other device came there.
    @Test func whatWasDoneInTheNewStoreIsTaken() async throws {
        let locals = try await devices(["x", "y", "z"])
        let other = MemoryEngine()
        let moved = [try await notes(locals[0], other), try await notes(locals[1], other)]
        _ = try await moved[0].synchronize()
        try await moved[0].save(Note(id: "x", text: "2"))
        try await moved[0].delete("y")
        _ = try await moved[0].synchronize()
        let report = try await moved[1].synchronize()
        #expect(report.resolutions.isEmpty)
        #expect(report.takenCount == 2)
        #expect(report.sentCount == 0)
        let expected = [Note(id: "x", text: "2"), Note(id: "z", text: "1")]
        #expect(try await moved[1].loadAll() == expected)
        #expect(try await exchange(moved).isEmpty)
        #expect(try await moved[0].loadAll() == expected)
        try await close(locals)
    }

    /// What both have, one sends.
    @Test func equalObjectsAreNotSentAgain() async throws {
        let ids = (0..<20).map { "n\($0)" }
        let locals = try await devices(ids)
        let other = MemoryEngine()
        #expect(try await notes(locals[0], other).synchronize().sentCount == 20)
        let report = try await notes(locals[1], other).synchronize()
        #expect(report.sentCount == 0 && report.takenCount == 0)
        #expect(report.resolutions.isEmpty)
        // Nobody knows where those come from that a third store has, but they are the same.
        let third = MemoryEngine()
        let stranger = try await notes(try await .inMemory(), third)
        for id in ids { try await stranger.save(Note(id: id, text: "1")) }
        _ = try await stranger.synchronize()
        let again = try await notes(locals[1], third).synchronize()
        #expect(again.sentCount == 0 && again.resolutions.isEmpty)
        try await close(locals)
    }

    @Test(arguments: [false, true])
    func whatBothChangedIsAConflict(isSentBefore: Bool) async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["x"], engine)
        let before = [try await notes(locals[0], engine), try await notes(locals[1], engine)]
        try await before[0].save(Note(id: "x", text: "one"))
        if isSentBefore { _ = try await before[0].synchronize() }
        let other = MemoryEngine()
        let moved = [try await notes(locals[0], other), try await notes(locals[1], other)]
        _ = try await moved[0].synchronize()
        // It meets the new store with this change, or makes it while the object waits to be sent there.
        try await before[1].save(Note(id: "x", text: "two"))
        let resolutions = try await exchange([moved[1], moved[0]])
        #expect(resolutions.map(\.theirs?.text) == ["one"])
        #expect(resolutions.map(\.result?.text) == ["two"])
        for device in moved { #expect(try device.find(by: "x")?.text == "two") }
        try await close(locals)
    }

    /// A change that is made after a device has met the new store, and before the object was sent there.
    @Test func aChangeOfWhatWaitsIsOne() async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["x"], engine)
        let editor = try await notes(locals[0], engine)
        try await editor.save(Note(id: "x", text: "2"))
        _ = try await editor.synchronize()
        let other = HookedEngine()
        let moved = [try await notes(locals[0], other), try await notes(locals[1], other)]
        // The stale device finds out that it is another store, and gets no further.
        other.set {
            $0.commit = { commit in
                guard commit.operations.count > 1 else { return nil }
                throw RoostError(.unavailable, "cut off")
            }
        }
        await #expect(throws: RoostError.self) { try await moved[1].synchronize() }
        other.set { $0.commit = { _ in nil } }
        try await moved[1].save(Note(id: "x", text: "stale and changed"))
        let resolutions = try await exchange(moved)
        #expect(resolutions.map(\.theirs?.text) == ["2"])
        try await close(locals)
    }

    /// The place of an origin has a longer key than the object's.
    @Test func anObjectWhoseOriginHasNoRoomIsExchangedWithoutIt() async throws {
        let limits = SharedLimits(operationCount: 128, commitSizeBytes: 1 << 20, keySizeBytes: 100)
        let id = String(repeating: "k", count: 100 - "test/notes/".utf8.count)
        let locals = try await devices([id, "x"], MemoryEngine(limits: limits))
        let other = MemoryEngine(limits: limits)
        let moved = [try await notes(locals[0], other), try await notes(locals[1], other)]
        #expect(try await exchange(moved).isEmpty)
        for device in moved {
            #expect(try await device.loadAll().count == 2)
            #expect(try device.waitingCount == 0)
        }
        try await close(locals)
    }
}

/// A store that is emptied while a device exchanges with it.
@Suite(.timeLimit(.minutes(2))) struct SyncedEmptyingTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
    }

    private func notes(
        _ local: Workspace, _ engine: any SharedEngine
    ) async throws -> SyncedRepository<Note> {
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        return SyncedRepository(of: Note.self, named: "notes", in: local, with: shared)
    }

    private static func empty(_ engine: MemoryEngine) async throws {
        let start = Array("test/".utf8)
        let everything = SharedKeyRange(lower: start, upper: Array("test0".utf8))
        let format = SharedOperation.put(
            key: start + Array("%format".utf8), value: Array("roost 1".utf8), expiresIn: nil)
        for operation in [.removeRange(everything), format] {
            _ = try await engine.commit(
                SharedCommit(operations: [operation]), before: .now + .seconds(60))
        }
    }

    /// Nobody has removed what an emptied store lacks; the exchange begins again with it.
    @Test func whatIsHereStaysAndIsSentAgain() async throws {
        let engine = HookedEngine()
        let local = try await Workspace.inMemory()
        let device = try await notes(local, engine)
        for id in ["a", "b", "c"] { try await device.save(Note(id: id, text: "1")) }
        _ = try await device.synchronize()
        let isOver = Atomic(false)
        engine.set {
            $0.read = { [memory = engine.engine] read in
                guard read.range.lower == Array("test/notes/".utf8),
                    !isOver.exchange(true, ordering: .relaxed)
                else { return nil }
                try await Self.empty(memory)
                return nil
            }
        }
        let report = try await device.synchronize()
        let wasEmptied = isOver.load(ordering: .relaxed)
        #expect(wasEmptied)
        #expect(report.takenCount == 0)
        #expect(report.sentCount == 3)
        #expect(try await device.loadAll().count == 3)
        #expect(try await notes(try await .inMemory(), engine).synchronize().takenCount == 3)
        try await local.close()
    }

    /// What a device sends to a store is not made in the one after it, where what another device had sent before
    /// it was emptied would be taken for older.
    @Test func whatIsSentIsOfTheStoreThatWasLookedAt() async throws {
        let engine = HookedEngine()
        let locals = [try await Workspace.inMemory(), try await Workspace.inMemory()]
        let first = try await notes(locals[0], engine)
        let second = try await notes(locals[1], engine.engine)
        _ = try await second.synchronize()
        try await first.save(Note(id: "x", text: "first"))
        try await second.save(Note(id: "x", text: "second"))
        let isOver = Atomic(false)
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                guard commit.operations.count > 1, !isOver.exchange(true, ordering: .relaxed)
                else { return nil }
                _ = try await second.synchronize()
                try await Self.empty(memory)
                return nil
            }
        }
        var resolutions = try await first.synchronize().resolutions
        for device in [second, first] { resolutions += try await device.synchronize().resolutions }
        let wasEmptied = isOver.load(ordering: .relaxed)
        #expect(wasEmptied)
        #expect(resolutions.count == 1)
        #expect(try first.find(by: "x") == (try second.find(by: "x")))
        for local in locals { try await local.close() }
    }
}
