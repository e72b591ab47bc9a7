import RoostCoding
import RoostFormat
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost
@testable import RoostEngine

/// What a query remembers of a field's bytes changes no answer.
@Suite(.timeLimit(.minutes(10))) struct RememberedAnswersTests {
    /// `sum` is read of two fields, `first` of one, `label` of one that may be missing or long.
    private struct Pair: BinaryCodable, Identifiable, Sendable, StoredFields {
        var id: Int
        var first: Int
        var second: Int
        var label: String
        var sum: Int { first + second }

        static var storedFields: [StoredField<Pair>] {
            [
                StoredField(\.first) { try $0.field(2) },
                StoredField(\.sum) {
                    try $0.field(2, as: Int.self) + $0.field(3, as: Int.self)
                },
                StoredField(\.label) { try $0.field(4, default: "") },
            ]
        }

        init(_ id: Int, first: Int, second: Int, label: String) {
            (self.id, self.first, self.second, self.label) = (id, first, second, label)
        }

        init(from reader: inout BinaryReader) throws {
            id = try reader.field(1)
            first = try reader.field(2)
            second = try reader.field(3)
            label = try reader.field(4, default: "")
        }

        func encode(into writer: inout BinaryWriter) {
            writer.field(1, id)
            writer.field(2, first)
            writer.field(3, second)
            if !label.isEmpty { writer.field(4, label) }
        }
    }

    private struct Keyed: Codable, Identifiable, Sendable, StoredFields {
        var id: Int
        var label: String?
        var level: Int
        static var storedFields: [StoredField<Keyed>] {
            [StoredField(\.label, CodingKeys.label), StoredField(\.level, CodingKeys.level)]
        }
    }

    private static func label(_ random: inout SeededGenerator) -> String {
        String(repeating: ["a", "b", "é"][random.below(3)], count: random.below(40))
    }

    @Test func aFieldThatIsReadOfSeveralIsAskedEachTime() async throws {
        var random = SeededGenerator(seed: testSeed())
        let pairs = try await Workspace.inMemory().repository(of: Pair.self)
        let all = (0..<2_000).map {
            Pair(
                $0, first: random.below(5), second: random.below(5),
                label: Self.label(&random))
        }
        try await pairs.saveAll(all)
        for number in 0..<9 {
            #expect(try pairs.where { $0.sum == number }.count() == all.count { $0.sum == number })
            #expect(
                try pairs.where { $0.first == number || $0.sum > 6 }.fetch().count
                    == all.count { $0.first == number || $0.sum > 6 })
        }
    }

    @Test func manyDifferentValuesAreToldApart() async throws {
        var random = SeededGenerator(seed: testSeed())
        let workspace = try await Workspace.inMemory()
        let (pairs, items) = (
            workspace.repository(of: Pair.self), workspace.repository(of: Keyed.self)
        )
        let all = (0..<3_000).map {
            Pair(
                $0, first: random.below(random.once(in: 2) ? 9 : 1 << 40), second: 0,
                label: Self.label(&random))
        }
        try await pairs.saveAll(all)
        try await items.saveAll(
            all.map { Keyed(id: $0.id, label: $0.label.isEmpty ? nil : $0.label, level: $0.first) })
        for one in all.shuffled(using: &random).prefix(30) {
            let (first, label) = (one.first, one.label)
            let (same, less) = (
                all.count { $0.first == first && $0.label == label },
                all.count { $0.first < first || $0.label > label }
            )
            #expect(try pairs.where { $0.first == first && $0.label == label }.count() == same)
            #expect(try pairs.where { $0.first < first || $0.label > label }.count() == less)
            let stored = label.isEmpty ? nil : label
            #expect(try items.where { $0.level == first && $0.label == stored }.count() == same)
            #expect(
                try items.where { !($0.level >= first && $0.label != stored) }.count()
                    == all.count { !($0.first >= first && $0.label != label) })
        }
    }

    private static let calls = Mutex(0)

    private static func noteCall() -> Bool {
        calls.withLock { $0 += 1 }
        return true
    }

    @Test func aClosureIsRunForEachObject() async throws {
        let items = try await Workspace.inMemory().repository(of: Keyed.self)
        try await items.saveAll((0..<300).map { Keyed(id: $0, label: nil, level: 1) })
        let count = try items.where { $0.level.satisfies { _ in Self.noteCall() } }.count()
        #expect(count == 300)
        #expect(Self.calls.withLock { $0 } == 300)
    }

    /// One object has a field twice, as no writer of this package has it: the others are found all the same.
    @Test func aFieldThatStandsTwiceInOneObjectSaysNothingOfOthers() async throws {
        let items = try await Workspace.inMemory().repository(of: Twice.self)
        try await items.save(Twice(id: 0, level: 10, second: 99))
        try await items.saveAll((1..<20).map { Twice(id: $0, level: 10, second: nil) })
        let found = try items.where { $0.level >= 5 && $0.level < 50 }.fetch().map(\.id)
        #expect(found.filter { $0 > 0 } == Array(1..<20))
    }

    private struct Twice: BinaryCodable, Identifiable, Sendable, StoredFields {
        var id: Int
        var level: Int
        var second: Int?
        static var storedFields: [StoredField<Twice>] {
            [StoredField(\.level) { try $0.field(2) }]
        }

        init(id: Int, level: Int, second: Int?) {
            (self.id, self.level, self.second) = (id, level, second)
        }

        init(from reader: inout BinaryReader) throws {
            id = try reader.field(1)
            level = try reader.field(2)
        }

        func encode(into writer: inout BinaryWriter) {
            writer.field(1, id)
            writer.field(2, level)
            if let second { writer.field(2, second) }
        }
    }

    /// What was remembered of the one was the answer to the other.
    @Test func propertiesWhoseNamesSwiftHoldsToBeEqualAreTwo() async throws {
        let items = try await Workspace.inMemory().repository(of: Accented.self)
        try await items.saveAll((0..<40).map { Accented(id: $0, first: 1, second: $0 % 4) })
        for number in 0..<4 {
            #expect(try items.where { $0.second == number }.count() == 10)
        }
    }

    private struct Accented: Codable, Identifiable, Sendable, StoredFields {
        var id: Int
        var first: Int
        var second: Int

        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { return nil }

            static let id = Name(stringValue: "id")
            static let first = Name(stringValue: "e\u{301}")
            static let second = Name(stringValue: "\u{e9}")
        }

        static var storedFields: [StoredField<Accented>] { [StoredField(\.second, Name.second)] }

        init(id: Int, first: Int, second: Int) {
            (self.id, self.first, self.second) = (id, first, second)
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Name.self)
            id = try fields.decode(Int.self, forKey: .id)
            first = try fields.decode(Int.self, forKey: .first)
            second = try fields.decode(Int.self, forKey: .second)
        }

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: Name.self)
            try fields.encode(id, forKey: .id)
            try fields.encode(first, forKey: .first)
            try fields.encode(second, forKey: .second)
        }
    }

    /// Of an object of which nothing but the header is stored a query says that it does not decode.
    @Test func anObjectWithoutAnyBytesIsAnError() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Keyed.self)
        try await items.saveAll((0..<9).map { Keyed(id: $0, label: nil, level: $0) })
        let name = try #require(workspace.dictionary("Keyed").engineName)
        var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
        batch.put(
            EncodedValue(kind: ValueKind.roost.rawValue, payload: .bytes([])), forKey: 9.key,
            in: name)
        _ = try await workspace.engine.commit(batch, durability: nil)
        let error = #expect(throws: RoostError.self) {
            try items.where { $0.level > 3 }.fetch()
        }
        #expect(error?.code == .decodingFailed)
    }
}
