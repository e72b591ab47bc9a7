import Foundation
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

private actor Worker {
    private let thread: WorkerThread
    private(set) var log: [Int] = []
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: WorkerThread) { self.thread = thread }

    func note(_ number: Int) { log.append(number) }
    func runningThread() -> pthread_t { pthread_self() }
    func pass(_ gate: Gate) { gate.pass() }
}

@Suite struct WorkerThreadTests {
    @Test func jobsRunOnTheNamedThreadOneAfterAnother() async {
        let worker = Worker(WorkerThread(name: "test-worker"))
        let thread = await worker.runningThread()
        for _ in 0..<100 { #expect(await worker.runningThread() == thread) }
        #expect(await Worker(WorkerThread(name: "another")).runningThread() != thread)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 { group.addTask { await worker.note(number) } }
        }
        #expect(await worker.log.sorted() == Array(0..<1_000))
    }

    @Test func aBlockedThreadHoldsUpNothingElse() async {
        let gate = Gate()
        gate.close()
        let blocked = Worker(WorkerThread(name: "blocked"))
        let other = Worker(WorkerThread(name: "other"))
        async let waiting: Void = blocked.pass(gate)
        await gate.waitForArrival()
        await other.note(1)
        #expect(await other.log == [1])
        gate.open()
        await waiting
    }

    @Test func queuedJobsRunThoughTheOwnerHasLetGo() async {
        for _ in 0..<200 {
            let count = await withTaskGroup(of: Void.self, returning: Int.self) { group in
                let worker = Worker(WorkerThread(name: "short"))
                for number in 0..<8 { group.addTask { await worker.note(number) } }
                await group.waitForAll()
                return await worker.log.count
            }
            #expect(count == 8)
        }
    }

    /// A task that slept while the last actor of the thread went was never finished.
    @Test(.timeLimit(.minutes(5)))
    func aTaskThatWakesBehindTheThreadsEndIsFinished() async throws {
        for _ in 0..<20 {
            var thread: WorkerThread? = WorkerThread(name: "test-gone")
            let executor = thread!.forTasks
            await Task(executorPreference: executor) {}.value
            thread = nil
            // Before, while, and after the thread ends.
            for step in 0..<5 {
                if step > 1 { try await Task.sleep(for: .milliseconds(step)) }
                await Task(executorPreference: executor) { await Task.yield() }.value
            }
        }
    }

    /// Foundation's `Thread` did not say that there was none: the executor took itself for started, and whoever waited for
    /// its jobs waited for ever.
    @Test(.timeLimit(.minutes(1))) func aThreadThatCannotBeHadIsAskedForAgain() async {
        let asked = Atomic(0)
        let thread = WorkerThread(
            name: "test-late",
            startedBy: { name, stackSizeBytes, body in
                let before = asked.wrappingAdd(1, ordering: .relaxed).oldValue
                return before < 3 ? false : StartedThread.bySystem(name, stackSizeBytes, body)
            })
        let worker = Worker(thread)
        await worker.note(1)
        await worker.note(2)
        #expect(await worker.log == [1, 2])
        #expect(asked.load(ordering: .relaxed) == 4)
    }
}
