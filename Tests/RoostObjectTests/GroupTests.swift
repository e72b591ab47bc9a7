import Foundation
import Roost
import RoostTestSupport
import Testing

/// Groups by several fields together, and by each element of one.
@Suite(.timeLimit(.minutes(5))) struct GroupTests {
    private struct Note: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var color = "red"
        var author = "Ada"
        var isOpen = true
        var size = 0
        var tags: [String] = []
        var scores: [Double]?
        var marks: Set<Int> = []

        static var indexes: [Index<Note>] {
            [
                Index(
                    "open-color-author", .ascending(\.isOpen), .ascending(\.color),
                    .descending(\.author), .ascending(\.size)),
                Index("tags", each: \.tags), Index("scores", each: \.scores),
                Index("open-marks", each: \.marks, where: { $0.isOpen }),
            ]
        }
    }

    private func notes(_ all: [Note]) async throws -> Repository<Note> {
        let notes = try await Workspace.inMemory().repository(of: Note.self)
        try await notes.saveAll(all)
        try await notes.indexesBuilt()
        return notes
    }

    private var some: [Note] {
        [
            Note(id: 1, size: 3), Note(id: 2, author: "Bo", size: 4),
            Note(id: 3, color: "blue", author: "Bo", isOpen: false),
            Note(id: 4, color: "blue", author: "Bo", size: 5), Note(id: 5, size: 6),
        ]
    }

    @Test func severalFieldsAreAKeyTogether() async throws {
        let notes = try await notes(some)
        let groups = notes.grouped(by: \.color, \.author)
        let counts = try groups.counts()
        #expect(counts[GroupKey("red", "Ada")] == 2)
        let sorted = counts.sorted { $0.key < $1.key }
        #expect(sorted.map(\.value) == [2, 2, 1])
        let (color, author) = sorted[2].key.values
        #expect(color == "red" && author == "Bo")
        #expect("\(sorted[0].key)" == "(blue, Bo)")
        #expect(try groups.sums(of: \.size)[GroupKey("red", "Ada")] == 9)
        #expect(
            try notes.grouped(by: \.isOpen, \.color, \.size).counts()[
                GroupKey(false, "blue", 0)] == 1)
        let inView = try notes.dictionary.workspace.read { try $0.counts(of: groups) }
        #expect(inView == counts)
        let inTransaction = try await notes.dictionary.workspace.transaction { transaction in
            try transaction.delete(2, in: notes)
            return try transaction.counts(of: groups)
        }
        #expect(inTransaction == [GroupKey("red", "Ada"): 2, GroupKey("blue", "Bo"): 2])
    }

    /// Behind a field of which the condition says one value, in any order.
    @Test func anIndexBehindAFixedFieldAnswersAlone() async throws {
        let notes = try await notes(some)
        let open = notes.where { $0.isOpen }
        #expect(
            try open.grouped(by: \.author, \.color).counts()
                == [GroupKey("Ada", "red"): 2, GroupKey("Bo", "red"): 1, GroupKey("Bo", "blue"): 1])
        #expect(try open.grouped(by: \.color).counts() == ["red": 3, "blue": 1])
        #expect(try open.distinct(\.color) == ["blue", "red"])
        #expect(
            try notes.where { $0.isOpen && $0.color == "red" && $0.author >= "Bo" }
                .grouped(by: \.author).counts() == ["Bo": 1])
    }

    @Test func anObjectIsOfEachOfItsElementsOnce() async throws {
        let notes = try await notes([
            Note(id: 1, tags: ["a", "b", "a"], marks: [1, 2]), Note(id: 2, tags: ["b"]),
            Note(id: 3, isOpen: false, size: 5, marks: [1]),
            Note(id: 4, color: "blue", size: 7, tags: ["b", "c"]),
        ])
        let tags = notes.grouped(byEach: \.tags)
        #expect(try tags.counts() == ["a": 1, "b": 3, "c": 1])
        #expect(try tags.sums(of: \.size) == ["a": 0, "b": 7, "c": 7])
        #expect(try notes.grouped(byEach: \.marks).counts() == [1: 2, 2: 1])
        #expect(try notes.where { $0.isOpen }.grouped(byEach: \.marks).counts() == [1: 1, 2: 1])
        // An object that has one element counts for its others too.
        #expect(
            try notes.where { $0.tags.contains("a") }.grouped(byEach: \.tags).counts()
                == ["a": 1, "b": 1])
        #expect(
            try notes.order(by: \.size, .descending).limit(1).grouped(byEach: \.tags).counts()
                == ["b": 1, "c": 1])
        let inView = try notes.dictionary.workspace.read { try $0.counts(of: tags) }
        #expect(inView == ["a": 1, "b": 3, "c": 1])
        let inTransaction = try await notes.dictionary.workspace.transaction { transaction in
            try transaction.update(2, in: notes) { $0.tags = ["d"] }
            return try transaction.counts(of: tags)
        }
        #expect(inTransaction == ["a": 1, "b": 2, "c": 1, "d": 1])
    }

    /// An entry has 1 KiB of an element, and one for all NaN.
    @Test func elementsThatAnEntryDoesNotTellApart() async throws {
        let long = String(repeating: "x", count: 1_500)
        let notes = try await notes([
            Note(id: 1, tags: [long + "a", long + "b"], scores: [0, -0.0, 1]),
            Note(id: 2, tags: [long + "b"], scores: [.nan, 0]), Note(id: 3, scores: [.nan, .nan]),
            Note(id: 4),
        ])
        #expect(try notes.grouped(byEach: \.tags).counts() == [long + "a": 1, long + "b": 2])
        let scores = try notes.grouped(byEach: \.scores).counts()
        #expect(scores[0] == 2 && scores[1] == 1)
        #expect(scores.filter { $0.key.isNaN }.map(\.value) == [1, 1, 1])
    }
}
