import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// Writers, loads, scans, transactions and watchers that are cancelled at every moment. Each call is done or was not
/// begun, and none hangs: a continuation that was lost would, one resumed twice would trap.
@Suite(.timeLimit(.minutes(10))) struct StormTests {
    @Test(arguments: WorkspaceKind.allCases)
    func cancelledCallsAreDoneOrNotBegun(kind: WorkspaceKind) async throws {
        let seed = testSeed()
        try await kind.withWorkspace(
            .init(shardCount: 4, durability: .process, memoryBudgetBytes: 1 << 16)
        ) { workspace in
            let storm = Storm(workspace: workspace)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &+ UInt64(worker))
                        for step in 0..<80 { try await storm.step(worker, step, &random) }
                    }
                }
                group.addTask { for _ in 0..<3 { try await workspace.compact() } }
                try await group.waitForAll()
            }
            try await workspace.synchronize()
            try storm.check("seed \(seed)")
        }
    }

    /// Calls under way when the workspace is closed end too.
    @Test(arguments: WorkspaceKind.allCases)
    func closingEndsEverythingThatIsUnderWay(kind: WorkspaceKind) async throws {
        let seed = testSeed()
        for round in 0..<10 {
            try await kind.withWorkspace(.init(shardCount: 4)) { workspace in
                let storm = Storm(workspace: workspace)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<6 {
                        group.addTask {
                            var random = SeededGenerator(seed: seed &+ UInt64(worker + 100 * round))
                            for step in 0..<30 { try await storm.step(worker, step, &random) }
                        }
                    }
                    for _ in 0..<(round * 20) { await Task.yield() }
                    try await workspace.close()
                    try await group.waitForAll()
                }
            }
        }
    }
}

private final class Storm: Sendable {
    let workspace: Workspace
    /// For each worker's key: the values that may be stored. Several where a call that was
    /// cancelled, or came too late, said no more than that.
    private let possible = Mutex<[String: Set<Int>]>([:])

    init(workspace: Workspace) { self.workspace = workspace }

    private var dictionary: WorkspaceDictionary { workspace.dictionary("storm") }

    func step(_ worker: Int, _ step: Int, _ random: inout SeededGenerator) async throws {
        let key = "\(worker)/\(random.below(3))"
        let yields = random.below(6)
        let kind = random.below(12)
        let durability: Durability = random.once(in: 3) ? .synced : .process
        let task = Task { try await self.call(kind, key, worker, step, durability) }
        for _ in 0..<yields { await Task.yield() }
        task.cancel()
        do {
            if let value = try await task.value { note(value, key, isSure: true) }
        } catch let error as RoostError {
            // Cancelled before it took effect, or the workspace was closed.
            #expect([.cancelled, .closed].contains(error.code), "\(error)")
            if error.code == .closed { note(step, key, isSure: false) }
        }
    }

    /// Returns the value that the key has now, if the call was one that changes it.
    private func call(
        _ kind: Int, _ key: String, _ worker: Int, _ step: Int, _ durability: Durability
    ) async throws -> Int? {
        switch kind {
        case 0...2: try await dictionary.set(step, forKey: key, durability: durability)
        case 3:
            try await dictionary.setAll(
                [(key, step), ("shared/\(worker)", step)], durability: durability)
        case 4: try await dictionary.update(key, default: 0, durability: durability) { $0 = step }
        case 5:
            try await workspace.transaction(durability: durability) { transaction in
                try transaction.set(step, forKey: key, in: self.dictionary)
            }
        case 6:
            guard case .success = dictionary.enqueue(step, forKey: key) else { return nil }
        case 7:
            _ = try await dictionary.load(key, as: Int.self)
            return nil
        case 8:
            for await _ in dictionary.updates(of: key, as: Int.self) {}
            return nil
        case 9:
            for await _ in dictionary.changes(as: Int.self, since: 0) {}
            return nil
        case 10:
            let order: ScanOrder = step % 2 == 0 ? .ascending : .descending
            for try await _ in dictionary.entries(as: Int.self, order: order) {}
            return nil
        default:
            for try await key in dictionary.keys(prefix: "shared") where key == "shared/1" { break }
            return nil
        }
        return step
    }

    private func note(_ value: Int, _ key: String, isSure: Bool) {
        possible.withLock { possible in
            if isSure { possible[key] = [value] } else { possible[key]?.insert(value) }
        }
    }

    func check(_ comment: Comment) throws {
        for (key, values) in possible.withLock({ $0 }) {
            let stored = try #require(try dictionary[key, as: Int.self], comment)
            #expect(values.contains(stored), comment)
        }
    }
}
