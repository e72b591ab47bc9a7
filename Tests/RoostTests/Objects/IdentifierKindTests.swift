import Roost
import Testing

/// Identifiers that are keys and have a raw value serve repositories and typed dictionaries alike.
@Suite struct IdentifierKindTests {
    private struct NoteID: RawRepresentable, Codable, Hashable, Sendable, KeyRepresentable {
        var rawValue: Int
    }
    private struct Note: Codable, Identifiable, Equatable, Sendable { var id: NoteID }
    /// Its key is not that of its raw value.
    private struct Code: RawRepresentable, Codable, Hashable, Sendable, KeyRepresentable {
        var rawValue: Int
        init(rawValue: Int) { self.rawValue = rawValue }
        var key: String { "code-\(rawValue)" }
        init?(key: String) {
            guard key.hasPrefix("code-"), let value = Int(key.dropFirst(5)) else { return nil }
            rawValue = value
        }
    }
    private struct Part: Codable, Identifiable, Equatable, Sendable { var id: Code }

    @Test func oneTypeServesARepositoryAndADictionary() async throws {
        let workspace = try await Workspace.inMemory()
        let id = NoteID(rawValue: 7)
        try await workspace.repository(of: Note.self).save(Note(id: id))
        let notes = workspace.dictionary("Note", keys: NoteID.self)
        #expect(try notes[id, as: Note.self] == Note(id: id) && notes.keys == [id])
        try await workspace.repository(of: Part.self).save(Part(id: Code(rawValue: 3)))
        #expect(try workspace.dictionary("Part").keys == ["code-3"])
    }
}
