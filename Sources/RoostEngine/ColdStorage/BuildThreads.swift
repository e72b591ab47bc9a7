import Foundation
import RoostIO
import Synchronization

/// The threads that write snapshots: the compactor's own, and helpers beside it.
///
/// Helpers run at a lower priority: while writers keep the processors busy they take little, and
/// once writers wait for the compaction they take what is idle.
struct BuildThreads: Sendable {
    private let own: WorkerTaskExecutor
    private let helpers: [WorkerThread]

    /// As many as are worth while on this machine. Asked once: the answer is read from several files.
    static let usualCount = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))

    init(beside own: WorkerThread, count: Int, scheduling: any Scheduling) {
        self.own = own.forTasks
        helpers = (1..<max(count, 1)).map {
            scheduling.backgroundThread(named: "roost-build-\($0)")
        }
    }

    var count: Int { helpers.count + 1 }

    /// `body` of every job, in the jobs' order. After an error no further job is begun, and it is
    /// thrown once none is running.
    func map<Job: Sendable, Result: Sendable>(
        _ jobs: [Job], _ body: @escaping @Sendable (Job) throws -> Result
    ) async throws -> [Result] {
        let taken = Taken()
        return try await withThrowingTaskGroup(of: [(Int, Result)].self) { group in
            for executor in ([own] + helpers.map(\.forTasks)).prefix(jobs.count) {
                group.addTask(executorPreference: executor) {
                    var results: [(Int, Result)] = []
                    while let index = taken.next(of: jobs.count) {
                        do { results.append((index, try body(jobs[index]))) } catch {
                            taken.stop()
                            throw error
                        }
                    }
                    return results
                }
            }
            var all: [(Int, Result)] = []
            for try await results in group { all += results }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Which jobs are taken.
    private final class Taken: Sendable {
        private let count = Atomic(0)
        private let isStopped = Atomic(false)

        func next(of jobCount: Int) -> Int? {
            if isStopped.load(ordering: .relaxed) { return nil }
            let index = count.wrappingAdd(1, ordering: .relaxed).oldValue
            return index < jobCount ? index : nil
        }

        func stop() { isStopped.store(true, ordering: .relaxed) }
    }
}
