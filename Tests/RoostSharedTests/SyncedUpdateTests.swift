import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Testing

/// A device whose app is updated between two exchanges, to a type that does not decode what the earlier one stored.
@Suite(.timeLimit(.minutes(5))) struct SyncedUpdateTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: Int
        var text: String
    }

    private struct NewNote: Codable, Identifiable, Equatable, Sendable {
        var id: Int
        var body: String
    }

    private let engine = HookedEngine()

    private func connect() async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(60)))
    }

    private func old(
        _ local: Workspace, rule: @escaping SyncedRepository<Note>.Rule = { _, _ in .mine }
    ) async throws -> SyncedRepository<Note> {
        // Soon over, where it is broken.
        let shared = try await connect().withCallDeadline(.seconds(2))
        return SyncedRepository(
            of: Note.self, named: "notes", in: local, with: shared, rule: rule)
    }

    private func updated(_ local: Workspace) async throws -> SyncedRepository<NewNote> {
        local.dictionary("notes").migrating(from: Note.self, to: NewNote.self, version: 2) {
            NewNote(id: $0.id, body: $0.text)
        }
        return SyncedRepository(
            of: NewNote.self, named: "notes", in: local, with: try await connect())
    }

    private func there() async throws -> SharedDictionary {
        try await connect().dictionary("notes")
    }

    /// Ends the exchange behind the commit of an object, made or not, as a process does that is killed.
    private func exchangeAndBreak(_ notes: SyncedRepository<Note>, isMade: Bool) async throws {
        let memory = engine.engine
        engine.set {
            $0.commit = { commit in
                // Of an object and the receipt.
                guard commit.operations.count == 2 else { return nil }
                if isMade { _ = try await memory.commit(commit, before: .now + .seconds(60)) }
                engine.set {
                    $0.commit = { _ in throw RoostError(.unavailable, "broken") }
                    $0.read = { _ in throw RoostError(.unavailable, "broken") }
                }
                throw RoostError(.unknownOutcome, "broken")
            }
        }
        await #expect(throws: RoostError.self) { try await notes.synchronize() }
        engine.set {
            $0.commit = { _ in nil }
            $0.read = { _ in nil }
        }
    }

    @Test func whatIsHereAlreadyIsNotDecodedAgain() async throws {
        let local = try await Workspace.inMemory()
        let before = try await old(local)
        try await before.save(Note(id: 1, text: "one"))
        try await before.synchronize()
        let notes = try await updated(local)
        #expect(try await notes.synchronize().takenCount == 0)
        try await notes.save(NewNote(id: 2, body: "two"))
        #expect(try await notes.synchronize().sentCount == 1)
        // What others have sent in the earlier form since is not taken.
        try await there().set(Note(id: 1, text: "edited"), forKey: 1.key)
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .decodingFailed)
        #expect(try notes.find(by: 1) == NewNote(id: 1, body: "one"))
        try await local.close()
    }

    /// Nobody has to read what a change is based on to put the change in its place: what waits would wait for ever.
    @Test(arguments: [1, 3])
    func aChangeTakesThePlaceOfTheEarlierForm(count: Int) async throws {
        let local = try await Workspace.inMemory()
        let before = try await old(local)
        for id in 0...count { try await before.save(Note(id: id, text: "old")) }
        try await before.synchronize()
        let notes = try await updated(local)
        for id in 1...count { try await notes.save(NewNote(id: id, body: "new")) }
        try await notes.delete(0)
        let report = try await notes.synchronize()
        #expect(report.sentCount == count + 1 && report.resolutions.isEmpty)
        #expect(try notes.waitingCount == 0)
        for id in 1...count {
            let sent = try await there().load(id.key, as: NewNote.self)
            #expect(sent == NewNote(id: id, body: "new"))
        }
        #expect(try await there().contains(0.key) == false)
        try await local.close()
    }

    /// What somebody else has made of it since is a conflict, which nobody can decide about who does not read it.
    @Test func aConflictWithTheEarlierFormWaits() async throws {
        let local = try await Workspace.inMemory()
        let before = try await old(local)
        try await before.save(Note(id: 1, text: "old"))
        try await before.synchronize()
        let notes = try await updated(local)
        try await notes.save(NewNote(id: 1, body: "new"))
        try await there().set(Note(id: 1, text: "edited"), forKey: 1.key)
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .decodingFailed)
        #expect(try notes.waitingCount == 1)
        let left = try await there().load(1.key, as: Note.self)
        #expect(left == Note(id: 1, text: "edited"))
        try await local.close()
    }

    @Test(arguments: [false, true])
    func anAttemptOfTheEarlierVersionIsFinished(isMade: Bool) async throws {
        let local = try await Workspace.inMemory()
        let before = try await old(local)
        try await before.save(Note(id: 1, text: "one"))
        try await exchangeAndBreak(before, isMade: isMade)
        let notes = try await updated(local)
        let report = try await notes.synchronize()
        #expect(report.sentCount == 1 && report.resolutions.isEmpty)
        #expect(try notes.waitingCount == 0)
        #expect(try notes.find(by: 1) == NewNote(id: 1, body: "one"))
        #expect(try await there().contains(1.key))
        try await local.close()
    }

    /// An attempt that can be read by the updated app lacks what the local migration makes.
    @Test func whatAMigrationMakesStays() async throws {
        struct LabelledNote: Codable, Identifiable, Equatable, Sendable {
            var id: Int
            var text: String
            var label: String?
        }
        let local = try await Workspace.inMemory()
        let before = try await old(local)
        try await before.save(Note(id: 1, text: "one"))
        try await exchangeAndBreak(before, isMade: true)
        local.dictionary("notes").migrating(from: Note.self, to: LabelledNote.self, version: 2) {
            LabelledNote(id: $0.id, text: $0.text, label: "label of \($0.text)")
        }
        let notes = SyncedRepository(
            of: LabelledNote.self, named: "notes", in: local, with: try await connect())
        let report = try await notes.synchronize()
        #expect(report.sentCount == 1 && report.takenCount == 0)
        #expect(try notes.waitingCount == 0)
        #expect(try notes.find(by: 1)?.label == "label of one")
        try await local.close()
    }

    /// What the rule has made is not here yet, and its attempt cannot be read: it comes from there, once somebody has sent it in a
    /// form that can be.
    @Test func whatTheRuleMadeOfItIsTakenFromThere() async throws {
        let local = try await Workspace.inMemory()
        let before = try await old(local) { mine, theirs in
            .merged(Note(id: 1, text: "\(mine?.text ?? "")+\(theirs?.text ?? "")"))
        }
        try await before.save(Note(id: 1, text: "mine"))
        try await there().set(Note(id: 1, text: "theirs"), forKey: 1.key)
        try await exchangeAndBreak(before, isMade: true)
        let notes = try await updated(local)
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .decodingFailed)
        let told = try await notes.conflicts()
        #expect(told.map(\.key) == [1.key] && told.first?.result == nil)
        #expect(told.first?.problem?.message.contains("mine, theirs, result") == true)
        try await there().set(NewNote(id: 1, body: "mine+theirs"), forKey: 1.key)
        let report = try await notes.synchronize()
        #expect(report.takenCount == 1 && report.sentCount == 0 && report.resolutions.isEmpty)
        #expect(try notes.find(by: 1) == NewNote(id: 1, body: "mine+theirs"))
        try await local.close()
    }

    /// A device that does not have what its rule made of an object has nothing to say against it in another store either.
    @Test func whatTheRuleMadeIsNotReplacedInAnotherStore() async throws {
        let (local, second) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        let before = try await old(local) { mine, theirs in
            .merged(Note(id: 1, text: "\(mine?.text ?? "")+\(theirs?.text ?? "")"))
        }
        try await before.save(Note(id: 1, text: "mine"))
        try await there().set(Note(id: 1, text: "theirs"), forKey: 1.key)
        try await exchangeAndBreak(before, isMade: true)
        #expect(try await old(second).synchronize().takenCount == 1)
        let notes = try await updated(local)
        await #expect(throws: RoostError.self) { try await notes.synchronize() }

        let other = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        let moved = SyncedRepository(of: Note.self, named: "notes", in: second, with: other)
        #expect(try await moved.synchronize().sentCount == 1)
        let late = SyncedRepository(of: NewNote.self, named: "notes", in: local, with: other)
        let error = await #expect(throws: RoostError.self) { try await late.synchronize() }
        #expect(error?.code == .decodingFailed)
        let left = try await other.dictionary("notes").load(1.key, as: Note.self)
        #expect(left == Note(id: 1, text: "mine+theirs"))
        for workspace in [local, second] { try await workspace.close() }
    }

    @Test func conflictsOfTheEarlierVersionAreTold() async throws {
        let local = try await Workspace.inMemory()
        let before = try await old(local)
        try await before.save(Note(id: 1, text: "mine"))
        try await there().set(Note(id: 1, text: "theirs"), forKey: 1.key)
        // The conflict is decided, and the report lost.
        try await there().set(7, forKey: 2.key)
        await #expect(throws: RoostError.self) { try await before.synchronize() }
        try await there().removeValue(forKey: 2.key)
        let notes = try await updated(local)
        let report = try await notes.synchronize()
        #expect(report.resolutions.map(\.key) == [1.key])
        #expect(report.resolutions.first?.mine == nil)
        #expect(report.resolutions.first?.problem?.code == .decodingFailed)
        #expect(try await notes.synchronize().resolutions.isEmpty)
        try await local.close()
    }

    /// No report comes as long as an object fails at each exchange.
    @Test func conflictsAreToldWithoutAReport() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await old(local)
        try await notes.save(Note(id: 1, text: "mine"))
        try await there().set(Note(id: 1, text: "theirs"), forKey: 1.key)
        try await there().set(7, forKey: 2.key)
        for _ in 0..<2 {
            await #expect(throws: RoostError.self) { try await notes.synchronize() }
        }
        let told = try await notes.conflicts()
        #expect(told.map(\.theirs) == [Note(id: 1, text: "theirs")] && told.first?.problem == nil)
        #expect(try await notes.conflicts().isEmpty)
        #expect(try local.dictionary("notes/resolutions").keys == [])
        try await local.close()
    }
}
