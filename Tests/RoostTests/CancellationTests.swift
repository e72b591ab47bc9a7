import Roost
import RoostTestSupport
import Synchronization
import Testing

private final class Done: Sendable {
    let updates = Atomic<Int>(0)
    let transfers = Atomic<Int>(0)
}

/// A cancelled call is done, and says so, or was never begun, and says that.
@Suite struct CancellationTests {
    @Test func everyCallOfACancelledTaskIsDoneOrNotBegun() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory()
        let counters = workspace.dictionary("counters")
        let done = Done()
        let tasks = (0..<40).map { number in
            Task {
                do {
                    while true {
                        let durability: Durability = number % 4 == 0 ? .synced : .process
                        try await counters.update("n", default: 0, durability: durability) {
                            $0 += 1
                        }
                        done.updates.wrappingAdd(1, ordering: .relaxed)
                        try await workspace.transaction(durability: durability) { tx in
                            let from = try tx.value(forKey: "a", as: Int.self, in: counters) ?? 0
                            let to = try tx.value(forKey: "b", as: Int.self, in: counters) ?? 0
                            try tx.set(from - 1, forKey: "a", in: counters)
                            try tx.set(to + 1, forKey: "b", in: counters)
                        }
                        done.transfers.wrappingAdd(1, ordering: .relaxed)
                        // None of this has to suspend, and forty such tasks would leave no thread to those who
                        // cancel them.
                        await Task.yield()
                    }
                } catch let error as RoostError where error.code == .conflict {
                    // Forty tasks at one key: some lose over and over again.
                } catch let error as RoostError {
                    #expect(error.code == .cancelled, "seed \(seed)")
                }
            }
        }
        for task in tasks.shuffled(using: &random) {
            for _ in 0..<random.below(20) { await Task.yield() }
            task.cancel()
        }
        for task in tasks { try await task.value }
        let stored = try ["n", "a", "b"].map { try counters[$0, default: 0] }
        let counted = done.updates.load(ordering: .relaxed)
        let transferred = done.transfers.load(ordering: .relaxed)
        #expect(stored == [counted, -transferred, transferred], "seed \(seed)")
        #expect(workspace.statistics.liveReadViewCount == 0)
        try await workspace.close()
    }
}
