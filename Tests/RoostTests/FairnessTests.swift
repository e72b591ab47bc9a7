import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// Nobody starves: whoever is overtaken a few times waits for a turn, and then is not.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FairnessTests {
    /// Takes until the third attempt, as others change what it reads, and then has its turn while
    /// `body` runs on this actor's thread.
    private actor LongTransaction {
        private let thread = WorkerThread(name: "roost-test")
        private let disturber = WorkerThread(name: "roost-test")
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }
        private(set) var runCount = 0

        func run(
            _ workspace: Workspace, _ durability: Durability = .process,
            disturb: @escaping @Sendable () async throws -> Void,
            _ body: (inout Transaction, _ hasTurn: Bool) throws -> Void
        ) async throws {
            try await workspace.transaction(durability: durability) { tx in
                runCount += 1
                try body(&tx, runCount > 3)
                if runCount > 3 { return }
                let gate = Gate()
                gate.close()
                Task.detached(executorPreference: disturber.forTasks) {
                    try await disturb()
                    gate.open()
                }
                gate.pass()
            }
        }
    }

    /// What the tasks of a test tell each other.
    private final class Board: Sendable {
        private let over = Atomic(false)
        private let count = Atomic(0)
        private let names = Mutex<[String]>([])

        var isOver: Bool { over.load(ordering: .sequentiallyConsistent) }
        var counted: Int { count.load(ordering: .relaxed) }
        var noted: [String] { names.withLock { $0 } }
        func end() { over.store(true, ordering: .sequentiallyConsistent) }
        func addOne() { count.wrappingAdd(1, ordering: .relaxed) }
        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    // MARK: Whoever has the turn

    /// A turn is taken from whoever keeps it for five seconds, which a busy machine makes of this test's few
    /// steps. That it is taken is what `TransactionTests` shows.
    private static func workspaceWhoseTurnsLast() async throws -> Workspace {
        try await Workspace.open(
            at: "(in memory)", configuration: .init(durability: .process),
            fileSystem: MemoryFileSystem()
        ) { $0.turnLimit = .seconds(3600) }
    }

    @Test(arguments: [Durability.process, .synced])
    func whoHasTheTurnHoldsUpThoseThatShareAKeyAndNobodyElse(
        durability: Durability
    ) async throws {
        let workspace = try await Self.workspaceWhoseTurnsLast()
        let (items, others) = (workspace.dictionary("items"), workspace.dictionary("others"))
        for number in 0..<100 { try await items.set(number, forKey: "a\(number)") }
        let hasTurn = Gate()
        hasTurn.close()
        let long = LongTransaction()
        let transaction = Task {
            try await long.run(workspace, durability) {
                try await items.set(1, forKey: "k")
            } _: { tx, isHeld in
                let stored = try tx.value(forKey: "k", as: Int.self, in: items) ?? 0
                let keys = try tx.keys(of: items, prefix: "a").count
                if isHeld { hasTurn.pass() }
                try tx.set(stored + keys, forKey: "sum", in: others)
            }
        }
        await hasTurn.waitForArrival()
        // None of this shares a key with it.
        for round in 0..<200 {
            try await others.set(round, forKey: "o\(round)")
            try await items.setAll([("b\(round)", round), ("c\(round)", round)])
            others.enqueue(round, forKey: "e\(round)")
            try await workspace.transaction { tx in
                _ = try tx.keys(of: items, prefix: "b").count
                try tx.set(round, forKey: "t", in: others)
            }
        }
        // What it read waits: a key, a key that comes into its range, and what it changes.
        let board = Board()
        let waiting: [@Sendable () async throws -> Void] = [
            { try await items.set(5, forKey: "k") },
            { try await items.set(5, forKey: "a555") },
            { try await items.setAll([("z", 1), ("a7", 1)], durability: .synced) },
            { try await others.update("sum", default: 0) { $0 += 1000 } },
            { try await items.removeAll() },
        ]
        try await withThrowingTaskGroup { group in
            for (index, call) in waiting.enumerated() {
                group.addTask {
                    try await call()
                    board.note("\(index)")
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            #expect(board.noted.isEmpty)
            // Visible at once, and after it among the changes.
            items.enqueue(77, forKey: "k")
            #expect(try items["k", as: Int.self] == 77)
            hasTurn.open()
            try await transaction.value
            try await group.waitForAll()
        }
        #expect(await long.runCount == 4)
        #expect(try others["sum", as: Int.self] == 1101)
        #expect(workspace.statistics.liveReadViewCount == 0)
        try await workspace.close()
    }

    @Test func cancellationEndsTheWait() async throws {
        let workspace = try await Self.workspaceWhoseTurnsLast()
        let items = workspace.dictionary("items")
        let hasTurn = Gate()
        hasTurn.close()
        let long = LongTransaction()
        let holder = Task {
            try await long.run(workspace) {
                try await items.set(1, forKey: "k")
            } _: { tx, isHeld in
                _ = try tx.value(forKey: "k", as: Int.self, in: items)
                if isHeld { hasTurn.pass() }
                try tx.set(1, forKey: "first", in: items)
            }
        }
        await hasTurn.waitForArrival()
        let waiters = [
            Task {
                try await workspace.transaction { tx in
                    _ = try tx.value(forKey: "k", as: Int.self, in: items)
                    try tx.set(2, forKey: "first", in: items)
                    try tx.set(2, forKey: "second", in: items)
                }
            },
            Task { try await items.set(2, forKey: "k") },
            Task { try await items.setAll([("k", 2), ("other", 2)]) },
        ]
        try await Task.sleep(for: .milliseconds(100))
        for waiter in waiters {
            waiter.cancel()
            await #expect(throws: RoostError.self) { try await waiter.value }
        }
        #expect(try !items.contains("first") && !items.contains("second"))
        try await items.set(3, forKey: "other")
        hasTurn.open()
        try await holder.value
        #expect(try items["first", as: Int.self] == 1)
        #expect(try items["k", as: Int.self] == 1)
        try await workspace.close()
    }

    // MARK: Many at once

    /// Two keys are changed by all.
    @Test(arguments: [2, 8, 64])
    func transactionsOfTheSameKeysAllCommit(taskCount: Int) async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let items = workspace.dictionary("items")
        let begin = ContinuousClock.now
        let roundCount = 200
        let waits = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for _ in 0..<taskCount {
                group.addTask {
                    var waits: [Duration] = []
                    for _ in 0..<roundCount {
                        let begin = ContinuousClock.now
                        try await workspace.transaction { tx in
                            for key in ["a", "b"] {
                                let value = try tx.value(forKey: key, as: Int.self, in: items) ?? 0
                                try tx.set(value + 1, forKey: key, in: items)
                            }
                        }
                        waits.append(ContinuousClock.now - begin)
                    }
                    return waits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        let time = ContinuousClock.now - begin
        print(
            "two keys, \(taskCount) tasks: \(time / (taskCount * roundCount)) a change, "
                + "median \(waits[waits.count / 2]), longest \(waits[waits.count - 1])")
        #expect(try items["a", as: Int.self] == taskCount * roundCount)
        #expect(try items["b", as: Int.self] == taskCount * roundCount)
        try await workspace.close()
    }

    @Test func updatesOfOneKeyAllCommit() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let items = workspace.dictionary("items")
        try await withThrowingTaskGroup { group in
            for task in 0..<32 {
                group.addTask {
                    for round in 0..<100 {
                        if (task + round) % 10 == 0 { items.enqueueRemoval(forKey: "other") }
                        try await items.update("k", default: 0) { $0 += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try items["k", as: Int.self] == 3200)
        try await workspace.close()
    }

    /// It reads for much longer than the others take to change what it has read.
    @Test func aSumOfManyKeysCommitsBesideThoseThatMoveAmounts() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let accounts = workspace.dictionary("accounts")
        let count = 5000
        try await accounts.setAll((0..<count).map { ("\($0)", 100) })
        let board = Board()
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    while !board.isOver {
                        let (from, to) = (Int.random(in: 0..<count), Int.random(in: 0..<count))
                        if from == to { continue }
                        try await workspace.transaction { tx in
                            let a = try tx.value(forKey: "\(from)", as: Int.self, in: accounts) ?? 0
                            let b = try tx.value(forKey: "\(to)", as: Int.self, in: accounts) ?? 0
                            try tx.set(a - 1, forKey: "\(from)", in: accounts)
                            try tx.set(b + 1, forKey: "\(to)", in: accounts)
                        }
                        board.addOne()
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<5 {
                let sum = try await workspace.transaction { tx in
                    var sum = 0
                    for key in 0..<count {
                        sum += try tx.value(forKey: "\(key)", as: Int.self, in: accounts) ?? 0
                    }
                    try tx.set(sum, forKey: "sum", in: workspace.dictionary("sums"))
                    return sum
                }
                #expect(sum == 100 * count)
            }
            board.end()
            try await group.waitForAll()
        }
        let time = ContinuousClock.now - begin
        print("sum of \(count) keys: \(time / 5) each, \(board.counted) moves beside")
        try await workspace.close()
    }

    /// A range whose keys come and go all the time, from which each takes the first.
    @Test func whoTakesTheFirstKeyOfARangeGetsOne() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let jobs = workspace.dictionary("jobs")
        let count = 400
        for number in 0..<count { try await jobs.set(number, forKey: "\(1000 + number)") }
        let taken = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var taken: [String] = []
                    while true {
                        let key = try await workspace.transaction { tx -> String? in
                            guard let first = try tx.keys(of: jobs, limit: 1).first else {
                                return nil
                            }
                            try tx.removeValue(forKey: first, in: jobs)
                            return first
                        }
                        guard let key else { return taken }
                        taken.append(key)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.count == count && Set(taken).count == count)
        try await workspace.close()
    }

    /// Each attempt reads other keys, so no turn on what the one before read is of use.
    @Test func aBodyThatReadsOtherKeysInEachAttemptCommits() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let items = workspace.dictionary("items")
        let count = 300
        try await items.setAll((0..<count).map { ("\($0)", 0) })
        let board = Board()
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    var round = 0
                    while !board.isOver {
                        round += 1
                        try await items.setAll((0..<count).map { ("\($0)", round) })
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<20 {
                try await workspace.transaction { tx in
                    for _ in 0..<50 {
                        let key = "\(Int.random(in: 0..<count))"
                        _ = try tx.value(forKey: key, as: Int.self, in: items)
                    }
                    try tx.set(1, forKey: "x\(Int.random(in: 0..<count))", in: items)
                }
            }
            board.end()
            try await group.waitForAll()
        }
        try await workspace.close()
    }

    /// Whoever enqueues waits for nobody, so it comes after who has the turn.
    @Test func writesThatAreEnqueuedWithoutEndDoNotKeepATransactionOut() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let items = workspace.dictionary("items")
        let board = Board()
        let thread = WorkerThread(name: "roost-test")
        let storm = Task(executorPreference: thread.forTasks) {
            var round = 0
            while !board.isOver {
                round += 1
                items.enqueue(round, forKey: "k")
            }
            return round
        }
        // The transactions may be done before the thread has begun.
        while try items["k", as: Int.self] == nil { await Task.yield() }
        for round in 0..<20 {
            try await workspace.transaction { tx in
                let seen = try tx.value(forKey: "k", as: Int.self, in: items) ?? 0
                for number in 0..<50 { _ = try tx.contains("\(number)", in: items) }
                try tx.set(seen, forKey: "seen\(round)", in: items)
            }
        }
        board.end()
        let last = await storm.value
        try await workspace.synchronize()
        #expect(try items["k", as: Int.self] == last)
        let seen = try (0..<20).compactMap { try items["seen\($0)", as: Int.self] }
        #expect(seen == seen.sorted() && seen.count == 20)
        withExtendedLifetime(thread) {}
        try await workspace.close()
    }
}
