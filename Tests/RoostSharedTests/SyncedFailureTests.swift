import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Testing

/// An object that cannot be exchanged, and the others of its device.
@Suite(.timeLimit(.minutes(5))) struct SyncedFailureTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
    }

    private struct Undecided: Error {}

    private let engine = HookedEngine()

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .engine(engine), namespace: "test")
    }

    private func device(
        _ local: Workspace, rule: @escaping SyncedRepository<Note>.Rule = { _, _ in .mine }
    ) async throws -> SyncedRepository<Note> {
        SyncedRepository(
            of: Note.self, named: "notes", in: local, with: try await connect(), rule: rule)
    }

    private func others() async throws -> SharedRepository<Note> {
        try await connect().repository(of: Note.self, named: "notes")
    }

    @Test func oneThatIsTooLargeKeepsNoOtherFromBeingExchanged() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        try await notes.save(Note(id: "a", text: String(repeating: "a", count: 2 << 20)))
        try await notes.save(Note(id: "b", text: "small"))
        try await others().save(Note(id: "c", text: "theirs"))
        for _ in 0..<2 {
            let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
            #expect(error?.code == .tooLarge)
            #expect(error?.message.contains("\"a\" in \"notes\"") == true)
            #expect(try await others().find(by: "b")?.text == "small")
            #expect(try notes.find(by: "c")?.text == "theirs")
            #expect(try notes.waitingCount == 1)
        }
        try await notes.save(Note(id: "a", text: "smaller"))
        #expect(try await notes.synchronize().sentCount == 1)
        try await local.close()
    }

    @Test func whatIsHereAndIsNoObjectIsReplacedAndRemoved() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        for id in ["a", "b"] { try await notes.save(Note(id: id, text: id)) }
        _ = try await notes.synchronize()
        for id in ["a", "b"] { try await local.dictionary("notes").set(5, forKey: id.key) }
        await #expect(throws: RoostError.self) { try await notes.update("a") { $0?.text = "x" } }
        try await notes.save(Note(id: "a", text: "new"))
        try await notes.delete("b")
        #expect(try await notes.synchronize().sentCount == 2)
        #expect(try await others().loadAll() == [Note(id: "a", text: "new")])
        try await local.close()
    }

    /// Else it would be found under the identifier of another, on every device.
    @Test func aRuleGivesNoOtherIdentifier() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local) { _, _ in .merged(Note(id: "z", text: "both")) }
        for id in ["a", "b"] { try await notes.save(Note(id: id, text: "mine")) }
        try await others().save(Note(id: "a", text: "theirs"))
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .encodingFailed)
        #expect(try notes.find(by: "a")?.text == "mine")
        #expect(try await others().find(by: "a")?.text == "theirs")
        #expect(try await others().find(by: "b")?.text == "mine")
        #expect(try notes.waitingCount == 1)
        try await local.close()
    }

    /// Strings take these for one, and the dictionaries of the devices do not.
    @Test func identifiersAreToldApartByTheirBytes() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local) { mine, _ in
            guard let mine else { return .mine }
            return .merged(Note(id: "cafe\u{301}", text: "of \(mine.text)"))
        }
        try await notes.save(Note(id: "caf\u{e9}", text: "mine"))
        let changed = await #expect(throws: RoostError.self) {
            try await notes.update("caf\u{e9}") { $0 = Note(id: "cafe\u{301}", text: "new") }
        }
        #expect(changed?.code == .conflict)
        let other = await #expect(throws: RoostError.self) {
            try await notes.update("caf\u{e9}") { (note: inout Note) in note.id = "z" }
        }
        #expect(other?.code == .conflict)
        try await others().save(Note(id: "caf\u{e9}", text: "theirs"))
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .encodingFailed)
        #expect(try notes.find(by: "caf\u{e9}")?.text == "mine")
        #expect(try await others().find(by: "caf\u{e9}")?.text == "theirs")
        try await local.close()
    }

    /// One that the engine refuses, when what is sent is written down already; where it is made all the same, the device
    /// knows it as its own.
    @Test(arguments: [false, true])
    func oneThatTheEngineRefusesKeepsNoOther(isMade: Bool) async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        for id in ["a", "b"] { try await notes.save(Note(id: id, text: id)) }
        let refused = Array("test/notes/a".utf8)
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                guard
                    commit.operations.contains(where: {
                        if case .put(refused, _, _) = $0 { true } else { false }
                    })
                else { return nil }
                if isMade { _ = try await memory.commit(commit, before: .now + .seconds(60)) }
                throw RoostError(.io, "not this one")
            }
        }
        if isMade {
            #expect(try await notes.synchronize().sentCount == 2)
        } else {
            let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
            #expect(error?.code == .io)
        }
        #expect(try await others().loadAll().map(\.id) == (isMade ? ["a", "b"] : ["b"]))
        engine.set { $0.commit = { _ in nil } }
        let report = try await notes.synchronize()
        #expect(report.sentCount == (isMade ? 0 : 1))
        #expect(report.resolutions.isEmpty)
        try await local.close()
    }

    /// Of a newer version's form, for example. What is here of it stays.
    @Test func oneThatCannotBeReadKeepsNoOtherFromBeingTaken() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        for id in ["a", "b", "c"] { try await notes.save(Note(id: id, text: id)) }
        _ = try await notes.synchronize()
        try await connect().dictionary("notes").set(7, forKey: "a")
        try await others().save(Note(id: "b", text: "theirs"))
        try await others().delete("c")
        await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(
            try await notes.loadAll() == [
                Note(id: "a", text: "a"), Note(id: "b", text: "theirs"),
            ])
        // One that was changed here too waits, and is decided about once it can be read.
        try await notes.save(Note(id: "a", text: "mine"))
        try await notes.save(Note(id: "d", text: "d"))
        await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(try await others().find(by: "d")?.text == "d")
        try await others().save(Note(id: "a", text: "theirs"))
        #expect(try await notes.synchronize().resolutions.map(\.theirs?.text) == ["theirs"])
        try await local.close()
    }

    /// Another version of the app has stored what this one would not.
    @Test func oneThatIsNotEncodedHereKeepsNoOtherFromBeingTaken() async throws {
        struct CheckedNote: Codable, Identifiable, Sendable {
            var id: String
            var text: String

            func encode(to encoder: any Encoder) throws {
                if text.isEmpty { throw Undecided() }
                try Note(id: id, text: text).encode(to: encoder)
            }
        }
        let local = try await Workspace.inMemory()
        let notes = SyncedRepository(
            of: CheckedNote.self, named: "notes", in: local, with: try await connect())
        for id in ["a", "b", "c"] { try await others().save(Note(id: id, text: id)) }
        _ = try await notes.synchronize()
        try await others().save(Note(id: "a", text: ""))
        try await others().save(Note(id: "b", text: "theirs"))
        try await others().delete("c")
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .encodingFailed)
        #expect(error?.message.contains("\"a\" in \"notes\"") == true)
        #expect(try await notes.loadAll().map(\.text) == ["a", "theirs"])
        try await local.close()
    }

    @Test func oneThatTheRuleDoesNotDecideKeepsNoOther() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local) { mine, _ in
            if mine?.id == "a" { throw Undecided() }
            return .mine
        }
        for id in ["a", "b"] {
            try await notes.save(Note(id: id, text: "mine"))
            try await others().save(Note(id: id, text: "theirs"))
        }
        try await others().save(Note(id: "c", text: "theirs"))
        await #expect(throws: Undecided.self) { try await notes.synchronize() }
        #expect(try await others().find(by: "a")?.text == "theirs")
        #expect(try await others().find(by: "b")?.text == "mine")
        #expect(try notes.find(by: "c")?.text == "theirs")
        // The conflict that was decided is told by the next report.
        let decided = try await device(local).synchronize()
        #expect(decided.resolutions.map(\.key) == ["b", "a"])
        try await local.close()
    }

    /// Where nothing can be sent, what others have sent is taken all the same.
    @Test func aStoreWithoutSpaceIsReadFrom() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        try await notes.save(Note(id: "a", text: "first"))
        _ = try await notes.synchronize()
        for id in ["a", "b"] { try await notes.save(Note(id: id, text: "mine")) }
        try await others().save(Note(id: "c", text: "theirs"))
        engine.set { $0.commit = { _ in throw RoostError(.outOfSpace, "full") } }
        for _ in 0..<2 {
            let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
            #expect(error?.code == .outOfSpace)
            #expect(try notes.find(by: "c")?.text == "theirs")
            #expect(try notes.waitingCount == 2)
        }
        engine.set { $0.commit = { _ in nil } }
        let report = try await notes.synchronize()
        #expect(report.sentCount == 2 && report.resolutions.isEmpty)
        try await local.close()
    }
}
