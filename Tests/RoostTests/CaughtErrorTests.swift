import Roost
import RoostTestSupport
import Testing

/// A call in a transaction that throws has changed nothing; a body that catches that has the rest committed.
@Suite struct CaughtErrorTests {
    private struct Refusing: Codable, Sendable {
        struct Refused: Error {}
        init() {}
        init(from decoder: any Decoder) throws { throw Refused() }
        func encode(to encoder: any Encoder) throws { throw Refused() }
    }
    private struct Note: Codable, Identifiable, Equatable, Indexed, Sendable {
        static var indexes: [Index<Note>] { [Index("text", \.text, isUnique: true)] }
        var id: String
        var text: String
    }
    private static let longKey = String(repeating: "x", count: 65_537)

    private func expect(
        _ code: RoostError.Code, _ body: () throws -> Void,
        location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: RoostError.self, sourceLocation: location) { try body() }
        #expect(error?.code == code, sourceLocation: location)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func whatABodyCatchesDoesNotFailTheCommit(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let values = workspace.dictionary("values")
            let emptied = workspace.dictionary("emptied")
            let unnamed = workspace.dictionary(String(repeating: "n", count: 256))
            try await emptied.set(1, forKey: "old")
            try await workspace.transaction { tx in
                try tx.set(1, forKey: "a", in: values)
                expect(.keyTooLarge) { try tx.set(2, forKey: Self.longKey, in: values) }
                expect(.keyTooLarge) { try tx.removeValue(forKey: Self.longKey, in: values) }
                expect(.keyTooLarge) { try tx.set(2, forKey: "b", in: unnamed) }
                expect(.keyTooLarge) { try tx.removeAll(in: unnamed) }
                expect(.encodingFailed) { try tx.set(Refusing(), forKey: "c", in: values) }
                try tx.removeAll(in: emptied)
                expect(.keyTooLarge) {
                    try tx.set(2, forKey: Self.longKey, in: emptied, expiresIn: .seconds(1))
                }
                #expect(try tx.keys(of: values) == ["a"])
                try tx.set(3, forKey: "d", in: values)
            }
            #expect(try values.keys == ["a", "d"] && emptied.count == 0)
        }
    }

    @Test func whatABodyThatSuspendsCatchesDoesNotFailTheCommit() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await fill(workspace, values)
        #expect(try values.keys == ["a", "b"])
    }

    private func fill<Home: KeyValueWorkspace>(
        _ workspace: Home, _ values: Home.NamedDictionary
    ) async throws {
        try await workspace.transaction { attempt in
            try attempt.set(1, forKey: "a", in: values)
            await Task.yield()
            expect(.keyTooLarge) { try attempt.set(2, forKey: Self.longKey, in: values) }
            expect(.keyTooLarge) { try attempt.removeValue(forKey: Self.longKey, in: values) }
            try attempt.set(3, forKey: "b", in: values)
        }
    }

    @Test func objectsWithKeysThatAreTooLongLeaveNothing() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        try await workspace.transaction { tx in
            try tx.insert(Note(id: "1", text: "one"), in: notes)
            expect(.keyTooLarge) { try tx.save(Note(id: Self.longKey, text: "two"), in: notes) }
            expect(.keyTooLarge) {
                try tx.saveAll(
                    [Note(id: "3", text: "three"), Note(id: Self.longKey, text: "two")], in: notes)
            }
            expect(.notUnique) { try tx.save(Note(id: "4", text: "one"), in: notes) }
            try tx.insert(Note(id: "2", text: "two"), in: notes)
        }
        #expect(try notes.fetch().map(\.id) == ["1", "2"])
        #expect(try notes.where { $0.text == "two" }.fetch().map(\.id) == ["2"])
        #expect(try await workspace.verify().isSound)
    }

    @Test func aBatchWhoseCallsDoNotThrowFailsAtItsCommit() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        let error = await #expect(throws: RoostError.self) {
            try await workspace.write { batch in
                batch.set(1, forKey: "a", in: values)
                batch.set(2, forKey: Self.longKey, in: values)
                batch.set(3, forKey: "b", in: values)
            }
        }
        #expect(error?.code == .keyTooLarge)
        #expect(try values.count == 0)
    }
}
