import Foundation
import Roost
import RoostTestSupport

enum SampleColor: String, Codable, CaseIterable, Sendable, IndexRepresentable, BinaryCodable {
    case red, green, blue
}

/// An object with a field of each kind, and values that are hard to compare.
struct Sample<Form: SampleForm>: Codable, Identifiable, Equatable, Sendable {
    typealias Color = SampleColor

    struct Owner: Codable, Equatable, Sendable {
        var name: String
        var city: String?
    }

    var id: Int
    var text: String
    var note: String?
    var number: Int
    var score: Double
    var ratio: Double?
    var color: Color
    var tags: [String]
    var isDone: Bool
    var owner: Owner
    var maybe: Owner?
    var data: Data
    var date: Date?
    /// The least and the greatest are among its values.
    var quota: Int?
    var size: UInt64?
    /// Kept unique by an index of that name; NaN is equal to none.
    var serial: Double
}

extension Sample: Indexed {
    static var indexes: [Index<Sample>] { all.filter { DeclaredIndexes.names.contains($0.name) } }
    /// The index that keeps values unique, which a store has always or never.
    static var uniqueName: String { "serial" }

    static var all: [Index<Sample>] {
        [
            Index("number", \.number),
            Index("color-number", \.color, .descending(\.number)),
            Index("text", \.text),
            Index("note-score", \.note, \.score),
            Index("score", .descending(\.score)),
            Index("ratio", \.ratio),
            Index("tags", each: \.tags),
            Index("done-color-text", \.isDone, \.color, \.text),
            Index("owner", \.owner.name),
            Index("city", .descending(\.owner.city), .descending(\.number)),
            Index("date", \.date, where: { $0.color != .green }),
            Index("open", \.number, \.text, where: { !$0.isDone && $0.number > 2 }),
            Index("data", \.data, .descending(\.date)),
            Index("maybe", \.maybe?.name),
            Index("serial", \.serial, isUnique: true),
            Index("quota", \.quota),
            Index("quota-down", .descending(\.quota), \.size, where: { $0.number > 2 }),
            Index("size", \.size, \.text),
            Index("open-tags", each: \.tags, where: { !$0.isDone }),
            Index("untagged", \.number, where: { !$0.tags.contains("a") }),
            Index("four", \.color, \.isDone, \.number, \.text),
            Index(
                "five", .ascending(\.isDone), .descending(\.color), .ascending(\.note),
                .descending(\.score), .ascending(\.size)),
            Index("tagged", \.text, where: { $0.tags.contains("a") || $0.tags.contains("b") }),
        ]
    }
}

extension Sample {
    // Here, as the compiler's coding keys are private to the file.

    /// Without `data`, which a condition then needs the object for.
    static var keyedFields: [StoredField<Sample>] {
        [
            StoredField(\.text, CodingKeys.text), StoredField(\.note, CodingKeys.note),
            StoredField(\.number, CodingKeys.number), StoredField(\.score, CodingKeys.score),
            StoredField(\.ratio, CodingKeys.ratio), StoredField(\.color, CodingKeys.color),
            StoredField(\.tags, CodingKeys.tags), StoredField(\.owner, CodingKeys.owner),
            StoredField(\.maybe, CodingKeys.maybe), StoredField(\.date, CodingKeys.date),
            StoredField(\.quota, CodingKeys.quota), StoredField(\.size, CodingKeys.size),
        ]
    }
}

/// What the next repositories of samples declare.
enum DeclaredIndexes {
    @TaskLocal static var names: Set<String> = []
}

extension SeededGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    mutating func text() -> String {
        pick([
            "", "a", "b", "caf\u{e9}", "cafe\u{301}", "CAFE", "\u{1e9b}\u{323}", "z\u{0}", "z",
            "zz",
            "\u{212b}", "\u{c5}", "A\u{30a}", "\u{1f468}\u{200d}\u{1f469}", "draft one", "draft",
            String(repeating: "x", count: 1024), String(repeating: "x", count: 1025),
            String(repeating: "x", count: 5_000), String(repeating: "x", count: 4_999) + "y",
            String(repeating: "\u{e9}", count: 700),
        ])
    }

    mutating func number() -> Int {
        pick([0, 1, 2, 3, 4, 5, 6, -1, .min, .max, 255, 256, -256, 1 << 40])
    }

    mutating func score() -> Double {
        pick([
            0, -0.0, .nan, -.nan, .infinity, -.infinity, 1, 1.5, -1.5, .leastNonzeroMagnitude,
            -.leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e-300,
        ])
    }

    mutating func quota() -> Int? {
        once(in: 3) ? nil : pick([.min, .min + 1, -1, 0, 1, .max - 1, .max])
    }

    mutating func size() -> UInt64? {
        once(in: 3) ? nil : pick([0, 1, 255, 1 << 40, .max >> 8, .max - 1, .max])
    }

    /// Few, so that objects share them.
    mutating func tag() -> String { once(in: 4) ? text() : pick(["a", "b", "zz"]) }

    mutating func date() -> Date {
        Date(timeIntervalSinceReferenceDate: pick([0, 1, -1, 1e9, 0.25]))
    }

    mutating func sample<Form>(id: Int) -> Sample<Form> {
        Sample(
            id: id, text: text(), note: once(in: 3) ? nil : text(), number: number(),
            score: score(),
            ratio: once(in: 3) ? nil : score(), color: pick(SampleColor.allCases),
            tags: (0..<below(4)).map { _ in tag() }, isDone: once(in: 2),
            owner: .init(name: text(), city: once(in: 2) ? nil : text()),
            maybe: once(in: 2) ? nil : .init(name: text(), city: once(in: 2) ? nil : text()),
            data: Data(pick([[], [0], [0, 0], [0, 1], [255], [1, 2, 3]]) as [UInt8]),
            date: once(in: 3) ? nil : date(), quota: quota(), size: size(),
            serial: once(in: 3) ? .nan : Double(below(400)))
    }
}
