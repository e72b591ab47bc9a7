import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var text: String
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add() { value.withLock { $0 += 1 } }
}

/// Many objects are sent by one commit.
@Suite(.timeLimit(.minutes(5))) struct SyncedTogetherTests {
    private let engine = HookedEngine()

    private func device(
        _ local: Workspace,
        rule: @escaping SyncedRepository<Note>.Rule = { _, _ in .mine }
    ) async throws -> SyncedRepository<Note> {
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        return SyncedRepository(of: Note.self, named: "notes", in: local, with: shared, rule: rule)
    }

    private func others() async throws -> SharedRepository<Note> {
        try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
            .repository(of: Note.self, named: "notes")
    }

    /// Of the commits that are made from here on.
    private func countCommits() -> Counter {
        let counter = Counter()
        engine.set {
            $0.commit = { _ in
                counter.add()
                return nil
            }
        }
        return counter
    }

    @Test func manyAreSentByFewCommits() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        for number in 0..<200 { try await notes.save(Note(id: "\(number)", text: "first")) }
        let commits = countCommits()
        #expect(try await notes.synchronize().sentCount == 200)
        #expect(commits.count <= 200 / 20 + 2)
        for number in 0..<200 where number % 2 == 0 {
            try await notes.save(Note(id: "\(number)", text: "second"))
        }
        for number in 0..<50 { try await notes.delete("\(number * 4 + 1)") }
        #expect(try await notes.synchronize().sentCount == 150)
        let there = try await others().loadAll()
        #expect(there.count == 150)
        #expect(Set(there.map(\.id)) == Set(try await notes.loadAll().map(\.id)))
        for note in there {
            #expect(note.text == (Int(note.id)! % 2 == 0 ? "second" : "first"))
        }
        #expect(try notes.waitingCount == 0)
        try await local.close()
    }

    /// Else whoever follows the objects here would be told of each change twice.
    @Test(arguments: [1, 3])
    func whatIsSentIsNotWrittenHereAgain(count: Int) async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        for number in 0..<count { try await notes.save(Note(id: "\(number)", text: "mine")) }
        func versions() throws -> [UInt64] {
            try (0..<count).map {
                try local.dictionary("notes").entry(forKey: "\($0)".key, as: Note.self).version
            }
        }
        let before = try versions()
        #expect(try await notes.synchronize().sentCount == count)
        #expect(try versions() == before)
        #expect(try notes.waitingCount == 0)
        try await local.close()
    }

    @Test func theRuleIsAskedOnceOfEachConflictAmongMany() async throws {
        let local = try await Workspace.inMemory()
        let asked = Mutex<[String]>([])
        let notes = try await device(local) { mine, _ in
            asked.withLock { $0.append(mine?.id ?? "") }
            return .mine
        }
        for number in 0..<60 { try await notes.save(Note(id: "\(number)", text: "mine")) }
        for number in [3, 30, 31] {
            try await others().save(Note(id: "\(number)", text: "theirs"))
        }
        let report = try await notes.synchronize()
        #expect(report.sentCount == 60)
        #expect(Set(report.resolutions.map(\.key)) == ["3", "30", "31"])
        #expect(asked.withLock { $0 }.sorted() == ["3", "30", "31"])
        #expect(try await others().loadAll().allSatisfy { $0.text == "mine" })
        try await local.close()
    }

    /// Nobody knows what became of the commit; what is changed here before that is found out, is another change.
    @Test(arguments: [false, true])
    func whatBecameOfManyIsFoundOutByTheNextExchange(isMade: Bool) async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local) { _, _ in
            Issue.record("a conflict of a device with itself")
            return .mine
        }
        for number in 0..<10 { try await notes.save(Note(id: "\(number)", text: "first")) }
        let isCut = Mutex(false)
        let cut = RoostError(.unavailable, "the connection is cut")
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                if !isCut.withLock({ $0 }), commit.operations.count <= 10 { return nil }
                let isFirst = isCut.withLock { isCut in
                    defer { isCut = true }
                    return !isCut
                }
                if isFirst, isMade {
                    _ = try await memory.commit(commit, before: .now + .seconds(60))
                }
                throw cut
            }
            $0.read = { _ in
                if isCut.withLock({ $0 }) { throw cut }
                return nil
            }
        }
        let exchange = Task { [notes] in try await notes.synchronize() }
        while !isCut.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        exchange.cancel()
        await #expect(throws: RoostError.self) { try await exchange.value }
        engine.set {
            $0.commit = { _ in nil }
            $0.read = { _ in nil }
        }
        #expect(try await others().count == (isMade ? 10 : 0))
        try await notes.save(Note(id: "3", text: "second"))
        try await notes.delete("4")
        let report = try await notes.synchronize()
        #expect(report.sentCount == (isMade ? 12 : 9))
        let there = try await others().loadAll()
        #expect(there.count == 9)
        #expect(there.first { $0.id == "3" }?.text == "second")
        #expect(try notes.waitingCount == 0)
        #expect(try await notes.synchronize().sentCount == 0)
        try await local.close()
    }

    /// Another device changes one of them while they are sent.
    @Test func whereAnotherIsFirstWithOneTheRestIsSentAllTheSame() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local) { _, _ in .theirs }
        for number in 0..<10 { try await notes.save(Note(id: "\(number)", text: "mine")) }
        let isFirst = Mutex(true)
        let theirs = try await others()
        engine.set {
            $0.commit = { commit in
                let isTheirTurn =
                    commit.operations.count > 10
                    && isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                if isTheirTurn { try await theirs.save(Note(id: "5", text: "theirs")) }
                return nil
            }
        }
        let report = try await notes.synchronize()
        #expect(report.resolutions.map(\.key) == ["5"])
        let there = try await theirs.loadAll()
        #expect(there.count == 10)
        for note in there { #expect(note.text == (note.id == "5" ? "theirs" : "mine")) }
        #expect(try await notes.loadAll().map(\.text) == there.map(\.text))
        try await local.close()
    }

    /// Strings take the two for equal.
    @Test func keysThatLookTheSameAreSentTogether() async throws {
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        try await notes.save(Note(id: "caf\u{e9}", text: "composed"))
        try await notes.save(Note(id: "cafe\u{301}", text: "decomposed"))
        #expect(try await notes.synchronize().sentCount == 2)
        #expect(try await others().loadAll().map(\.text).sorted() == ["composed", "decomposed"])
        try await local.close()
    }

    /// One that is too large for a commit with others is sent by one of its own, or is what the exchange fails with.
    @Test func oneThatIsTooLargeKeepsNoOther() async throws {
        let limit = engine.limits.commitSizeBytes
        let local = try await Workspace.inMemory()
        let notes = try await device(local)
        for number in 0..<5 {
            try await notes.save(
                Note(id: "\(number)", text: String(repeating: "a", count: limit / 3)))
        }
        try await notes.save(Note(id: "5", text: String(repeating: "a", count: limit + 1)))
        let error = await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(error?.code == .tooLarge || error?.code == .valueTooLarge)
        #expect(try await others().count == 5)
        #expect(try notes.waitingCount == 1)
        try await local.close()
    }
}
