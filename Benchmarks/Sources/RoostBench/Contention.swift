import ArgumentParser
import Foundation
import Roost
import Synchronization

/// Transactions that get in each other's way: that all of them commit, and how long they wait.
struct Contention: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure transactions that change what others read.")

    @Option(help: "Changes of each task of the same two keys.")
    var changes = 200
    @Option(help: "Sums of all accounts beside tasks that move amounts.")
    var sums = 20
    @Flag(help: "Only the long transaction.")
    var onlyLong = false
    @Option(help: "Seconds of the short transactions beside a long one, and alone.")
    var seconds = 3.0

    private static let accountCount = 5_000

    func run() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        if !onlyLong {
            for taskCount in [2, 4, 8, 16, 64] { try await sameKeys(workspace, taskCount) }
            try await sum(workspace)
        }
        try await longBesideShort(workspace)
        try await workspace.close()
    }

    // MARK: The same two keys

    private func sameKeys(_ workspace: Workspace, _ taskCount: Int) async throws {
        let alone = try await changeTwoKeys(workspace, taskCount: 1, each: changes * taskCount)
        let together = try await changeTwoKeys(workspace, taskCount: taskCount, each: changes)
        let middle = together.waits[together.waits.count / 2]
        print(
            String(
                format: "two keys, %2d tasks: %.2f times one task's time, longest wait %.1f ms, "
                    + "%.1f medians, %d conflicts",
                taskCount, together.seconds / alone.seconds, together.waits.last! * 1e3,
                together.waits.last! / middle, together.conflictCount))
    }

    private struct Changes {
        var seconds = 0.0
        /// Of each transaction, in ascending order.
        var waits: [Double] = []
        var conflictCount = 0
    }

    private func changeTwoKeys(
        _ workspace: Workspace, taskCount: Int, each: Int
    ) async throws -> Changes {
        let items = workspace.dictionary("items")
        let begin = ContinuousClock.now
        var result = try await withThrowingTaskGroup(of: Changes.self) { group in
            for _ in 0..<taskCount {
                group.addTask {
                    var own = Changes()
                    for _ in 0..<each {
                        let begin = ContinuousClock.now
                        let isChanged = try await committed {
                            try await workspace.transaction { tx in
                                for key in ["a", "b"] {
                                    let old = try tx.value(forKey: key, as: Int.self, in: items)
                                    try tx.set((old ?? 0) + 1, forKey: key, in: items)
                                }
                            }
                        }
                        if !isChanged { own.conflictCount += 1 }
                        own.waits.append(secondsSince(begin))
                    }
                    return own
                }
            }
            return try await group.reduce(into: Changes()) { all, own in
                all.waits += own.waits
                all.conflictCount += own.conflictCount
            }
        }
        result.seconds = secondsSince(begin)
        result.waits.sort()
        return result
    }

    // MARK: A sum beside moves

    private func sum(_ workspace: Workspace) async throws {
        let accounts = workspace.dictionary("accounts")
        let sums = workspace.dictionary("sums")
        let count = Self.accountCount
        try await accounts.setAll((0..<count).map { ("\($0)", 100) })
        let alone = try await besides(workspace, move(in: accounts), tasks: 2) {
            try await Task.sleep(for: .seconds(1))
        }
        var conflictCount = 0
        let rounds = self.sums
        let beside = try await besides(workspace, move(in: accounts), tasks: 2) {
            for _ in 0..<rounds {
                let isSummed = try await committed {
                    try await workspace.transaction { tx in
                        var sum = 0
                        for key in 0..<count {
                            sum += try tx.value(forKey: "\(key)", as: Int.self, in: accounts) ?? 0
                        }
                        guard sum == 100 * count else { throw BenchError("a sum of \(sum)") }
                        try tx.set(sum, forKey: "sum", in: sums)
                    }
                }
                if !isSummed { conflictCount += 1 }
            }
        }
        print(
            String(
                format: "sum of %d keys, %d times: %.2f s, %d conflicts; moves beside it at %.2f "
                    + "of their rate alone", count, rounds, beside.seconds, conflictCount,
                beside.rate / alone.rate))
    }

    private func move(
        in accounts: WorkspaceDictionary
    ) -> @Sendable (Int, inout Transaction) throws -> Void {
        let count = Self.accountCount
        return { _, tx in
            let from = "\(Int.random(in: 0..<count / 2))"
            let to = "\(Int.random(in: count / 2..<count))"
            let (a, b) = (
                try tx.value(forKey: from, as: Int.self, in: accounts) ?? 0,
                try tx.value(forKey: to, as: Int.self, in: accounts) ?? 0
            )
            try tx.set(a - 1, forKey: from, in: accounts)
            try tx.set(b + 1, forKey: to, in: accounts)
        }
    }

    // MARK: A long one beside short ones

    private func longBesideShort(_ workspace: Workspace) async throws {
        let many = workspace.dictionary("many")
        let short = workspace.dictionary("short")
        try await many.setAll((0..<20_000).map { ("\($0)", $0) })
        let change: @Sendable (Int, inout Transaction) throws -> Void = { task, tx in
            let old = try tx.value(forKey: "\(task)", as: Int.self, in: short) ?? 0
            try tx.set(old + 1, forKey: "\(task)", in: short)
        }
        let limit = seconds
        let alone = try await besides(workspace, change, tasks: 16) {
            try await Task.sleep(for: .seconds(limit))
        }
        var longCount = 0
        let thread = OwnThread()
        // The long one reads on a thread of its own, as one that computes or waits does: it takes no
        // processor, so what the short ones lose is what it keeps from them.
        let beside = try await besides(workspace, change, tasks: 16) {
            let end = ContinuousClock.now + .seconds(limit)
            while ContinuousClock.now < end {
                let number = longCount
                try await withTaskExecutorPreference(thread) {
                    try await workspace.transaction { tx in
                        for key in 0..<1_000 {
                            _ = try tx.value(forKey: "\(key)", as: Int.self, in: many)
                            usleep(900)
                        }
                        try tx.set(number, forKey: "long", in: many)
                    }
                }
                longCount += 1
            }
        }
        print(
            String(
                format: "16 short transactions beside a long one (%d of a second each): %.2f of "
                    + "their rate alone", longCount, beside.rate / alone.rate))
    }

    private struct Beside {
        var seconds: Double
        /// Transactions a second of those beside.
        var rate: Double
    }

    /// Runs `body` while tasks run transactions.
    private func besides(
        _ workspace: Workspace,
        _ transaction: @escaping @Sendable (Int, inout Transaction) throws -> Void, tasks: Int,
        _ body: () async throws -> Void
    ) async throws -> Beside {
        let board = Board()
        let begin = ContinuousClock.now
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    while !board.isOver.load(ordering: .relaxed) {
                        try await workspace.transaction { tx in try transaction(task, &tx) }
                        board.count.wrappingAdd(1, ordering: .relaxed)
                        // A transaction that meets nobody does not suspend: the measurement's own end could not
                        // come to a thread.
                        await Task.yield()
                    }
                }
            }
            try await body()
            let spent = secondsSince(begin)
            let done = board.count.load(ordering: .relaxed)
            board.isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
            return Beside(seconds: spent, rate: Double(done) / spent)
        }
    }

    /// What the tasks of a measurement tell each other.
    private final class Board: Sendable {
        let isOver = Atomic(false)
        let count = Atomic(0)
    }
}

/// Runs a task apart from the threads that all others share.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "roost-bench.long")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

private func secondsSince(_ begin: ContinuousClock.Instant) -> Double { seconds(.now - begin) }

/// `false` where the transaction ended in a conflict.
private func committed(_ body: () async throws -> Void) async throws -> Bool {
    do {
        try await body()
        return true
    } catch let error as RoostError where error.code == .conflict { return false }
}
