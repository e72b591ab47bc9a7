import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// A thousand live queries under writes keep what they show and no more. A second of it each time;
/// `ROOST_LIVE_SECONDS` for more, and then the process's memory is looked at too.
@Suite(.timeLimit(.minutes(90))) struct LiveMemoryTests {
    private static var seconds: Double? {
        ProcessInfo.processInfo.environment["ROOST_LIVE_SECONDS"].flatMap { Double($0) }
    }
    private static let objectCount = 1_000

    private struct Job: Codable, Identifiable, Sendable, Indexed {
        static var indexes: [Index<Job>] { [Index("points", \.points)] }
        var id: Int
        var title = ""
        var points = 0
    }

    private struct Watched {
        let outlet: LiveOutlet<Job>
        let registration: LiveRegistration<Job>
        /// Never, now and then, or always.
        let reading: Int
    }

    @Test func aThousandLiveQueriesDoNotGrow() async throws {
        var random = SeededGenerator(seed: testSeed())
        let seconds = Self.seconds ?? 1
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(memoryBudgetBytes: 16 << 20))
            let jobs = workspace.repository(of: Job.self)
            try await jobs.saveAll((0..<Self.objectCount).map { Job(id: $0, points: $0) })
            try await jobs.indexesBuilt()
            let live = workspace.live.objects(of: jobs)
            var watched: [Watched] = []
            for number in 0..<1_000 { watched.append(try open(number, live, jobs, &random)) }
            let begin = ContinuousClock.now
            var warm: Int?
            var transactions = 0
            while begin.duration(to: .now) < .seconds(seconds) {
                try await change(jobs, &random)
                transactions += 1
                for query in watched where query.reading > 0 && random.once(in: query.reading) {
                    read(query)
                }
                let replaced = random.below(watched.count)
                watched[replaced] = try open(random.below(1_000), live, jobs, &random)
                if warm == nil, begin.duration(to: .now) > .seconds(seconds / 3) {
                    warm = residentSizeBytes()
                }
            }
            print("\(transactions) transactions")
            #expect(workspace.statistics.liveQueryCount == watched.count)
            #expect(live.keptObjectCount <= Self.objectCount)
            for query in watched { #expect(query.outlet.positionCount <= Self.objectCount) }
            if Self.seconds != nil, let warm, let now = residentSizeBytes() {
                print("\(warm >> 20) MiB after a third, \(now >> 20) MiB at the end")
                #expect(now < warm + warm / 10 + (32 << 20))
            }
            watched = []
            #expect(live.keptObjectCount == 0)
            #expect(workspace.statistics.liveQueryCount == 0)
            try await workspace.close()
        }
    }

    private func open(
        _ number: Int, _ live: LiveObjects<Job>, _ jobs: Repository<Job>,
        _ random: inout SeededGenerator
    ) throws -> Watched {
        let lower = random.below(Self.objectCount)
        let some = jobs.where { $0.points >= lower && $0.points < lower + 40 }
        let query =
            switch number % 4 {
            case 0: jobs.where { $0.points == lower }
            case 1: some.order(by: \.points, .descending)
            case 2: some.order(by: \.title).limit(10)
            default: some
            }
        let outlet = LiveOutlet<Job>(wantsPositions: number % 8 < 4)
        return Watched(
            outlet: outlet, registration: try live.open(query, outlet),
            reading: random.pick([0, 0, 20, 1]))
    }

    private func change(_ jobs: Repository<Job>, _ random: inout SeededGenerator) async throws {
        let changes = (0..<(1 + random.below(12))).map { _ in
            (
                random.below(Self.objectCount), random.below(Self.objectCount), random.next(),
                random.once(in: 10)
            )
        }
        try await jobs.dictionary.workspace.transaction { transaction in
            for (id, points, title, isDeleted) in changes {
                if isDeleted {
                    try transaction.delete(id, in: jobs)
                } else {
                    try transaction.save(
                        Job(id: id, title: "\(title)", points: points), in: jobs)
                }
            }
        }
    }

    private func read(_ query: Watched) {
        while true {
            switch query.outlet.take() {
            case .resultDue: _ = query.registration.items(query.outlet)
            case .change: break
            case .empty, .ended: return
            }
        }
    }

    /// `nil` where the system does not say it.
    private func residentSizeBytes() -> Int? {
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            .split(separator: " ")
        return pages.flatMap { Int($0[1]) }.map { $0 * 4096 }
    }
}
