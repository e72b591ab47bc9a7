import RoostSimulator
import Testing

/// A few of the seeds that `roost-simulate objects` runs by the hundred thousand.
@Suite("Objects over a simulated disk")
struct ObjectSimulatorTests {
    @Test func everyIndexThatCountsIsThatOfItsObjects() async {
        let outcome = await ObjectSimulator.run(first: 1, count: 60, steps: 40, width: 2)
        for failed in outcome.failed { Issue.record("seed \(failed.seed): \(failed.reason)") }
        let counts = outcome.counts
        #expect(counts.crashes > 60 && counts.queries > 500 && counts.builtIndexes > 100)
        // Some were looked at while they were being built.
        #expect(counts.unbuiltIndexes > 0)
        #expect(counts.updatesAtOnce > 0)
    }

    @Test func aSeedIsTheSameRunAgain() async {
        let first = await ObjectSimulator.run(seed: 7, steps: 60, isTraced: true)
        let second = await ObjectSimulator.run(seed: 7, steps: 60, isTraced: true)
        #expect(first.counts.steps == second.counts.steps)
        #expect(first.counts.queries == second.counts.queries)
        #expect(first.counts.crashes == second.counts.crashes)
        #expect(first.counts.checkedIndexes == second.counts.checkedIndexes)
    }
}
