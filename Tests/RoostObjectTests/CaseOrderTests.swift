import Foundation
import Roost
import RoostTestSupport
import Testing

/// Enums whose `<` is not the order of their raw values: an index, an order and a scan answer by `<`.
@Suite("Cases in an order of their own") struct CaseOrderTests {
    enum Level: String, Codable, CaseIterable, Comparable, IndexRepresentable {
        case low, medium, high
        static func < (left: Level, right: Level) -> Bool {
            allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
        }
    }

    /// As bug trackers count: 1 is the most urgent.
    enum Urgency: Int, Codable, CaseIterable, Comparable, IndexRepresentable {
        case critical = 1
        case major = 2
        case minor = 3
        static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue > right.rawValue }
    }

    /// Has a value that `allCases` leaves out.
    struct Grade: RawRepresentable, Codable, CaseIterable, Comparable, IndexRepresentable {
        var rawValue: String
        static var allCases: [Grade] { ["poor", "fair", "good"].map { Grade(rawValue: $0) } }
        static func < (left: Grade, right: Grade) -> Bool { left.place < right.place }
        private var place: Int {
            Self.allCases.firstIndex { $0 == self }.map { 2 * $0 + 2 } ?? 1
        }
    }

    struct Job: Codable, Identifiable, Equatable, Indexed {
        var id: Int
        var level: Level
        var maybe: Level?
        var urgency: Urgency
        var grade: Grade
        var plainLevel: Level { level }
        static var indexes: [Index<Job>] {
            [
                Index("level", \.level), Index("maybe", .descending(\.maybe)),
                Index("urgency", \.urgency), Index("grade", \.grade),
            ]
        }
    }

    @Test("Ranges, orders and extremes are those of the type's own order") func ownOrder()
        async throws
    {
        var random = SeededGenerator(seed: testSeed())
        let workspace = try await Workspace.inMemory()
        let jobs = workspace.repository(of: Job.self)
        let all = (0..<200).map { id in
            Job(
                id: id, level: random.once(in: 20) ? .high : random.once(in: 20) ? .medium : .low,
                maybe: random.pick([nil, .low, .medium, .high]),
                urgency: random.once(in: 20) ? .critical : .minor,
                grade: random.pick(Grade.allCases + [Grade(rawValue: "unknown")]))
        }
        try await jobs.saveAll(all)
        try await jobs.indexesBuilt()

        let raised = jobs.where { $0.level >= .medium }
        #expect(try raised.explain().hasPrefix("index \"level\""))
        #expect(try raised.count() == all.filter { $0.level >= .medium }.count)
        #expect(try jobs.where { $0.plainLevel >= .medium }.fetch() == raised.fetch())
        #expect(try jobs.where { $0.level > .high }.isEmpty())
        for level in Level.allCases {
            #expect(
                try jobs.where { $0.level == level }.count()
                    == all.filter { $0.level == level }.count)
            #expect(
                try jobs.where { $0.maybe < level }.count()
                    == all.filter { $0.maybe.map { $0 < level } ?? false }.count)
        }
        let urgent = jobs.where { $0.urgency > .major }
        #expect(try urgent.explain().hasPrefix("index \"urgency\""))
        #expect(try urgent.count() == all.filter { $0.urgency == .critical }.count)
        #expect(
            try jobs.where { $0.grade > Grade(rawValue: "poor") }.count()
                == all.filter { $0.grade > Grade(rawValue: "poor") }.count)

        #expect(try jobs.order(by: \.level).values(of: \.level) == all.map(\.level).sorted())
        #expect(
            try jobs.order(by: \.maybe, .descending).values(of: \.maybe).first
                == .some(all.compactMap(\.maybe).max()))
        #expect(try jobs.all.max(of: \.level) == all.map(\.level).max())
        #expect(try jobs.all.min(of: \.urgency) == .minor)
        #expect(try jobs.distinct(\.level) == Level.allCases)
    }
}
