import Foundation
import Roost
import RoostMacros
import Testing

@BinaryCodable struct Note: Equatable, Identifiable, Sendable {
    @Field(1) var id: Int
    @Field(2) var title: String
    @Field(5) var rank: Int? = 7
    @Field(4) private(set) var tags: [String] = []
    @Field(3) var `default`: Double?
    @Field(9) var author = "Ada"
}

@BinaryCodable struct Boxed<Content: BinaryCodable & Sendable & Equatable>: Equatable, Sendable {
    @Field(1) var content: Content
}

@BinaryCodable struct Bounded: Equatable, Identifiable, Sendable {
    @Field(1) var id: Int
    @Field(2) @Clamped var level: Int
}

/// What was stored before the wrapper was there.
@BinaryCodable struct UnboundedTwin: Equatable, Sendable {
    @Field(1) var id: Int
    @Field(2) var level: Int
}

/// Queries read the fields that they ask of, as the macro says where these are.
@Suite struct MacroQueryTests {
    @Test func conditionsReadTheirFieldsAndAnswerAsTheObjectsDo() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        var all: [Note] = []
        for id in 0..<200 {
            var note = Note(id: id, title: "t\(id % 9)", tags: id % 4 == 0 ? ["swift"] : [])
            note.rank = id % 5 == 0 ? nil : id % 3 == 0 ? 7 : id
            note.default = id % 2 == 0 ? nil : Double(id) / 4
            all.append(note)
        }
        try await notes.saveAll(all)
        let queries: [(Query<Note>, (Note) -> Bool)] = [
            (notes.where { $0.title == "t3" }, { $0.title == "t3" }),
            (notes.where { $0.rank == nil }, { $0.rank == nil }),
            (notes.where { $0.rank == 7 }, { $0.rank == 7 }),
            // Not in the order in which they are stored.
            (
                notes.where { $0.author == "Ada" && $0.default > 10 && $0.id < 150 },
                { $0.author == "Ada" && $0.default ?? 0 > 10 && $0.id < 150 }
            ),
            (
                notes.where { $0.tags.contains("swift") || !$0.title.hasPrefix("t1") },
                { $0.tags.contains("swift") || !$0.title.hasPrefix("t1") }
            ),
            (
                notes.where { $0.satisfies { $0.id % 7 == 0 } && $0.rank > 20 },
                { $0.id % 7 == 0 && $0.rank ?? 0 > 20 }
            ),
        ]
        for (query, matches) in queries {
            #expect(try query.fetch() == all.filter(matches))
            #expect(try query.count() == all.filter(matches).count)
            let way = try query.explain()
            #expect(
                way.hasPrefix("every object by its fields")
                    || way.hasPrefix("a range of identifiers, by fields"))
        }
        try await workspace.close()
    }

    /// Where fields are missing or of a newer version, they are what decoding says.
    @Test func missingFieldsAreTheirDefaults() async throws {
        let notes = try await Workspace.inMemory().repository(of: Note.self)
        try await notes.save(Note(id: 1, title: "", rank: nil))
        #expect(try notes.where { $0.rank == nil && $0.author == "Ada" }.count() == 1)
        #expect(Note.storedFields.count == 6)
    }

    @Test func aGenericTypeIsReadWhole() {
        #expect(!(Boxed<Int>.self is any StoredFields.Type))
    }

    /// The wrapper shows another value than the one that is stored; a query that read the stored one found objects that it
    /// should not have.
    @Test func aWrappedPropertyIsAskedAsTheObjectShowsIt() async throws {
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("Bounded").setAll(
            (0..<60).map { ("\($0)", UnboundedTwin(id: $0, level: $0)) })
        let bounded = workspace.repository(of: Bounded.self, named: "Bounded")
        let all = try await bounded.loadAll()
        #expect(all.count == 60)
        #expect(try bounded.where { $0.level > 20 }.fetch() == all.filter { $0.level > 20 })
        #expect(try bounded.where { $0.level == 10 }.count() == all.filter { $0.level == 10 }.count)
        try await workspace.close()
    }
}
