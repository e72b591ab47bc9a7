import Foundation
import Roost
import RoostTestSupport
import Testing

/// Counts, extremes and sums: those that an index answers alone, and those that data may make too large.
@Suite(.timeLimit(.minutes(10))) struct AggregateTests {
    struct Item: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var tags: [String] = []
        var number = 0
        var limit: Int?
        var size: UInt64?
        var wide: Int128?
        var text = ""
        var color = 0
        static var indexes: [Index<Item>] {
            [
                Index("tags", each: \.tags), Index("limit", \.limit), Index("size", \.size),
                Index("wide", .descending(\.wide)),
                Index("big", \.color, \.number, where: { $0.number > 2 }),
            ]
        }
    }

    private func items(_ all: [Item]) async throws -> Repository<Item> {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        try await items.saveAll(all)
        try await items.indexesBuilt()
        return items
    }

    // MARK: From an index alone

    /// The entries of an index over elements say that one is something, and not what the others are.
    @Test func aCountOfElementsIsThatOfTheObjects() async throws {
        let items = try await items([
            Item(id: 1, tags: ["a"]), Item(id: 2, tags: ["b"]), Item(id: 3, tags: ["b", "c"]),
            Item(id: 4, tags: ["a", "c"]),
        ])
        let queries = [
            items.where {
                $0.tags.contains("a") || ($0.tags.contains("b") && $0.tags.contains("c"))
            },
            items.where {
                $0.tags.contains("a") || ($0.tags.contains("b") && !$0.tags.contains("c"))
            },
            items.where { $0.tags.contains("a") || $0.tags.contains("c") },
        ]
        for query in queries {
            #expect(try query.count() == query.fetch().count)
            #expect(try query.isEmpty() == query.fetch().isEmpty)
        }
    }

    /// What an index leaves out says nothing of elements.
    @Test func aPartialIndexDoesNotAnswerForElements() async throws {
        let items = try await items([
            Item(id: 1, tags: ["a"], number: 5), Item(id: 2, tags: ["b"], number: 6),
            Item(id: 3, number: 7),
        ])
        let query = items.where { $0.number > 2 && !$0.tags.contains("a") }
        #expect(try query.count() == 2)
        #expect(try query.distinct(\.number) == [6, 7])
        #expect(try query.grouped(by: \.color).counts() == [0: 2])
        let one = items.where { $0.number > 2 && $0.color == 0 && !$0.tags.contains("b") }
        #expect(try one.count() == 2)
        #expect(
            try items.where {
                $0.number > 2 && $0.color == 0 && !$0.tags.contains("b") && $0.number < 6
            }
            .isEmpty() == false)
    }

    // MARK: Extremes

    @Test func theGreatestOfAnOptionalMayHaveTheHighestForm() async throws {
        let items = try await items([
            Item(id: 1, limit: 1, size: 1, wide: 1),
            Item(id: 2, limit: .max, size: .max, wide: .max),
            Item(id: 3, limit: .min, size: 0, wide: .min), Item(id: 4),
        ])
        #expect(try items.all.max(of: \.limit) == .max && items.all.min(of: \.limit) == .min)
        #expect(try items.all.max(of: \.size) == .max && items.all.min(of: \.size) == 0)
        #expect(try items.all.max(of: \.wide) == .max && items.all.min(of: \.wide) == .min)
        #expect(try items.where { $0.limit > 1 }.count() == 1)
        #expect(try items.where { $0.size >= 1 }.fetch().map(\.id) == [1, 2])
        #expect(try items.where { $0.limit <= .max }.count() == 3)
    }

    /// An index keeps 1 KiB of a text; the greatest of some texts is told by all of it.
    @Test func theExtremesOfALimitAreThoseOfTheWholeText() async throws {
        let long = String(repeating: "x", count: 2_000)
        let items = try await items((0..<5).map { Item(id: $0, text: long + "\(($0 * 2) % 5)") })
        let some = items.all.limit(4)
        #expect(try some.max(of: \.text) == long + "4" && some.min(of: \.text) == long + "0")
        let last = items.all.offset(1)
        #expect(try last.max(of: \.text) == long + "4" && last.min(of: \.text) == long + "1")
    }

    @Test func extremesOfEachGroup() async throws {
        let items = try await items(
            (0..<12).map { Item(id: $0, number: ($0 * 7) % 12, text: "\($0)", color: $0 % 3) })
        let groups = items.where { $0.id != 11 }.grouped(by: \.color)
        #expect(try groups.maxima(of: \.number) == [0: 9, 1: 10, 2: 11])
        #expect(try groups.minima(of: \.number) == [0: 0, 1: 1, 2: 2])
        #expect(try groups.sums(of: \.number) == [0: 18, 1: 22, 2: 21])
        #expect(try items.where { $0.id < 0 }.grouped(by: \.color).maxima(of: \.number).isEmpty)
    }

    // MARK: What does not fit

    @Test func anOffsetBehindTheHighestLimit() async throws {
        let items = try await items((0..<9).map { Item(id: $0, number: $0 + 3, color: 1) })
        let all = items.where { $0.color == 1 && $0.number > 2 }
        #expect(try all.limit(.max).offset(1).fetch().count == 8)
        #expect(try all.order(by: \.number).limit(.max).offset(2).fetch().count == 7)
        #expect(try all.order(by: \.text).limit(.max).offset(2).fetch().count == 7)
        #expect(try all.offset(.max).offset(.max).fetch().isEmpty)
        #expect(try all.limit(.max).offset(.max).offset(1).count() == 0)
        #expect(try all.order(by: \.number).page(after: nil, limit: .max).items.count == 9)
        #expect(try items.all.limit(.max).offset(3).fetch().count == 6)
    }

    @Test func aSumThatDoesNotFitIsAnError() async throws {
        let items = try await items([
            Item(id: 1, number: .max, color: 1), Item(id: 2, number: 1, color: 1),
            Item(id: 3, number: -1, color: 2), Item(id: 4, number: .min, color: 2),
        ])
        #expect {
            try items.where { $0.color == 1 }.sum(of: \.number)
        } throws: { error in
            guard let error = error as? RoostError else { return false }
            return error.code == .overflow && error.message.contains("number")
        }
        #expect(throws: RoostError.self) {
            try items.where { $0.color == 2 }.sum(of: \.number)
        }
        #expect(throws: RoostError.self) {
            try items.grouped(by: \.color).sums(of: \.number)
        }
        // What fits in the end does, whatever is added first.
        #expect(try items.all.sum(of: \.number) == -1)
        #expect(try items.all.sum(of: \.id) == 10)
    }

    // MARK: Averages

    private struct Measured: Codable, Identifiable, Sendable {
        var id: Int
        var small: Int8 = 0
        var whole = 0
        var wide: Int128 = 0
        var unsigned: UInt128 = 0
        var part: Float = 0
        var ratio: Double?
        var price: Decimal = 0
        var discount: Decimal?
    }

    private func measured(_ all: [Measured]) async throws -> Repository<Measured> {
        let items = try await Workspace.inMemory().repository(of: Measured.self)
        try await items.saveAll(all)
        return items
    }

    @Test func anAverageOfNothingIsNone() async throws {
        let items = try await measured([Measured(id: 1, whole: 3), Measured(id: 2, whole: 4)])
        #expect(try items.all.average(of: \.whole) == 3.5)
        #expect(try items.where { $0.whole > 9 }.average(of: \.whole) == nil)
        #expect(try items.all.limit(0).average(of: \.whole) == nil)
        #expect(try items.all.average(of: \.ratio) == nil)
        #expect(try items.all.average(of: \.discount) == nil)
        #expect(try items.grouped(by: \.whole).averages(of: \.ratio).isEmpty)
    }

    /// However large their sum is.
    @Test func integersAreAveragedWithoutOverflow() async throws {
        let items = try await measured([
            Measured(id: 1, small: 127, whole: .max, wide: .max, unsigned: .max),
            Measured(id: 2, small: 127, whole: .max, wide: .max, unsigned: .max),
            Measured(id: 3, small: -128, whole: .max - 3, wide: .max, unsigned: .max),
        ])
        #expect(try items.all.average(of: \.small) == 42)
        #expect(try items.all.average(of: \.whole) == 0x1p63)
        #expect(try items.all.average(of: \.wide) == 0x1p127)
        #expect(try items.all.average(of: \.unsigned) == 0x1p128)
        try await items.saveAll([
            Measured(id: 3, small: -128, whole: .min, wide: .min),
            Measured(id: 4, whole: .min, wide: .min),
        ])
        #expect(try items.all.average(of: \.whole) == -0.5)
        #expect(try items.all.average(of: \.wide) == -0.5)
        #expect(try items.all.average(of: \.unsigned) == 0x1p127)
    }

    @Test func averagesOfOtherNumbers() async throws {
        let items = try await measured([
            Measured(id: 1, whole: 1, part: 0.25, ratio: 1, price: Decimal(string: "0.1")!),
            Measured(id: 2, whole: 1, part: 0.5, price: Decimal(string: "0.2")!, discount: 1),
            Measured(id: 3, whole: 2, part: 0.75, ratio: 4, price: Decimal(string: "0.3")!),
        ])
        #expect(try items.all.average(of: \.part) == 0.5)
        #expect(try items.all.average(of: \.ratio) == 2.5)
        #expect(try items.all.average(of: \.price) == Decimal(string: "0.2"))
        #expect(try items.all.average(of: \.discount) == 1)
        let groups = items.grouped(by: \.whole)
        #expect(try groups.averages(of: \.ratio) == [1: 1, 2: 4])
        let averages = try items.dictionary.workspace.read { view in
            try (
                view.average(of: \.whole, in: items.all), view.average(of: \.ratio, in: items.all),
                view.averages(of: \.part, in: groups), view.averages(of: \.discount, in: groups)
            )
        }
        #expect(averages.0 == 4.0 / 3 && averages.1 == 2.5)
        #expect(averages.2 == [1: 0.375, 2: 0.75] && averages.3 == [1: 1])
        let inTransaction = try await items.dictionary.workspace.transaction { transaction in
            try transaction.update(2, in: items) { $0.ratio = 7 }
            return try (
                transaction.average(of: \.ratio, in: items.all),
                transaction.averages(of: \.ratio, in: groups),
                transaction.averages(of: \.part, in: groups)
            )
        }
        #expect(inTransaction.0 == 4 && inTransaction.1 == [1: 4, 2: 4])
        #expect(inTransaction.2 == [1: 0.375, 2: 0.75])
    }

    private struct Euro: Codable, Sendable, Averageable {
        var cents: Int
        static var emptySum: Int.AverageSum { Int.emptySum }
        static func add(_ price: Euro, to sum: inout Int.AverageSum) {
            Int.add(price.cents, to: &sum)
        }
        static func average(of sum: Int.AverageSum, count: Int) -> Double {
            Int.average(of: sum, count: count) / 100
        }
    }

    private struct Sale: Codable, Identifiable, Sendable {
        var id: Int
        var price: Euro
    }

    @Test func aTypeOfOnesOwnSaysWhatItsAverageIs() async throws {
        let sales = try await Workspace.inMemory().repository(of: Sale.self)
        try await sales.saveAll(
            [250, 350].enumerated().map { Sale(id: $0, price: Euro(cents: $1)) })
        #expect(try sales.all.average(of: \.price) == 3)
    }
}
