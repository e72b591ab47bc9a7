import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// What one transaction does; `HistoryTests` has what many at once do.
@Suite struct TransactionTests {
    @Test(arguments: WorkspaceKind.allCases)
    func aTransactionReadsItsOwnWritesAndLeavesNothingWhenItThrows(kind: WorkspaceKind) async throws
    {
        struct Refused: Error {}
        try await kind.withHome { home in
            var workspace = try await home.open()
            let users = workspace.dictionary("users")
            let log = workspace.dictionary("log")
            try await users.setAll(["a": 1, "b": 2, "c": 3])
            let left = try await workspace.transaction(durability: .synced) { tx in
                #expect(try tx.value(forKey: "a", as: Int.self, in: users) == 1)
                try tx.set(10, forKey: "a", in: users)
                #expect(try tx.value(forKey: "a", as: Int.self, in: users) == 10)
                try tx.removeValue(forKey: "b", in: users)
                #expect(try !tx.contains("b", in: users))
                try tx.set(4, forKey: "d", in: users)
                #expect(try tx.keys(of: users) == ["a", "c", "d"])
                #expect(try tx.keys(of: users, limit: 2, order: .descending) == ["d", "c"])
                #expect(try tx.keys(of: users, in: "b"..."c") == ["c"])
                #expect(try tx.count(of: users) == 3)
                try tx.set("moved", forKey: "1", in: log)
                return try tx.count(of: log)
            }
            #expect(left == 1)
            await #expect(throws: Refused.self) {
                try await workspace.transaction { tx in
                    try tx.removeAll(in: users)
                    #expect(try tx.count(of: users) == 0)
                    try tx.set(1, forKey: "z", in: users)
                    #expect(try tx.keys(of: users) == ["z"])
                    throw Refused()
                }
            }
            #expect(try users.keys == ["a", "c", "d"])
            try await workspace.transaction { tx in
                try tx.set(5, forKey: "e", in: log)
                try tx.removeAll(in: log)
                #expect(try tx.value(forKey: "e", as: Int.self, in: log) == nil)
                try tx.set(6, forKey: "f", in: log)
            }
            #expect(workspace.statistics.liveReadViewCount == 0)
            try await workspace.close()
            workspace = try await home.open()
            #expect(try workspace.dictionary("users").keys == ["a", "c", "d"])
            #expect(try workspace.dictionary("users")["a", as: Int.self] == 10)
            #expect(try workspace.dictionary("log").keys == ["f"])
            try await workspace.close()
        }
    }

    /// What another writer does between a transaction's reads and its commit, and whether the
    /// transaction has to run again.
    enum Meddling: CaseIterable {
        case nothing, otherKey, sameKey, absentKey, insideRange, outsideRange, removeAll
        case batch, syncedSet, flush, removeAbsent
    }

    @Test(arguments: Meddling.allCases, [Durability.process, .synced])
    func aTransactionRunsAgainExactlyWhenWhatItReadHasChanged(
        meddling: Meddling, durability: Durability
    ) async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users")
        try await users.setAll((0..<30).map { ("u\($0)", $0) })
        try await workspace.compact()
        try await users.set(7, forKey: "u7")
        let runs = try await Disturbed().run(workspace, durability, times: 1) {
            try await Self.meddle(meddling, workspace)
        }
        switch meddling {
        // A flush takes the table away that says what has changed.
        case .sameKey, .absentKey, .insideRange, .removeAll, .batch, .syncedSet, .flush:
            #expect(runs == 2)
        case .nothing, .otherKey, .outsideRange, .removeAbsent: #expect(runs == 1)
        }
        #expect(try users["result", as: Int.self] == runs)
        try await workspace.close()
    }

    private static func meddle(_ meddling: Meddling, _ workspace: Workspace) async throws {
        let users = workspace.dictionary("users")
        switch meddling {
        case .nothing: break
        case .otherKey: try await users.set(1, forKey: "u9")
        case .sameKey: try await users.set(1, forKey: "u8")
        case .absentKey: try await users.set(1, forKey: "none")
        case .insideRange: try await users.set(1, forKey: "u111")
        case .outsideRange: try await users.set(1, forKey: "u2222")
        case .removeAll: try await users.removeAll()
        case .batch: try await users.setAll((0..<30).map { ("u\($0)", $0) })
        case .syncedSet: try await users.set(1, forKey: "u7", durability: .synced)
        case .flush: try await workspace.compact()
        case .removeAbsent: try await workspace.dictionary("e").removeValue(forKey: "none")
        }
    }

    /// Its body waits for a writer of what it has read, who waits for it.
    @Test func aBodyThatWaitsForItsOwnReadsToChangeEndsInAConflict() async throws {
        let workspace = try await Workspace.open(
            at: "(in memory)", configuration: .init(), fileSystem: MemoryFileSystem()
        ) { $0.turnLimit = .milliseconds(100) }
        let users = workspace.dictionary("users")
        let runs = Mutex(0)
        do {
            _ = try await Disturbed().run(workspace, .process, times: .max) {
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                try await users.set(run, forKey: "u8")
            }
            Issue.record("committed on a value that was gone")
        } catch let error as RoostError { #expect(error.code == .conflict) }
        #expect(runs.withLock { $0 } >= 5)
        #expect(try !users.contains("result"))
        try await workspace.close()
    }

    @Test func aCancelledTransactionChangesNothing() async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users")
        let task = Task {
            try await workspace.transaction { tx in
                withUnsafeCurrentTask { $0?.cancel() }
                try tx.set(1, forKey: "a", in: users)
            }
        }
        do {
            try await task.value
            Issue.record("a cancelled transaction committed")
        } catch let error as RoostError { #expect(error.code == .cancelled) }
        #expect(try !users.contains("a"))
        try await workspace.close()
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aTransactionThatOnlyReadsNeverConflicts(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            try await workspace.dictionary("users").set(1, forKey: "a")
            try await workspace.close()
            workspace = try await home.open(.init(access: .readOnly))
            let users = workspace.dictionary("users")
            let sum = try await workspace.transaction { tx in
                try tx.value(forKey: "a", as: Int.self, in: users) ?? 0
            }
            #expect(sum == 1)
            await #expect(throws: RoostError.self) {
                try await workspace.transaction { tx in try tx.set(1, forKey: "b", in: users) }
            }
            try await workspace.close()
        }
    }
}

/// Runs a transaction during which something else happens: its body, which does not suspend, waits
/// for another task, on a thread of its own.
private actor Disturbed {
    private let thread = WorkerThread(name: "roost-test")
    /// On the cooperative pool others' tests would make an attempt long, and how long a turn is left to its
    /// holder goes by that.
    private let disturber = WorkerThread(name: "roost-test")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Disturbs the first `times` runs; returns how many there were.
    func run(
        _ workspace: Workspace, _ durability: Durability, times: Int,
        _ disturb: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let users = workspace.dictionary("users")
        var runs = 0
        try await workspace.transaction(durability: durability) { tx in
            runs += 1
            _ = try tx.value(forKey: "u7", as: Int.self, in: users)
            _ = try tx.value(forKey: "u8", as: Int.self, in: users)
            _ = try tx.contains("none", in: users)
            _ = try tx.keys(of: users, in: "u10"..<"u15")
            if runs <= times {
                let gate = Gate()
                gate.close()
                Task.detached(executorPreference: disturber.forTasks) {
                    try await disturb()
                    gate.open()
                }
                gate.pass()
            }
            try tx.set(runs, forKey: "result", in: users)
            try tx.set(runs, forKey: "other", in: workspace.dictionary("d"))
        }
        return runs
    }
}
