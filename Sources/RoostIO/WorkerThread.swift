import CRoost
import Foundation
import Synchronization

/// A thread of its own that runs the jobs of the actors that name it as their executor, one
/// after another: the place for calls that block.
///
/// - Jobs run in the order in which they were enqueued.
/// - The thread lives as long as the executor; it ends once the last reference goes, after the
///   jobs that are queued.
package final class WorkerThread: SerialExecutor {
    private let queue: JobQueue

    package init(name: String) {
        let queue = JobQueue()
        self.queue = queue
        let thread = Thread { queue.run() }
        thread.name = name
        thread.start()
    }

    deinit { queue.stop() }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(UnownedJob(job), executor: asUnownedSerialExecutor())
    }
}

/// What the thread and its owner share; apart from `WorkerThread`, so that the thread does not
/// keep its own executor alive.
private final class JobQueue: Sendable {
    private struct State {
        var jobs: [(UnownedJob, UnownedSerialExecutor)] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    func add(_ job: UnownedJob, executor: UnownedSerialExecutor) {
        let wakes = state.withLock { state in
            state.jobs.append((job, executor))
            return state.jobs.count == 1
        }
        if wakes { signal.signal() }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        signal.signal()
    }

    func run() {
        while true {
            let (jobs, isStopped) = state.withLock { state in
                let jobs = state.jobs
                state.jobs.removeAll(keepingCapacity: true)
                return (jobs, state.isStopped)
            }
            for (job, executor) in jobs { job.runSynchronously(on: executor) }
            if jobs.isEmpty {
                if isStopped { return }
                signal.wait()
            }
        }
    }
}
