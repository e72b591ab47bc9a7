import CRoost
import Foundation
import Synchronization

/// A thread of its own that runs the jobs of the actors that name it as their executor, one
/// after another: the place for calls that block.
///
/// - Jobs run in the order in which they were enqueued.
/// - The thread begins with the first job, or once the system has one, and lives as long as the executor; it ends once the last reference goes, after the
///   jobs that are queued.
/// - Of several that share a thread, each is an executor of its own: what runs on one does not
///   run on another at the same time, though a switch between them is one between threads to
///   whoever switches.
package final class WorkerThread: SerialExecutor {
    private let queue: JobQueue
    private let ownsThread: Bool
    /// Runs whole tasks on the thread, those parts too that no actor claims: so that work in the
    /// background goes on while busy tasks hold every thread of the cooperative pool.
    package let forTasks: WorkerTaskExecutor

    /// - Parameters:
    ///   - isInBackground: Whether the thread gives way to others that have work.
    ///   - order: The order in which jobs run, for simulations.
    ///   - start: How the thread is started, for tests.
    package init(
        name: String, isInBackground: Bool = false, order: (any JobOrder)? = nil,
        startedBy start: @escaping StartedThread.Start = StartedThread.bySystem
    ) {
        queue = JobQueue(order: order) { queue in
            StartedThread.begin(name, by: start) {
                if isInBackground { roost_lower_thread_priority() }
                queue.run()
            }
        }
        ownsThread = true
        forTasks = WorkerTaskExecutor(queue: queue)
    }

    /// A further executor on the thread of `other`, which it does not keep alive.
    package init(sharing other: WorkerThread) {
        queue = other.queue
        ownsThread = false
        forTasks = WorkerTaskExecutor(queue: other.queue)
    }

    /// Lets other threads work until `isDone`, for at most `duration`. To be called on the thread.
    /// Returns at once in a simulation, which has no others.
    package func yield(upTo duration: Duration, until isDone: () -> Bool) {
        if queue.isSimulated { return }
        let end = ContinuousClock.now + duration
        while !isDone() && ContinuousClock.now < end { sched_yield() }
    }

    deinit { if ownsThread { queue.stop() } }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(.isolated(UnownedJob(job), asUnownedSerialExecutor()))
    }
}

/// The same thread as an executor of tasks. Keeps the queue, not the thread, alive: a job that is added after the
/// thread's end has another thread begun for it.
package final class WorkerTaskExecutor: TaskExecutor {
    private let queue: JobQueue

    fileprivate init(queue: JobQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(.task(UnownedJob(job), asUnownedTaskExecutor()))
    }
}

/// Decides, in a simulation, which job runs next. Called on the thread alone.
package protocol JobOrder: Sendable {
    /// One of `count` waiting jobs, the longest waiting first.
    func choose(among count: Int) -> Int
    /// Nothing waits to be run. Returns `true` where it has made something run, as by letting
    /// time pass.
    func goOnFromIdleness() -> Bool
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
        var isStarted = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let order: (any JobOrder)?
    /// Starts the thread, which calls `run`.
    private let start: @Sendable (JobQueue) -> Void

    init(order: (any JobOrder)?, start: @escaping @Sendable (JobQueue) -> Void) {
        self.order = order
        self.start = start
    }

    var isSimulated: Bool { order != nil }

    func add(_ entry: sending Entry) {
        let (wakes, starts) = state.withLock { state in
            state.jobs.append(entry)
            defer { state.isStarted = true }
            return (state.jobs.count == 1, !state.isStarted)
        }
        if starts {
            start(self)
        } else if wakes {
            signal.signal()
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        signal.signal()
    }

    func run() {
        if let order { return run(in: order) }
        while true {
            let (jobs, isOver) = state.withLock { state in
                let jobs = state.jobs
                state.jobs.removeAll(keepingCapacity: true)
                let isOver = jobs.isEmpty && state.isStopped
                // A task may have slept meanwhile: its next job begins a thread.
                if isOver { state.isStarted = false }
                return (jobs, isOver)
            }
            for job in jobs { job.run() }
            if isOver { return }
            if jobs.isEmpty { signal.wait() }
        }
    }

    private func run(in order: any JobOrder) {
        while true {
            let (count, isStopped) = state.withLock { ($0.jobs.count, $0.isStopped) }
            if count > 0 {
                // Chosen without the lock, as the choice may add jobs.
                let index = order.choose(among: count)
                state.withLock { $0.jobs.remove(at: index) }.run()
            } else if isStopped {
                return
            } else if !order.goOnFromIdleness() {
                signal.wait()
            }
        }
    }
}
