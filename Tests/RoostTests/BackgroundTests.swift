import Roost
import RoostTestSupport
import Testing

@Suite struct BackgroundTests {
    /// Writers in tight loops take every thread of the cooperative pool, as an uncontended actor
    /// call does not suspend. Timers and flushes that began on the pool then came late or never.
    @Test func syncsAndFlushesHappenWhileWritersNeverPause() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path,
                configuration: .init(
                    durability: .interval(.milliseconds(5)), memoryBudgetBytes: 1 << 20))
            let bytes = workspace.dictionary("bytes")
            let value = [UInt8](repeating: 1, count: 1_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for index in 0..<4_000 {
                            try await bytes.set(value, forKey: "\(writer) \(index)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            // 16 MB in the log: the first flush was due at 4, and writers wait at 16.
            let figures = workspace.statistics
            #expect(figures.flushCount + figures.syncCount > 2, "\(figures)")
            #expect(figures.durableSequence > 0)
            try await workspace.close()
        }
    }

    @Test func keysSpreadOverTheShards() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let numbers = workspace.dictionary("numbers")
            for number in 0..<4_000 { try await numbers.set(number, forKey: "key \(number)") }
            #expect(workspace.statistics.logKeyCount == 4_000)
            #expect(workspace.statistics.fullestShardLogKeyCount < 4_000 / 16 * 2)
            try await workspace.close()
        }
    }

    @Test func closingTwiceAtOnceWaitsForTheSameEnd() async throws {
        try await withTemporaryDirectory { path in
            for round in 0..<20 {
                let workspace = try await Workspace.open(at: path)
                try await workspace.dictionary("numbers").set(round, forKey: "last")
                async let first: Void = workspace.close()
                async let second: Void = workspace.close()
                _ = try await (first, second)
                // Whoever came back from closing finds the directory free.
                let reopened = try await Workspace.open(at: path)
                #expect(try reopened.dictionary("numbers")["last", as: Int.self] == round)
                try await reopened.close()
            }
        }
    }
}
