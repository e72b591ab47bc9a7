import Roost
import RoostShared
import Testing

/// Identifiers that are keys and have a raw value serve shared repositories and typed dictionaries alike.
@Suite struct SharedIdentifierKindTests {
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
    private struct Draft: Codable, Sendable, Equatable { var title: String }

    @Test func oneTypeServesARepositoryAndADictionary() async throws {
        let workspace = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        let id = NoteID(rawValue: 7)
        try await workspace.repository(of: Note.self).save(Note(id: id))
        let notes = workspace.dictionary("Note", keys: NoteID.self)
        #expect(try await notes.load(id, as: Note.self) == Note(id: id))
        try await workspace.repository(of: Part.self).save(Part(id: Code(rawValue: 3)))
        #expect(try await workspace.dictionary("Part", keys: String.self).keys == ["code-3"])
    }

    @Test func changesHaveKeysOfTheType() async throws {
        let workspace = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        let drafts = workspace.dictionary("drafts", keys: Int.self)
        try await drafts.set(Draft(title: "first"), forKey: 0)
        let start = try await drafts.loadEntry(0, as: Draft.self).version
        try await drafts.setAll([1: Draft(title: "a")])
        let version = try await drafts.loadEntry(1, as: Draft.self).version
        var changes = drafts.changes(as: Draft.self, since: start).makeAsyncIterator()
        let told = try await changes.next()
        #expect(told == .set(key: 1, value: Draft(title: "a"), version: version))
        await workspace.close()
    }
}
