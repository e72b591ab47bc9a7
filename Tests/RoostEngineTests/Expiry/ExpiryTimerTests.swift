import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// Leaves the threads to those who are waited for.
private func pause() async {
    do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
}

@Suite(.timeLimit(.minutes(10))) struct ExpiryTimerTests {
    /// A clock, and sleeps that end when the test says so.
    private final class Time: Scheduling {
        private struct State {
            var milliseconds: UInt64 = 1_000
            var sleeps: [Duration] = []
            var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
            var cancelled: Set<Int> = []
        }

        private let state = Mutex(State())
        let moves = ClockMoves()

        var clock: ExpiryClock { ExpiryClock { [self] in state.withLock { $0.milliseconds } } }
        func set(_ milliseconds: UInt64) { state.withLock { $0.milliseconds = milliseconds } }

        func thread(named name: String) -> WorkerThread { WorkerThread(name: name) }
        func backgroundThread(named name: String) -> WorkerThread { WorkerThread(name: name) }
        var taskExecutor: (any TaskExecutor)? { nil }
        var now: Duration { .zero }

        func sleep(for duration: Duration) async throws {
            let number = state.withLock { state in
                state.sleeps.append(duration)
                return state.sleeps.count
            }
            let isOver = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isCancelled = state.withLock { state in
                        if state.cancelled.contains(number) { return true }
                        state.waiting[number] = continuation
                        return false
                    }
                    if isCancelled { continuation.resume(returning: false) }
                }
            } onCancel: {
                let waiting = state.withLock { state in
                    state.cancelled.insert(number)
                    return state.waiting.removeValue(forKey: number)
                }
                waiting?.resume(returning: false)
            }
            if !isOver { throw CancellationError() }
        }

        /// The durations of all sleeps, once there are so many.
        func sleeps(_ count: Int) async -> [Duration] {
            while state.withLock({ $0.sleeps.count < count || $0.waiting.isEmpty }) {
                await pause()
            }
            return state.withLock { $0.sleeps }
        }

        /// Ends the sleep that is under way.
        func wake() {
            let waiting = state.withLock { state in
                defer { state.waiting = [:] }
                return Array(state.waiting.values)
            }
            for continuation in waiting { continuation.resume(returning: true) }
        }
    }

    private let time = Time()
    private final class Called: Sendable { let numbers = Mutex<[Int]>([]) }

    private let called = Called()

    private func timer() -> ExpiryTimer { ExpiryTimer(time.clock, time, time.moves) }

    private func waiter(_ number: Int, _ timer: ExpiryTimer) -> ExpiryWaiter {
        timer.waiter { [called] in called.numbers.withLock { $0.append(number) } }
    }

    private func waitUntilCalled(_ numbers: [Int]) async {
        while called.numbers.withLock({ $0 }) != numbers { await pause() }
    }

    @Test func aWaiterIsCalledOnceWhenItsDeadlineHasCome() async {
        let timer = timer()
        let first = waiter(1, timer)
        #expect(!timer.isArmed)
        first.wait(until: Deadline(milliseconds: 1_500))
        #expect(await time.sleeps(1) == [.milliseconds(500)])
        time.set(1_500)
        time.wake()
        await waitUntilCalled([1])
        while timer.isArmed { await pause() }
        time.set(9_000)
        time.moves.tell()
        #expect(called.numbers.withLock { $0 } == [1])
        withExtendedLifetime(first) {}
    }

    @Test func anEarlierDeadlineIsWaitedForAndALaterOneDoesNotWakeAnybody() async {
        let timer = timer()
        let (first, second) = (waiter(1, timer), waiter(2, timer))
        first.wait(until: Deadline(milliseconds: 3_000))
        #expect(await time.sleeps(1).last == .milliseconds(2_000))
        second.wait(until: Deadline(milliseconds: 2_000))
        #expect(await time.sleeps(2).last == .milliseconds(1_000))
        second.wait(until: Deadline(milliseconds: 4_000))
        first.wait(until: Deadline(milliseconds: 5_000))
        time.set(2_000)
        time.wake()
        #expect(await time.sleeps(3).last == .milliseconds(2_000))
        time.set(6_000)
        time.wake()
        await waitUntilCalled([2, 1])
        withExtendedLifetime((first, second)) {}
    }

    /// The time of day may be set meanwhile, of which nobody tells.
    @Test func aLongSleepIsInterruptedByLooks() async {
        let timer = timer()
        let first = waiter(1, timer)
        first.wait(until: Deadline(milliseconds: 1_000_000))
        #expect(await time.sleeps(1).last == .seconds(10))
        time.set(2_000_000)
        time.wake()
        await waitUntilCalled([1])
        withExtendedLifetime(first) {}
    }

    /// Where the clock stands, or was set back behind what was decided by.
    @Test func aClockThatStandsIsLookedAtLessAndLess() async {
        let timer = timer()
        let first = waiter(1, timer)
        first.wait(until: Deadline(milliseconds: 1_001))
        for count in 1...12 {
            _ = await time.sleeps(count)
            time.wake()
        }
        let sleeps = await time.sleeps(13)
        #expect(Array(sleeps.prefix(4)) == [1, 2, 4, 8].map { Duration.milliseconds($0) })
        #expect(sleeps.last == .seconds(1))
        withExtendedLifetime(first) {}
    }

    @Test func nobodyIsCalledThatHasGoneOrAfterTheEnd() async {
        let timer = timer()
        do {
            let first = waiter(1, timer)
            first.wait(until: Deadline(milliseconds: 2_000))
            #expect(timer.isArmed)
        }
        #expect(!timer.isArmed)
        let second = waiter(2, timer)
        second.wait(until: Deadline(milliseconds: 2_000))
        timer.stop()
        #expect(!timer.isArmed)
        second.wait(until: Deadline(milliseconds: 2_000))
        #expect(!timer.isArmed)
        time.set(3_000)
        time.moves.tell()
        #expect(called.numbers.withLock { $0 }.isEmpty)
    }

    @Test func aQueueOfDeadlinesGivesTheEarliestAndStaysSmall() {
        var random = SeededGenerator(seed: testSeed())
        var queue = DeadlineQueue<Int>()
        var model: [Int: UInt64] = [:]
        for _ in 0..<20_000 {
            let key = random.below(50)
            switch random.below(6) {
            case 0:
                queue.remove(key)
                model[key] = nil
            case 1:
                let bound = UInt64(random.below(1_000))
                if let first = queue.popFirst(upTo: bound) {
                    #expect(model[first] == model.values.min())
                    #expect(model[first]! <= bound)
                    model[first] = nil
                } else {
                    #expect(model.values.allSatisfy { $0 > bound })
                }
            default:
                let deadline = UInt64(random.below(1_000))
                queue.set(Deadline(milliseconds: deadline), for: key)
                model[key] = deadline
            }
            #expect(
                queue.earliest() == model.values.min().map { .init(milliseconds: $0) } ?? .never)
            #expect(queue.count == model.count)
            #expect(queue.placeCount <= 50 * 2 + 64)
        }
    }
}
