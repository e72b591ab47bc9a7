import RoostTestSupport
import Testing

@testable import RoostEngine

@Suite struct MergePolicyTests {
    let policy = MergePolicy()

    @Test func oneSnapshotIsLeftAlone() {
        #expect(policy.mergeCount([]) == nil)
        #expect(policy.mergeCount([5]) == nil)
        #expect(policy.mergeCount([5], isIdle: true) == nil)
    }

    @Test func equalSnapshotsAreMergedTogether() {
        #expect(policy.mergeCount([10, 10, 10]) == nil)
        #expect(policy.mergeCount([10, 10, 10], isIdle: true) == 3)
        #expect(policy.mergeCount(Array(repeating: 10, count: 7)) == nil)
        #expect(policy.mergeCount(Array(repeating: 10, count: 8)) == 8)
    }

    @Test func aSmallChangeDoesNotRewriteALargeShard() {
        #expect(policy.mergeCount([1, 1_000], isIdle: true) == nil)
        #expect(policy.mergeCount([1, 1, 1, 1, 1_000], isIdle: true) == 4)
        #expect(policy.mergeCount(Array(repeating: 1, count: 8) + [1_000]) == 8)
        #expect(policy.mergeCount([1, 1, 10, 1_000, 100_000], isIdle: true) != 5)
    }

    @Test func whatWasEmptiedIsGarbage() {
        #expect(policy.mergeCount([1_000], emptied: 300, isIdle: true) == nil)
        #expect(policy.mergeCount([1_000], emptied: 400, isIdle: true) == 1)
        #expect(policy.mergeCount([1_000], emptied: 400) == nil)
        #expect(policy.mergeCount([10, 1_000], emptied: 600) == 2)
        // More than there is was counted, as the counts are of whole files.
        #expect(policy.mergeCount([10], emptied: 11) == 1)
        // Above a merge that is under way.
        #expect(policy.mergeCount([10], emptied: 10, isWhole: false) == nil)
    }

    /// A shard that is flushed to for ever: few snapshots, and a logarithm's worth of rewriting.
    @Test func theCountStaysSmallAndTheWorkGrowsWithTheLogarithm() {
        var sizes: [UInt64] = []
        var written: UInt64 = 0
        for _ in 0..<4_000 {
            sizes.insert(100, at: 0)
            written += 100
            while let count = policy.mergeCount(sizes) {
                #expect(count > 1 && count <= sizes.count)
                let merged = sizes[..<count].reduce(0, +)
                written += merged
                sizes.replaceSubrange(..<count, with: [merged])
            }
            #expect(sizes.count <= policy.maximumCount)
        }
        #expect(written < 4_000 * 100 * 16, "\(Double(written) / 400_000) times")
    }
}
