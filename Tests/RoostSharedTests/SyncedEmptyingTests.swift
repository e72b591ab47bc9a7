import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// A store that is emptied while a device exchanges with it.
@Suite(.timeLimit(.minutes(5))) struct SyncedEmptyingTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
    }

    private func notes(
        _ local: Workspace, _ engine: any SharedEngine,
        rule: @escaping SyncedRepository<Note>.Rule = SyncedRepository<Note>.lastWriter
    ) async throws -> SyncedRepository<Note> {
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        return SyncedRepository(of: Note.self, named: "notes", in: local, with: shared, rule: rule)
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

    /// PostgreSQL whose tables are made anew is asked for a revision that it has not come to yet, and has nothing there: that
    /// says of no object of the former store that somebody has removed it.
    @Test func aStoreThatIsSetUpAnewBetweenTwoPagesHasRemovedNothing() async throws {
        let engine = HookedEngine()
        let local = try await Workspace.inMemory()
        let device = try await notes(local, engine)
        for number in 10..<60 { try await device.save(Note(id: "\(number)", text: "1")) }
        _ = try await device.synchronize()
        let fresh = MemoryEngine()
        let end = Array("test/notes0".utf8)
        let isOver = Atomic(false)
        engine.set {
            $0.read = { read in
                if read.revision != nil, read.range.upper == end {
                    isOver.store(true, ordering: .relaxed)
                }
                guard isOver.load(ordering: .relaxed) else { return nil }
                return try await fresh.read(read, before: .now + .seconds(60))
            }
            $0.commit = { commit in
                guard isOver.load(ordering: .relaxed) else { return nil }
                return try await fresh.commit(commit, before: .now + .seconds(60))
            }
        }
        let report = try await device.synchronize()
        let wasSetUpAnew = isOver.load(ordering: .relaxed)
        #expect(wasSetUpAnew)
        #expect(report.takenCount == 0)
        #expect(report.sentCount == 50)
        #expect(try await device.loadAll().count == 50)
        #expect(try await notes(try await .inMemory(), engine).synchronize().takenCount == 50)
        try await local.close()
    }

    /// The engine forgets what is being looked at, again and again: what both sides have the same of, and what is taken.
    @Test func whatIsForgottenMeanwhileIsReadAgain() async throws {
        let engine = HookedEngine()
        let locals = [try await Workspace.inMemory(), try await Workspace.inMemory()]
        let other = try await notes(locals[0], engine.engine)
        for number in 10..<60 { try await other.save(Note(id: "\(number)", text: "1")) }
        _ = try await other.synchronize()
        let device = try await notes(locals[1], engine)
        try await device.save(Note(id: "10", text: "1"))
        // Whatever is read at the revision of what was read before.
        let compactionCount = engine.forgetRevisions(5)
        let report = try await device.synchronize()
        #expect(report.resolutions.isEmpty)
        #expect(report.takenCount == 49)
        #expect(compactionCount() == 5)
        #expect(try device.waitingCount == 0)
        #expect(try await device.loadAll().count == 50)
        for local in locals { try await local.close() }
    }

    /// What is decided about an object is of the store that was looked at: an edit that is based on what another device
    /// has sent again is in no conflict with that.
    @Test(arguments: [false, true])
    func whatIsDecidedIsOfOneStore(isTheirs: Bool) async throws {
        let engine = HookedEngine()
        let locals = [try await Workspace.inMemory(), try await Workspace.inMemory()]
        let editor = try await notes(locals[0], engine) { _, _ in isTheirs ? .theirs : .mine }
        let other = try await notes(locals[1], engine.engine)
        try await other.save(Note(id: "x", text: "1"))
        _ = try await other.synchronize()
        // It has sent nothing yet, and so has no receipt there.
        _ = try await editor.synchronize()
        try await editor.save(Note(id: "x", text: "2"))
        let isOver = Atomic(false)
        engine.set {
            $0.read = { [memory = engine.engine] read in
                guard read.range.contains(Array("test/notes/x".utf8)),
                    !isOver.exchange(true, ordering: .relaxed)
                else { return nil }
                try await Self.empty(memory)
                _ = try await other.synchronize()
                return nil
            }
        }
        var resolutions = try await editor.synchronize().resolutions
        resolutions += try await other.synchronize().resolutions
        let wasEmptied = isOver.load(ordering: .relaxed)
        #expect(wasEmptied)
        #expect(resolutions.isEmpty)
        for device in [editor, other] { #expect(try device.find(by: "x")?.text == "2") }
        for local in locals { try await local.close() }
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
