import RoostFormat
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

@Suite struct ExpiryClockTests {
    @Test func timeNeverGoesBackForThoseWhoAsk() {
        let wall = Atomic<UInt64>(1000)
        let clock = ExpiryClock { wall.load(ordering: .relaxed) }
        #expect(clock.isLive(Deadline(milliseconds: 1001)))
        #expect(!clock.isLive(Deadline(milliseconds: 1000)))
        wall.store(10, ordering: .relaxed)
        #expect(!clock.isLive(Deadline(milliseconds: 1000)))
        #expect(clock.milliseconds == 1000)
        wall.store(1002, ordering: .relaxed)
        #expect(!clock.isLive(Deadline(milliseconds: 1001)))
        #expect(clock.isLive(.never))
    }

    @Test func theWallClockIsNotReadForValuesThatStay() {
        let clock = ExpiryClock {
            Issue.record("the clock was read")
            return 0
        }
        #expect(clock.isLive(.never))
    }

    @Test func aDeadlineIsNeverLaterThanTheDurationSays() {
        let clock = ExpiryClock { 5000 }
        #expect(clock.deadline(after: .milliseconds(7)).milliseconds == 5007)
        #expect(clock.deadline(after: .microseconds(7999)).milliseconds == 5007)
        #expect(clock.deadline(after: .nanoseconds(1)).milliseconds == 5000)
        #expect(clock.deadline(after: .zero).milliseconds == 5000)
        #expect(clock.deadline(after: .seconds(-1)).milliseconds == 5000)
        #expect(clock.deadline(after: .seconds(Int64.max)) == .latest)
        #expect(clock.deadline(after: .seconds(1 << 49)) < .latest)
    }
}
