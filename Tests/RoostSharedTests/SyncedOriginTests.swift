import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostShared

/// Devices that exchanged with one store and meet another: which of them has the later state.
@Suite(.timeLimit(.minutes(5))) struct SyncedOriginTests {
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

    @Test func aConflictThatIsDecidedIsNoneForAThirdDevice() async throws {
        let engine = MemoryEngine()
        var locals = try await devices(["x"], engine)
        let before = [try await notes(locals[0], engine), try await notes(locals[1], engine)]
        try await before[0].save(Note(id: "x", text: "one"))
        try await before[1].save(Note(id: "x", text: "two"))
        _ = try await before[1].synchronize()
        locals.append(try await .inMemory())
        _ = try await notes(locals[2], engine).synchronize()
        let other = MemoryEngine()
        var moved: [SyncedRepository<Note>] = []
        for local in locals { moved.append(try await notes(local, other)) }
        let resolutions = try await exchange([moved[1], moved[0], moved[2]])
        #expect(resolutions.map(\.theirs?.text) == ["two"])
        for device in moved { #expect(try device.find(by: "x")?.text == "one") }
        try await close(locals)
    }

    /// One sends what another, which is first by a moment, has removed.
    @Test func aRemovalIsNotOvertaken() async throws {
        let locals = try await devices(["x"])
        let other = HookedEngine()
        let remover = try await notes(locals[0], other.engine)
        let keeper = try await notes(locals[1], other)
        try await remover.delete("x")
        let isOver = Atomic(false)
        other.set {
            $0.commit = { commit in
                guard commit.operations.count > 1, !isOver.exchange(true, ordering: .relaxed)
                else { return nil }
                _ = try await remover.synchronize()
                return nil
            }
        }
        #expect(try await exchange([keeper, remover]).isEmpty)
        for device in [keeper, remover] { #expect(try device.find(by: "x") == nil) }
        try await close(locals)
    }

    /// A device that another store has told nothing yet comes back to the one that it had the objects from: what it
    /// did not change there is not held against those who did, and what it did goes on from there.
    @Test func whoComesBackGoesOnWhereItWas() async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["edited", "removed", "changed here", "gone here"], engine)
        let editor = try await notes(locals[0], engine)
        let other = HookedEngine()
        let away = try await notes(locals[1], other)
        try await away.save(Note(id: "changed here", text: "2"))
        other.set {
            $0.commit = { commit in
                guard commit.operations.count > 1 else { return nil }
                throw RoostError(.unavailable, "cut off")
            }
        }
        await #expect(throws: RoostError.self) { try await away.synchronize() }
        #expect(try away.waitingCount == 4)
        try await away.delete("gone here")
        try await editor.save(Note(id: "edited", text: "2"))
        try await editor.delete("removed")
        _ = try await editor.synchronize()

        let back = try await notes(locals[1], engine)
        let report = try await back.synchronize()
        #expect(report.resolutions.isEmpty)
        #expect(report.sentCount == 2 && report.takenCount == 2)
        #expect(try await exchange([editor, back]).isEmpty)
        let expected = [Note(id: "changed here", text: "2"), Note(id: "edited", text: "2")]
        for device in [editor, back] {
            #expect(try await device.loadAll() == expected)
            #expect(try device.waitingCount == 0)
        }
        try await close(locals)
    }

    /// What is sent between the two reads has an origin, and was not removed since.
    @Test func anObjectAndItsOriginAreOfOneRevision() async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["x"], engine)
        let editor = try await notes(locals[0], engine)
        try await editor.save(Note(id: "x", text: "2"))
        _ = try await editor.synchronize()
        let other = HookedEngine()
        let moved = try await notes(locals[0], other.engine)
        let stale = try await notes(locals[1], other)
        let isOver = Atomic(false)
        other.set {
            $0.read = { read in
                guard read.range.contains(Array("test/notes%2Forigins/x".utf8)),
                    !isOver.exchange(true, ordering: .relaxed)
                else { return nil }
                _ = try await moved.synchronize()
                return nil
            }
        }
        let report = try await stale.synchronize()
        #expect(report.resolutions.isEmpty)
        // The later edit, and no removal before it.
        #expect(report.takenCount == 1)
        let wasOvertaken = isOver.load(ordering: .relaxed)
        #expect(wasOvertaken)
        for device in [moved, stale] { #expect(try device.find(by: "x")?.text == "2") }
        try await close(locals)
    }

    /// The engine gives the object's revision up before its origin was read: both are read again.
    @Test func anObjectWhoseRevisionIsGivenUpMeanwhileIsSent() async throws {
        let engine = MemoryEngine()
        let locals = try await devices(["x"], engine)
        let other = HookedEngine()
        _ = try await notes(locals[0], other.engine).synchronize()
        let moved = try await notes(locals[1], other)
        try await moved.save(Note(id: "x", text: "2"))
        let compactionCount = other.forgetRevisions(3) {
            $0.range.contains(Array("test/notes%2Forigins/x".utf8))
        }
        #expect(try await moved.synchronize().resolutions.isEmpty)
        #expect(compactionCount() == 3)
        #expect(try moved.waitingCount == 0)
        let there = try await notes(locals[0], other.engine)
        _ = try await there.synchronize()
        #expect(try there.find(by: "x")?.text == "2")
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

    // MARK: Objects that returned to an earlier form

    /// One device for each of the texts that an object had in one store, one after another; each has that version.
    private func devices(
        eachAtOneOf texts: [String], _ engine: any SharedEngine
    ) async throws -> [Workspace] {
        let local = try await Workspace.inMemory()
        let editor = try await notes(local, engine)
        var locals: [Workspace] = []
        for text in texts {
            try await editor.save(Note(id: "x", text: text))
            _ = try await editor.synchronize()
            locals.append(try await .inMemory())
            _ = try await notes(locals[locals.count - 1], engine).synchronize()
        }
        try await local.close()
        return locals
    }

    /// All of them meet another store, in this order.
    private func move(
        _ locals: [Workspace], inOrder order: [Int]
    ) async throws -> (
        texts: [String?], resolutions: [SyncedRepository<Note>.Resolution]
    ) {
        let other = MemoryEngine()
        var moved: [SyncedRepository<Note>] = []
        for index in order { moved.append(try await notes(locals[index], other)) }
        let resolutions = try await exchange(moved)
        for device in moved { #expect(try device.waitingCount == 0) }
        return (try moved.map { try $0.find(by: "x")?.text }, resolutions)
    }

    /// The first sends what the third has too; the second must not take it for older than its own.
    @Test(arguments: [[0, 2, 1], [2, 0, 1], [0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0]])
    func whatReturnedToAnEarlierFormIsTheLatest(order: [Int]) async throws {
        let locals = try await devices(eachAtOneOf: ["on", "off", "on"], MemoryEngine())
        let (texts, resolutions) = try await move(locals, inOrder: order)
        #expect(texts == ["on", "on", "on"])
        #expect(resolutions.isEmpty)
        try await close(locals)
    }

    /// What is sent again with a later version is still unchanged since that version.
    @Test func whatIsLaterThanBothEqualOnesReplacesThem() async throws {
        let locals = try await devices(eachAtOneOf: ["on", "off", "on", "gone"], MemoryEngine())
        let (texts, resolutions) = try await move(locals, inOrder: [0, 2, 1, 3])
        #expect(texts == ["gone", "gone", "gone", "gone"])
        #expect(resolutions.isEmpty)
        try await close(locals)
    }

    /// The device that had the second version changes it back, unsent as the store is lost.
    @Test(arguments: [[0, 2, 1], [2, 0, 1], [0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0]])
    func anUnsentReturnToAnEarlierFormIsTheLatest(order: [Int]) async throws {
        let engine = MemoryEngine()
        var locals = try await devices(eachAtOneOf: ["on", "off"], engine)
        locals.append(try await .inMemory())
        let editor = try await notes(locals[2], engine)
        _ = try await editor.synchronize()
        try await editor.save(Note(id: "x", text: "on"))
        let (texts, resolutions) = try await move(locals, inOrder: order)
        #expect(texts == ["on", "on", "on"])
        #expect(resolutions.isEmpty)
        try await close(locals)
    }

    /// A change that leads to what another device has unchanged is one all the same, whoever of the two is first.
    @Test(arguments: [[0, 1, 2], [1, 0, 2]], [0, 1])
    func aChangeToWhatIsThereIsInConflictWithALaterEdit(order: [Int], changed: Int) async throws {
        let engine = MemoryEngine()
        // The two equal ones are of different versions, and the last is later than both.
        let locals = try await devices(eachAtOneOf: ["on", "on", "off"], engine)
        try await notes(locals[changed], engine).save(Note(id: "x", text: "on"))
        let (_, resolutions) = try await move(locals, inOrder: order)
        #expect(resolutions.map(\.mine?.text) == ["off"])
        #expect(resolutions.map(\.theirs?.text) == ["on"])
        try await close(locals)
    }

    /// Of two equal ones the earlier is changed, so what is there has the version of the one and the change of the other.
    @Test(arguments: [[0, 2, 1], [2, 0, 1]])
    func aChangeToWhatIsThereDoesNotMakeItEarlier(order: [Int]) async throws {
        let engine = MemoryEngine()
        let locals = try await devices(eachAtOneOf: ["on", "off", "on"], engine)
        try await notes(locals[0], engine).save(Note(id: "x", text: "on"))
        let (texts, resolutions) = try await move(locals, inOrder: order)
        #expect(texts == ["on", "on", "on"])
        #expect(resolutions.isEmpty)
        try await close(locals)
    }

    /// Nobody knows which is later, the edit or what a device of another former store changed.
    @Test func aChangeOfAnotherFormerStoreToWhatIsThereIsInConflictWithALaterEdit() async throws {
        let engine = MemoryEngine()
        var locals = try await devices(eachAtOneOf: ["on", "off"], MemoryEngine())
        locals += try await devices(eachAtOneOf: ["1"], engine)
        try await notes(locals[2], engine).save(Note(id: "x", text: "on"))
        let (_, resolutions) = try await move(locals, inOrder: [0, 2, 1])
        #expect(resolutions.map(\.mine?.text) == ["off"])
        #expect(resolutions.map(\.theirs?.text) == ["on"])
        try await close(locals)
    }

    /// Two remove different versions of one object; the third has a version between them.
    @Test(arguments: [[0, 2, 1], [2, 0, 1]])
    func theLaterOfTwoRemovalsCounts(order: [Int]) async throws {
        let engine = MemoryEngine()
        let locals = try await devices(eachAtOneOf: ["1", "2", "3"], engine)
        for index in [0, 2] { try await notes(locals[index], engine).delete("x") }
        let (texts, resolutions) = try await move(locals, inOrder: order)
        #expect(texts == [nil, nil, nil])
        #expect(resolutions.isEmpty)
        try await close(locals)
    }
}
