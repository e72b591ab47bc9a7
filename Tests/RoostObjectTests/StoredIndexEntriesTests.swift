import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Entries that are made of an object's stored bytes are those of the object.
@Suite(.timeLimit(.minutes(5))) struct StoredIndexEntriesTests {
    private struct Note: Codable, Identifiable, Sendable, Indexed, StoredFields, Equatable {
        var id: Int
        var title: String
        var score: Double
        var due: Date?
        var tags: [String]
        var labels: [Int]?
        var text = ""

        static var indexes: [Index<Note>] {
            [
                Index("title", \.title, isUnique: true), Index("score", .descending(\.score)),
                Index("score-unique", \.score, \.id, isUnique: true),
                Index("due", \.due, .descending(\.title), \.score),
                Index("tags", each: \.tags), Index("labels", each: \.labels),
            ]
        }

        static var storedFields: [StoredField<Note>] {
            [
                StoredField(\.id, CodingKeys.id), StoredField(\.title, CodingKeys.title),
                StoredField(\.score, CodingKeys.score), StoredField(\.due, CodingKeys.due),
                StoredField(\.tags, CodingKeys.tags), StoredField(\.labels, CodingKeys.labels),
            ]
        }

        static func random(_ id: Int, _ random: inout SeededGenerator) -> Note {
            let words = [
                "", "a", "Zoe\u{301}", "zoë", "a\u{0}b", String(repeating: "x", count: 900),
            ]
            let scores = [0, -0.0, .nan, .infinity, -1.5, 2.25, Double(id)]
            return Note(
                id: id, title: words.randomElement(using: &random)! + "\(id)",
                score: scores.randomElement(using: &random)!,
                due: Bool.random(using: &random) ? Date(timeIntervalSince1970: Double(id)) : nil,
                tags: (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    words.randomElement(using: &random)!
                },
                labels: Bool.random(using: &random) ? [id % 3, 7, id % 3] : nil)
        }
    }

    @Test func theyAreThoseOfTheObject() async throws {
        var random = SeededGenerator(seed: testSeed())
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        try await notes.indexesBuilt()
        let set = try #require(try notes.indexes?.current())
        #expect(set.active.count == Note.indexes.count)
        let made = try #require(set.written.storedEntries)
        for id in 0..<300 {
            let note = Note.random(id, &random)
            let value = try notes.dictionary.encode(note, notes.codec)
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: value.count, alignment: 8)
            defer { bytes.deallocate() }
            value.write(to: bytes.baseAddress!)
            let entries = try #require(try made.entries(of: UnsafeRawBufferPointer(bytes)))
            for (active, entries) in zip(set.active, entries) {
                let expected = try withUnsafePointer(to: note) { try active.entries(of: $0) }
                #expect(entries.all == expected.all, "\(active.name) of \(note)")
            }
            try await notes.save(note)
        }
        for state in try notes.indexStates() { #expect(state.faults == [], "\(state.name)") }
        #expect(try notes.where { $0.tags.contains("a") }.count() > 0)
        try await workspace.close()
    }

    /// What it stores of a score is half of it.
    private struct Halved: Codable, Identifiable, Sendable, Indexed, StoredFields {
        var id: Int
        var score: Double

        static var indexes: [Index<Halved>] { [Index("score", \.score)] }
        static var storedFields: [StoredField<Halved>] { [StoredField(\.score, CodingKeys.score)] }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(id, forKey: .id)
            try values.encode(score / 2, forKey: .score)
        }
    }

    @Test func theyAreOfWhatIsStoredAndNotOfWhatWasGiven() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Halved.self)
        try await items.indexesBuilt()
        try await items.insert(Halved(id: 1, score: 8))
        #expect(try items.where { $0.score == 4 }.fetch().map(\.id) == [1])
        try await items.update(1) { $0.score += 2 }
        #expect(try items.where { $0.score == 3 }.count() == 1)
        #expect(try items.where { $0.score > 0 }.count() == 1)
        try await items.delete(1)
        #expect(try items.where { $0.score > 0 }.count() == 0)
        try await workspace.close()
    }

    /// A value that is to be unique and is cut off is refused as it is where the object makes the entry.
    @Test func aLongUniqueValueIsRefused() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        try await notes.indexesBuilt()
        let note = Note(
            id: 1, title: String(repeating: "y", count: 2000), score: 0, due: nil, tags: [],
            labels: nil)
        let error = await #expect(throws: RoostError.self) { try await notes.insert(note) }
        #expect(error?.code == .valueTooLarge)
        #expect(try notes.all.count() == 0)
        try await workspace.close()
    }
}
