import Testing

@testable import RoostFormat
@testable import RoostReplica

struct CopyScheduleTests {
    private func schedule() -> CopySchedule {
        CopySchedule(
            interval: 1_000, signOfLifeInterval: 60_000, minimumBytesBetweenBases: 1_000, now: 0)
    }

    @Test func aCopyBeginsAtHalfTheIntervalOrWhenAsked() {
        var schedule = schedule()
        #expect(schedule.action(now: 100, isAsked: true) == .wait)
        schedule.observe(3, time: 70_000, now: 100)
        #expect(schedule.action(now: 599, isAsked: false) == .wait)
        #expect(schedule.action(now: 599, isAsked: true) == .copy)
        #expect(schedule.action(now: 600, isAsked: false) == .copy)
        // What comes while the copy is under way waits from then on.
        schedule.observe(5, time: 70_500, now: 620)
        schedule.noteCopied(through: 3, logBytes: 10, now: 700)
        #expect(schedule.action(now: 1_119, isAsked: false) == .wait)
        #expect(schedule.action(now: 1_120, isAsked: false) == .copy)
        schedule.noteCopied(through: 5, logBytes: 10, now: 1_200)
        #expect(schedule.action(now: 61_199, isAsked: false) == .wait)
        #expect(schedule.action(now: 61_200, isAsked: false) == .signOfLife)
    }

    @Test func whoGoesOnWithNothingToCopyGivesSignsOfLife() {
        var schedule = schedule()
        schedule.goOn(behind: 5)
        // As the copier does first: it sees the last batch, which is copied.
        schedule.observe(5, time: 70_000, now: 0)
        #expect(schedule.action(now: 59_999, isAsked: true) == .wait)
        #expect(schedule.action(now: 61_000, isAsked: false) == .signOfLife)
        schedule.observe(6, time: 70_100, now: 61_100)
        #expect(schedule.action(now: 61_600, isAsked: false) == .copy)
    }

    @Test func durationsMayBeForEver() {
        #expect(Duration.seconds(Int64.max).milliseconds == 1 << 42)
        #expect(Duration.milliseconds(1_234.5).milliseconds == 1_234)
        #expect(Duration.seconds(-1).milliseconds == 0)
        let long = Duration.seconds(Int64.max)
        let options = ReplicaOptions(interval: long, retention: long, signOfLifeInterval: long)
        var schedule = CopySchedule(options, now: 1_000)
        schedule.observe(1, time: 70_000, now: 2_000)
        #expect(schedule.action(now: 1 << 41, isAsked: false) == .wait)
        #expect(schedule.action(now: 3_000, isAsked: true) == .copy)
        #expect(schedule.tick == 60_000)
    }

    /// It may come from a file of settings, which is to end no program.
    @Test func aNegativeNumberOfBytesBetweenBasesIsNone() {
        let schedule = CopySchedule(ReplicaOptions(minimumBytesBetweenBases: -1), now: 0)
        #expect(schedule.thinksOfBase)
    }

    @Test func signsOfLifeDoNotWaitForATenthOfALongInterval() {
        let schedule = CopySchedule(
            interval: 3_600_000, signOfLifeInterval: 60_000, minimumBytesBetweenBases: 1, now: 0)
        #expect(schedule.tick == 6_000)
    }

    @Test func anAskThatComesWhileItIsLookedIsForTheNextCopy() {
        let shared = CopyShared()
        // Committed after the look, and asked for right then.
        let isAsked = shared.takeAsk { shared.wake() }
        #expect(!isAsked)
        #expect(shared.takeAsk {})
        #expect(!shared.takeAsk {})
    }

    @Test func marksSayByWhenBatchesWereCommittedAndDoNotGoBack() {
        var schedule = schedule()
        schedule.observe(3, time: 70_000, now: 0)
        schedule.observe(3, time: 70_100, now: 100)
        schedule.observe(4, time: 69_000, now: 200)
        schedule.observe(9, time: 70_300, now: 300)
        #expect(
            schedule.marks(upTo: 8, time: 90_000) == [
                Mark(time: 70_000, sequence: 3), Mark(time: 70_000, sequence: 4),
                // Nobody looked after it: it was there when the ninth was.
                Mark(time: 70_300, sequence: 8),
            ])
        // A clock that was an hour ahead is believed no more.
        schedule.observe(10, time: 3_700_000, now: 400)
        schedule.observe(11, time: 80_000, now: 500)
        #expect(
            schedule.marks(upTo: 12, time: 81_000).suffix(2) == [
                Mark(time: 80_000, sequence: 11), Mark(time: 81_000, sequence: 12),
            ])
    }

    @Test func anEntryThatTookLongDoesNotDateWhatWasCommittedMeanwhile() {
        var schedule = schedule()
        schedule.goOn(behind: 2, markTime: 69_000, entryTime: 69_900)
        // Seen before the takeover's entry was written, and taken after it.
        schedule.observe(3, time: 69_500, now: 0)
        #expect(schedule.entryTime(75_000) == 75_000)
        schedule.observe(4, time: 71_000, now: 1_500)
        #expect(
            schedule.marks(upTo: 4, time: 75_000) == [
                Mark(time: 69_500, sequence: 3), Mark(time: 71_000, sequence: 4),
            ])
        #expect(schedule.entryTime(74_000) == 75_000)
    }

    @Test func aTakeoverIsNotDatedBeforeWhatIsThereUnlessThatIsFarAhead() {
        func takeoverTime(_ time: UInt64, behind entry: UInt64) -> UInt64? {
            var earlier = JournalState(writer: .random())
            earlier.beginTakeover(behind: nil, name: "earlier", time: entry)
            _ = try? earlier.receive(.written)
            _ = try? earlier.receive(.listed(last: nil))
            var state = JournalState(writer: .random())
            state.beginTakeover(behind: earlier.last, name: "later", time: time)
            _ = try? state.receive(.written)
            _ = try? state.receive(.listed(last: nil))
            return state.standing?.time
        }
        #expect(takeoverTime(1_000_000, behind: 900_000) == 1_000_000)
        #expect(takeoverTime(1_000_000, behind: 1_300_000) == 1_300_000)
        #expect(takeoverTime(1_000_000, behind: 1_600_001) == 1_000_000)
    }

    @Test func marksOfALongOutageAreThinnedAndTheNewestIsKept() {
        var schedule = schedule()
        for number in 1...20_000 as ClosedRange<UInt64> {
            schedule.observe(number, time: number, now: number)
        }
        let marks = schedule.marks(upTo: 20_000, time: 20_001)
        #expect(marks.count <= 4_096 && marks.last?.sequence == 20_000)
        #expect(zip(marks, marks.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    }

    @Test func aBaseIsDueOnceItsFourfoldInLogWasCopied() {
        var schedule = schedule()
        schedule.noteCopied(through: 1, logBytes: 999, now: 0)
        #expect(!schedule.thinksOfBase)
        schedule.noteCopied(through: 2, logBytes: 1, now: 0)
        #expect(schedule.thinksOfBase)
        let isDear = schedule.isBaseDue(newSizeBytes: 251)
        #expect(!isDear)
        // Not asked again at once.
        #expect(!schedule.thinksOfBase)
        schedule.noteCopied(through: 3, logBytes: 1_000, now: 0)
        #expect(schedule.thinksOfBase)
        let isDue = schedule.isBaseDue(newSizeBytes: 500)
        #expect(isDue)
        schedule.noteBaseBegun()
        #expect(!schedule.thinksOfBase)
    }

    @Test func basesAreKeptAsFarBackAsTheRetentionReaches() {
        func base(_ time: UInt64, isComplete: Bool = true) -> Retention.KeptBase {
            let manifest = BaseRecord(
                history: .none, time: time, firstEntry: time,
                manifest: .init(
                    workspace: .init(first: 1, second: 1), hashSeed: .init(first: 1, second: 1)),
                snapshots: [
                    .init(number: 1, sizeBytes: 1, digest: [], name: "snapshots/\(time)"),
                    .init(number: 2, sizeBytes: 1, digest: [], name: "snapshots/shared"),
                ])
            return .init(
                index: time, name: "bases/\(time)", record: manifest, isComplete: isComplete)
        }
        let bases = [base(10), base(20), base(30), base(40, isComplete: false)]
        #expect(Retention.removedCount(of: bases, keepingFrom: 9) == 0)
        #expect(Retention.removedCount(of: bases, keepingFrom: 29) == 1)
        #expect(Retention.removedCount(of: bases, keepingFrom: 99) == 2)
        let removal = Retention.removal(
            of: bases.prefix(2), keeping: bases.dropFirst(2),
            storedSnapshots: [
                "snapshots/10", "snapshots/30", "snapshots/shared", "snapshots/left",
            ],
            storedBases: bases.map(\.name))
        #expect(
            removal
                == RemovalPayload(
                    names: ["snapshots/10", "snapshots/left", "bases/10", "bases/20"],
                    entriesBefore: 30))
        #expect(
            Retention.removal(
                of: bases.prefix(0), keeping: bases[...],
                storedSnapshots: ["snapshots/10"], storedBases: ["bases/10"]) == nil)
    }
}
