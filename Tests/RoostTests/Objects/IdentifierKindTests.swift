import Foundation
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
    private struct Moment: Codable, Identifiable, Equatable, Sendable {
        var id: Date
        var text = ""
    }

    @Test func oneTypeServesARepositoryAndADictionary() async throws {
        let workspace = try await Workspace.inMemory()
        let id = NoteID(rawValue: 7)
        try await workspace.repository(of: Note.self).save(Note(id: id))
        let notes = workspace.dictionary("Note", keys: NoteID.self)
        #expect(try notes[id, as: Note.self] == Note(id: id) && notes.keys == [id])
        try await workspace.repository(of: Part.self).save(Part(id: Code(rawValue: 3)))
        #expect(try workspace.dictionary("Part").keys == ["code-3"])
    }

    // MARK: Dates

    private static let dates: [Date] = [
        Date(timeIntervalSinceReferenceDate: -.infinity), .distantPast,
        Date(timeIntervalSinceReferenceDate: -1e9 - 0.1), Date(timeIntervalSinceReferenceDate: -1),
        Date(timeIntervalSinceReferenceDate: -Double.leastNonzeroMagnitude),
        Date(timeIntervalSinceReferenceDate: 0),
        Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude),
        Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSince1970: 1_800_000_000.123_456),
        Date(timeIntervalSince1970: 1_800_000_000.123_457), .distantFuture,
        Date(timeIntervalSinceReferenceDate: .infinity),
    ]

    @Test func keysOfDatesGoByTheMomentAndKeepIt() {
        for (date, next) in zip(Self.dates, Self.dates.dropFirst()) {
            #expect(date.key.utf8.lexicographicallyPrecedes(next.key.utf8), "\(date) \(next)")
        }
        for date in Self.dates {
            let back = Date(key: date.key)?.timeIntervalSinceReferenceDate
            #expect(back?.bitPattern == date.timeIntervalSinceReferenceDate.bitPattern)
        }
        // Equal dates have one key.
        let negative = Date(timeIntervalSinceReferenceDate: -0.0)
        #expect(negative.key == Date(timeIntervalSinceReferenceDate: 0).key)
        #expect(Date(timeIntervalSinceReferenceDate: 0).key == "8000000000000000")
    }

    @Test(arguments: [
        "", "8", "80000000000000000", "7FFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF", "FFF8000000000000",
        "0000000000000000", "c1d0000000000000", "+000000000000001", "today",
    ])
    func whatIsNoDatesKeyIsRefused(key: String) {
        #expect(Date(key: key) == nil)
    }

    @Test func datesAreKeysAndIdentifiers() async throws {
        let workspace = try await Workspace.inMemory()
        let moments = workspace.dictionary("moments", keys: Date.self)
        for date in Self.dates.shuffled() { try await moments.set("\(date)", forKey: date) }
        #expect(try moments.keys == Self.dates)
        let some = try workspace.read {
            try $0.keys(of: moments, in: Self.dates[3]..<Self.dates[8])
        }
        #expect(some == Array(Self.dates[3..<8]))

        let objects = workspace.repository(of: Moment.self)
        try await objects.saveAll(Self.dates.map { Moment(id: $0) })
        let bound = Self.dates[6]
        let later = objects.where { $0.id >= bound }
        #expect(try later.fetch().map(\.id) == Array(Self.dates[6...]))
        #expect(try objects.where { $0.id == bound }.fetch().map(\.id) == [bound])
        #expect(
            try objects.order(by: \.id, .descending).limit(3).fetch().map(\.id)
                == Array(Self.dates.reversed().prefix(3)))
    }
}
