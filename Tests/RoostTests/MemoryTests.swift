import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct MemoryTests {
    private static let recordCount = 18_000

    /// Alike enough to compress, long enough to add up: all of them are ten budgets and more.
    private func text(_ number: Int, _ round: Int) -> String {
        "record \(number) of round \(round): " + String(repeating: "\(number % 97) ", count: 300)
    }

    @Test func aStoreOfTenTimesItsBudgetIsReadRightWithinTheBudget() async throws {
        try await withTemporaryDirectory { path in
            let budget = 1 << 20
            let configuration = Workspace.Configuration(
                durability: .process, memoryBudgetBytes: budget)
            var workspace = try await Workspace.open(at: path, configuration: configuration)
            var values = workspace.dictionary("values")
            for round in 0..<2 {
                for number in stride(from: 0, to: Self.recordCount, by: 1 + round * 3) {
                    try await values.set(text(number, round), forKey: "\(number)")
                }
            }
            #expect(workspace.statistics.logBytesAppended > UInt64(10 * budget))
            #expect(workspace.statistics.flushCount > 0)
            try await workspace.close()
            workspace = try await Workspace.open(at: path, configuration: configuration)
            values = workspace.dictionary("values")
            for pass in 0..<2 {
                for number in 0..<Self.recordCount {
                    let found = try values["\(number)", as: String.self]
                    if found != text(number, number % 4 == 0 ? 1 : 0) {
                        Issue.record("pass \(pass): record \(number)")
                    }
                }
                #expect(workspace.statistics.residentSizeBytes <= budget)
            }
            #expect(workspace.statistics.residentCount > 0)
            #expect(workspace.statistics.coldReadCount > 0)
            let count = try values.count
            #expect(count == Self.recordCount)
            try await workspace.close()
        }
    }

    @Test func writersThatOutrunTheCompactionAreHeldToTheBacklog() async throws {
        try await withTemporaryDirectory { path in
            // Flushes at 4 MiB, holds writers at 16.
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process, memoryBudgetBytes: 0))
            let values = workspace.dictionary("values")
            let bytes = [UInt8](repeating: 1, count: 40_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for number in 0..<400 {
                            try await values.set(bytes, forKey: "\(writer)-\(number)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let figures = workspace.statistics
            #expect(figures.flushCount >= 3)
            #expect(figures.compactionFailure == nil)
            // Writers get past the limit by a write each, so what is left is no more than it.
            #expect(UInt64(figures.logKeyCount) * 40_000 < 24 << 20)
            let count = try values.count
            #expect(count == 1_600)
            try await workspace.close()
        }
    }
}
