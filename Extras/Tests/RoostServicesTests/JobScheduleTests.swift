import Foundation
import Logging
import Roost
import RoostShared
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@testable import RoostServices

/// That each moment of a schedule has one job, whoever keeps it.
@Suite(.timeLimit(.minutes(5))) struct JobScheduleTests {
    private let time = SettableTime()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let begin = Date(timeIntervalSince1970: 1_796_001_600)  // twenty past an hour

    private func makeQueue() async throws -> (Workspace, JobQueue<Date>) {
        time.now = Self.begin
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        return (workspace, JobQueue(workspace, name: "reports"))
    }

    private func hourly(_ queue: JobQueue<Date>) -> JobSchedule<Date> {
        JobSchedule(queue, named: "hourly", at: .every(.seconds(3600)), logger: logger) { $0 }
    }

    /// Does all jobs that are due; their moments.
    private func take(_ queue: JobQueue<Date>) async throws -> [Date] {
        var moments: [Date] = []
        while let lease = try await queue.lease() {
            #expect(lease.id == "hourly@\(lease.payload.formatted(.iso8601))")
            moments.append(lease.payload)
            try await queue.complete(lease)
        }
        return moments
    }

    private func hour(_ number: Int) -> Date {
        let seconds = Self.begin.timeIntervalSince1970
        return Date(
            timeIntervalSince1970: ((seconds / 3600).rounded(.down) + Double(number)) * 3600)
    }

    @Test func aScheduleBeginsWithTheNextMoment() async throws {
        let (workspace, queue) = try await makeQueue()
        let schedule = hourly(queue)
        #expect(try await schedule.enqueueDue() == nil)
        time.now = hour(1).addingTimeInterval(-0.001)
        #expect(try await schedule.enqueueDue() == nil)
        time.now = hour(1)
        #expect(try await schedule.enqueueDue() == hour(1))
        #expect(try await schedule.enqueueDue() == nil)
        #expect(try await take(queue) == [hour(1)])
        try await workspace.close()
    }

    @Test func ofTheMomentsThatWereMissedTheLastHasAJob() async throws {
        let (workspace, queue) = try await makeQueue()
        try await hourly(queue).enqueueDue()
        time.now = hour(7).addingTimeInterval(900)
        #expect(try await hourly(queue).enqueueDue() == hour(7))
        time.now = hour(8)
        #expect(try await hourly(queue).enqueueDue() == hour(8))
        #expect(try await take(queue) == [hour(7), hour(8)])
        try await workspace.close()
    }

    @Test func aMomentHasOneJobHoweverManyKeepTheSchedule() async throws {
        let engine = MemoryEngine()
        var workspaces: [SharedWorkspace] = []
        for _ in 0..<3 {
            workspaces.append(try await .connect(to: .memory(engine), namespace: "app"))
        }
        let queues = workspaces.map { workspace in
            JobQueue<Date>(workspace, name: "reports", now: { [time] in time.now })
        }
        time.now = Self.begin
        for queue in queues { try await hourly(queue).enqueueDue() }
        var enqueued: [Date] = []
        for number in 1...20 {
            time.now = hour(number)
            enqueued += try await withThrowingTaskGroup(of: Date?.self) { group in
                for queue in queues + queues {
                    let schedule = hourly(queue)
                    group.addTask { try await schedule.enqueueDue() }
                }
                return try await group.reduce(into: []) { if let moment = $1 { $0.append(moment) } }
            }
        }
        #expect(enqueued == (1...20).map(hour))
        // Several processes take any of those that are due longest.
        #expect(try await take(queues[0]).sorted() == enqueued)
    }

    @Test func aClockThatIsSetBackALittleBringsNoSecondJob() async throws {
        let (workspace, queue) = try await makeQueue()
        try await hourly(queue).enqueueDue()
        time.now = hour(1)
        #expect(try await hourly(queue).enqueueDue() == hour(1))
        time.now = hour(1).addingTimeInterval(-30)
        #expect(try await hourly(queue).enqueueDue() == nil)
        time.now = hour(1).addingTimeInterval(5)
        #expect(try await hourly(queue).enqueueDue() == nil)
        // By a year: it does not wait for that.
        time.now = hour(-24 * 365)
        #expect(try await hourly(queue).enqueueDue() == nil)
        time.now = hour(-24 * 365 + 1)
        #expect(try await hourly(queue).enqueueDue() == hour(-24 * 365 + 1))
        try await workspace.close()
    }

    @Test func aScheduleThatIsChangedGoesOnBehindTheLastJob() async throws {
        let (workspace, queue) = try await makeQueue()
        try await hourly(queue).enqueueDue()
        time.now = hour(1)
        try await hourly(queue).enqueueDue()
        let quick = JobSchedule(
            queue, named: "hourly", at: .every(.seconds(60)), logger: logger
        ) { $0 }
        #expect(try await quick.enqueueDue() == nil)
        time.now = hour(1).addingTimeInterval(60)
        #expect(try await quick.enqueueDue() == hour(1).addingTimeInterval(60))
        try await workspace.close()
    }

    @Test func aServiceEnqueuesUntilItIsShutDown() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Date>(workspace)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    let schedule = JobSchedule(
                        queue, named: "s", at: .every(.seconds(1)), logger: logger
                    ) { $0 }
                    group.addTask { try await schedule.run() }
                }
                while try await queue.counts.pending < 2 {
                    try await Task.sleep(for: .milliseconds(20))
                }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        let ids = try workspace.dictionary("jobs.jobs").keys
        let moments = ids.map { $0.dropFirst(2) }.compactMap {
            try? Date(String($0), strategy: .iso8601)
        }
        #expect(moments.count == ids.count && Set(moments).count == ids.count)
        try await workspace.close()
    }

    // MARK: Moments

    private static let berlin = TimeZone(identifier: "Europe/Berlin")!

    private func moments(
        _ rule: JobMoments, from begin: String, _ count: Int
    ) throws -> [String] {
        var date = try Date(begin, strategy: .iso8601)
        return try (0..<count).map { _ in
            date = try #require(rule.next(after: date))
            return date.formatted(.iso8601)
        }
    }

    @Test func momentsOfACalendarAreThoseOfItsTimeZone() throws {
        let daily = JobMoments.matching(DateComponents(hour: 3), in: Self.berlin)
        #expect(
            try moments(daily, from: "2026-11-27T02:00:00Z", 2)
                == ["2026-11-28T02:00:00Z", "2026-11-29T02:00:00Z"])
        #expect(
            try moments(daily, from: "2026-11-27T02:20:00Z", 1) == ["2026-11-28T02:00:00Z"])
        let mondays = JobMoments.matching(
            DateComponents(hour: 8, minute: 30, weekday: 2), in: Self.berlin)
        #expect(
            try moments(mondays, from: "2026-11-27T00:00:00Z", 2)
                == ["2026-11-30T07:30:00Z", "2026-12-07T07:30:00Z"])
        let firsts = JobMoments.matching(DateComponents(day: 1), in: Self.berlin)
        #expect(
            try moments(firsts, from: "2026-11-27T00:00:00Z", 2)
                == ["2026-11-30T23:00:00Z", "2026-12-31T23:00:00Z"])
        let quarters = JobMoments.matching(DateComponents(minute: 15), in: Self.berlin)
        #expect(
            try moments(quarters, from: "2026-11-27T00:15:00Z", 2)
                == ["2026-11-27T01:15:00Z", "2026-11-27T02:15:00Z"])
    }

    @Test func aDayThatAMonthDoesNotHaveHasNoMoment() throws {
        let lasts = JobMoments.matching(DateComponents(day: 31, hour: 3), in: Self.berlin)
        #expect(
            try moments(lasts, from: "2026-11-01T00:00:00Z", 4)
                == [
                    "2026-12-31T02:00:00Z", "2027-01-31T02:00:00Z", "2027-03-31T01:00:00Z",
                    "2027-05-31T01:00:00Z",
                ])
        let leapDays = JobMoments.matching(
            DateComponents(month: 2, day: 29, hour: 2), in: Self.berlin)
        #expect(
            try moments(leapDays, from: "2026-11-01T00:00:00Z", 2)
                == ["2028-02-29T01:00:00Z", "2032-02-29T01:00:00Z"])
        let before = try Date("2027-05-01T00:00:00Z", strategy: .iso8601)
        #expect(lasts.last(through: before)?.formatted(.iso8601) == "2027-03-31T01:00:00Z")
        #expect(leapDays.last(through: before)?.formatted(.iso8601) == "2024-02-29T01:00:00Z")
        let never = JobMoments.matching(DateComponents(month: 2, day: 30), in: Self.berlin)
        #expect(never.next(after: before) == nil && never.last(through: before) == nil)
        // Its midnight of that day is none, and the one behind the gap is of the next weekday.
        let saturdays = JobMoments.matching(
            DateComponents(hour: 0, weekday: 7),
            in: try #require(TimeZone(identifier: "Asia/Beirut")))
        #expect(
            try moments(saturdays, from: "2004-03-27T15:19:00Z", 1) == ["2004-04-02T21:00:00Z"])
    }

    @Test func aDayOfChangedClocksHasOneMoment() throws {
        let nightly = JobMoments.matching(DateComponents(hour: 2, minute: 30), in: Self.berlin)
        #expect(
            try moments(nightly, from: "2026-03-27T12:00:00Z", 3)
                == ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"])
        #expect(
            try moments(nightly, from: "2026-10-24T12:00:00Z", 2)
                == ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"])
    }

    /// In steps of some minutes over a year, clocks that change included: no moment has two jobs or none.
    @Test func whoLooksOftenEnqueuesEachMomentOnce() async throws {
        let (workspace, queue) = try await makeQueue()
        let moments = JobMoments.matching(
            DateComponents(hour: 2, minute: 30), in: Self.berlin)
        let schedule = JobSchedule(queue, named: "n", at: moments, logger: logger) { $0 }
        let end = Self.begin.addingTimeInterval(366 * 86_400)
        var expected: [Date] = []
        var next = try #require(moments.next(after: Self.begin))
        while next <= end {
            expected.append(next)
            next = try #require(moments.next(after: next))
        }
        var enqueued: [Date] = []
        while time.now <= end {
            if let moment = try await schedule.enqueueDue() { enqueued.append(moment) }
            time.advance(by: .seconds(1_700))
        }
        #expect(enqueued == expected.filter { $0 <= end })
        #expect(enqueued.count == 366)
        try await workspace.close()
    }
}
