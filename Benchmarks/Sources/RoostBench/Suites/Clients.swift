import Foundation
import Synchronization

/// What several clients did at the same time.
struct ClientsResult {
    var operations = 0
    /// From the first client's begin to the last one's end.
    var seconds = 0.0
    var latencies = Latencies()
}

/// Runs one client per stretch, all at once, each in a task off the main actor.
///
/// Clients are made before the clock starts, and all begin together. An engine whose calls block
/// gets a thread for each client, where there are more clients than one: on the cooperative pool
/// they would wait for each other's syncs.
func runClients<Engine: KeyValueEngine>(
    _ engine: Engine, _ stretches: [Stretch], recordingLatencies: Bool = false
) async throws -> ClientsResult {
    let gate = Gate(count: stretches.count)
    let ownThreads = Engine.abilities.blocks && stretches.count > 1
    return try await withThrowingTaskGroup(of: ClientSpan.self) { group in
        for stretch in stretches {
            // A preference for no executor at all is one too, and costs each switch a lock.
            if ownThreads {
                group.addTask(executorPreference: ClientThread()) {
                    try await runClient(of: engine, stretch, gate, recordingLatencies)
                }
            } else {
                group.addTask {
                    try await runClient(of: engine, stretch, gate, recordingLatencies)
                }
            }
        }
        var result = ClientsResult()
        var begin: ContinuousClock.Instant?
        var end: ContinuousClock.Instant?
        for try await span in group {
            result.operations += span.operations
            if let latencies = span.latencies { result.latencies.add(latencies) }
            begin = min(begin ?? span.begin, span.begin)
            end = max(end ?? span.end, span.end)
        }
        if let begin, let end { result.seconds = seconds(end - begin) }
        return result
    }
}

private struct ClientSpan: Sendable {
    var begin: ContinuousClock.Instant
    var end: ContinuousClock.Instant
    var operations: Int
    var latencies: Latencies?
}

private nonisolated(nonsending) func runClient<Engine: KeyValueEngine>(
    of engine: Engine, _ stretch: Stretch, _ gate: Gate, _ recordingLatencies: Bool
) async throws -> ClientSpan {
    let client: Engine.Client
    do { client = try engine.makeClient() } catch {
        await gate.arrive()
        throw error
    }
    await gate.arrive()
    var latencies = recordingLatencies ? Latencies() : nil
    let begin = ContinuousClock.now
    let operations = try await stretch.run(client, latencies: &latencies)
    return ClientSpan(
        begin: begin, end: .now, operations: operations, latencies: latencies)
}

func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
}

/// Lets nobody through before all have come.
private actor Gate {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { missing = count }

    func arrive() async {
        missing -= 1
        if missing > 0 { return await withCheckedContinuation { waiting.append($0) } }
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

/// A thread that one client's task runs on, as a program in C would have it.
///
/// - The thread ends once the executor goes and its jobs are done.
private final class ClientThread: TaskExecutor {
    private final class Queue: Sendable {
        struct State {
            var jobs: [UnownedJob] = []
            var isStopped = false
        }

        let state = Mutex(State())
        let signal = DispatchSemaphore(value: 0)

        func run(_ executor: UnownedTaskExecutor) {
            while true {
                signal.wait()
                let (jobs, isStopped) = state.withLock { state in
                    defer { state.jobs = [] }
                    return (state.jobs, state.isStopped)
                }
                for job in jobs { job.runSynchronously(on: executor) }
                if isStopped { return }
            }
        }
    }

    private let queue = Queue()

    init() {
        let queue = queue
        let executor = asUnownedTaskExecutor()
        Thread { queue.run(executor) }.start()
    }

    deinit {
        queue.state.withLock { $0.isStopped = true }
        queue.signal.signal()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.state.withLock { $0.jobs.append(job) }
        queue.signal.signal()
    }
}
