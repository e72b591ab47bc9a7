import Roost

extension Client {
    /// Reads and writes from tasks off the main actor.
    static func checkTasks(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let counters = workspace.dictionary("counters")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask { try await writeCounters(of: task, in: counters) }
            }
            try await group.waitForAll()
        }
        try check(try counters.count == 8 * 100, "every task's keys are there")
        let sum = try await Task.detached {
            try counters.keys.reduce(0) { try $0 + counters[$1, default: 0] }
        }.value
        try check(sum == 8 * 4950, "every task's values are there")

        let loaded = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<16 {
                group.addTask { try await counters.load("task-3/99", as: Int.self) }
            }
            var values: [Int?] = []
            for try await value in group { values.append(value) }
            return values
        }
        try check(loaded == Array(repeating: 99, count: 16), "loads agree")

        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await counters.set(1, forKey: "cancelled")
        }
        try await expect(.cancelled) { try await cancelled.value }
        try check(try !counters.contains("cancelled"), "a cancelled write changes nothing")
        try await workspace.close()
    }

    @concurrent
    private nonisolated static func writeCounters(
        of task: Int, in counters: WorkspaceDictionary
    ) async throws {
        for index in 0..<100 {
            try await counters.set(
                index, forKey: "task-\(task)/\(index)",
                durability: index % 50 == 0 ? .synced : .process)
        }
    }
}
