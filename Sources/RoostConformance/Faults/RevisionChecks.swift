import Roost
import RoostIO
import RoostShared
import Synchronization

extension ConformanceCheck where Workspace == SharedWorkspace {
    /// What is read at an earlier revision, where keys came and went since.
    static var revisionChecks: [ConformanceCheck] {
        [
            ConformanceCheck(
                "a transaction sees the keys that were removed since it began, and none that came"
            ) { try await checkEarlierKeys($0) },
            ConformanceCheck("the sum of accounts stays while they move to other keys") {
                try await checkMovingAccounts($0)
            },
        ]
    }

    private static func checkEarlierKeys(
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        let values = context.dictionary("earlier-keys")
        let others = context.dictionary("earlier-keys", of: 1)
        let names = (0..<40).map { "k\(10 + $0)" }
        try await values.setAll(names.enumerated().map { ($0.element, $0.offset) })
        let isFirst = Mutex(true)
        try await context.workspace.transaction { attempt in
            try requireEqual(
                try await attempt.load("k10", as: Int.self, in: values), 0, "k10, at first")
            if isFirst.withLock({ first in
                defer { first = false }
                return first
            }) {
                for name in ["k11", "k30", "k49"] { try await others.removeValue(forKey: name) }
                for name in ["k00", "k305", "k90"] { try await others.set(-1, forKey: name) }
                try await others.set(-1, forKey: "k31")
            }
            try requireEqual(
                try await attempt.keys(of: values), names, "the keys, as they were before")
            try requireEqual(
                try await attempt.keys(of: values, order: .descending), names.reversed(),
                "the keys from the last on, as they were before")
            try requireEqual(
                try await attempt.load("k30", as: Int.self, in: values), 20, "what was removed")
            try requireEqual(
                try await attempt.load("k31", as: Int.self, in: values), 21, "what was changed")
            try requireEqual(
                try await attempt.load("k305", as: Int.self, in: values), nil, "what came")
        }
        let now = try await values.keys().collected()
        try requireEqual(now.count, names.count, "the number of keys afterwards")
        try require(now.contains("k305") && !now.contains("k30"), "the keys afterwards are \(now)")
    }

    /// Each account is one key, which is another after each move; a scan that takes several pages sees each once.
    private static func checkMovingAccounts(
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        let count = 60
        let accounts = context.dictionary("moving")
        try await accounts.setAll((0..<count).map { (movingKey($0, 0), 100) })
        let movers = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for mover in 0..<3 {
                    group.addTask {
                        try await move(
                            (0..<count).filter { $0 % 3 == mover }, in: context, of: mover)
                    }
                }
                try await group.waitForAll()
            }
        }
        // Also where a promise is broken, nothing goes on behind it.
        defer { movers.cancel() }
        for _ in 0..<(20 * context.effort) {
            let all = try await accounts.entries(as: Int.self).collected()
            try requireEqual(all.reduce(0) { $0 + $1.value }, count * 100, "the sum of a scan")
            try requireEqual(all.count, count, "the number of accounts")
        }
        movers.cancel()
        do { try await movers.value } catch let error as RoostError where error.code == .cancelled {
        }
    }

    private static func movingKey(_ account: Int, _ generation: Int) -> String {
        // So that it moves to anywhere among the others.
        "\((account * 31 + generation * 17) % 97)-\(account)-\(generation)"
    }

    /// Closes accounts and opens them under other keys, two in one transaction, with a part of the one's balance.
    private static func move(
        _ own: [Int], in context: ConformanceContext<SharedWorkspace>, of mover: Int
    ) async throws {
        let accounts = context.dictionary("moving", of: mover)
        let workspace = context.workspaces[mover % context.workspaces.count]
        var generation = 0
        while !Task.isCancelled {
            for pair in stride(from: 0, to: own.count - 1, by: 2) {
                let (from, to) = (own[pair], own[pair + 1])
                let before = generation
                try await workspace.transaction { attempt in
                    let (one, other) = (movingKey(from, before), movingKey(to, before))
                    let balance = try await attempt.load(one, as: Int.self, in: accounts) ?? 0
                    let rest = try await attempt.load(other, as: Int.self, in: accounts) ?? 0
                    try attempt.removeValue(forKey: one, in: accounts)
                    try attempt.removeValue(forKey: other, in: accounts)
                    try attempt.set(
                        balance - 1, forKey: movingKey(from, before + 1), in: accounts)
                    try attempt.set(rest + 1, forKey: movingKey(to, before + 1), in: accounts)
                }
            }
            generation += 1
        }
    }
}
