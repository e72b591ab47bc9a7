import Synchronization
import Testing

@testable import RoostEngine

@Suite struct EngineConditionTests {
    /// Who releases the writers may come between the flag that holds them and the note of it.
    @Test(arguments: [ObservedOperation.Cause.disk, .compaction])
    func aWaitThatEndedBeforeItWasNotedIsToldByNobody(_ cause: ObservedOperation.Cause)
        async throws
    {
        let observer = SeenWaits()
        let condition = EngineCondition(isReadOnly: false, observer: observer)
        let (hold, release) =
            cause == .disk
            ? (condition.hold, condition.releaseHeld) : (condition.stall, condition.release)
        hold()
        release()
        #expect(observer.seen.withLock { $0.beginCount } == 1)
        #expect(observer.seen.withLock { $0.durations.count } == 1)
        // The late note of another writer that set the flag just before.
        condition.noteWait(cause)
        #expect(observer.seen.withLock { $0.beginCount } == 1)
        let pause = Duration.milliseconds(300)
        try await Task.sleep(for: pause)
        let begin = ContinuousClock.now
        hold()
        // A second one while they wait is of the same wait.
        condition.noteWait(cause)
        release()
        let longest = ContinuousClock.now - begin
        release()
        let (beginCount, durations) = observer.seen.withLock { ($0.beginCount, $0.durations) }
        #expect(beginCount == 2 && durations.count == 2)
        #expect(durations.allSatisfy { $0 >= .zero } && durations[1] <= longest)
    }

    @Test func eachWaitHasOneBeginAndOneEnd() async {
        let observer = SeenWaits()
        let condition = EngineCondition(isReadOnly: false, observer: observer)
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask { for _ in 0..<20_000 { condition.hold() } }
                group.addTask { for _ in 0..<20_000 { condition.releaseHeld() } }
            }
        }
        condition.releaseHeld()
        let (beginCount, durations) = observer.seen.withLock { ($0.beginCount, $0.durations) }
        #expect(beginCount == durations.count && beginCount > 0)
    }
}

private final class SeenWaits: WorkspaceObserver {
    struct Seen {
        var beginCount = 0
        var durations: [Duration] = []
    }

    let seen = Mutex(Seen())

    func writersBeganToWait(for cause: ObservedOperation.Cause) {
        seen.withLock { $0.beginCount += 1 }
    }

    func writersGoOn(after duration: Duration, _ cause: ObservedOperation.Cause) {
        seen.withLock { $0.durations.append(duration) }
    }
}
