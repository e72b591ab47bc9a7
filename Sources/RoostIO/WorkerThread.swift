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
    /// Runs whole tasks on the thread, those parts too that no actor claims: so that work in the
    /// background goes on while busy tasks hold every thread of the cooperative pool.
    package let forTasks: WorkerTaskExecutor

    /// - Parameter isInBackground: Whether the thread gives way to others that have work.
    package init(name: String, isInBackground: Bool = false) {
        let queue = JobQueue()
        self.queue = queue
        forTasks = WorkerTaskExecutor(queue: queue)
        let thread = Thread {
            if isInBackground { roost_lower_thread_priority() }
            queue.run()
        }
        thread.name = name
        thread.start()
    }

    deinit { queue.stop() }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(.isolated(UnownedJob(job), asUnownedSerialExecutor()))
    }
}

/// The same thread as an executor of tasks. Keeps the queue, not the thread, alive: a job that
/// is added after the thread's end is run by nobody, so a task holds the actor that it works for.
package final class WorkerTaskExecutor: TaskExecutor {
    private let queue: JobQueue

    fileprivate init(queue: JobQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(.task(UnownedJob(job), asUnownedTaskExecutor()))
    }
}

/// What the thread and its owner share; apart from `WorkerThread`, so that the thread does not
/// keep its own executor alive.
private final class JobQueue: Sendable {
    enum Entry {
        case isolated(UnownedJob, UnownedSerialExecutor)
        case task(UnownedJob, UnownedTaskExecutor)

        func run() {
            switch self {
            case .isolated(let job, let executor): job.runSynchronously(on: executor)
            case .task(let job, let executor): job.runSynchronously(on: executor)
            }
        }
    }

    private struct State {
        var jobs: [Entry] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    func add(_ entry: sending Entry) {
        let wakes = state.withLock { state in
            state.jobs.append(entry)
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
            for job in jobs { job.run() }
            if jobs.isEmpty {
                if isStopped { return }
                signal.wait()
            }
        }
    }
}
