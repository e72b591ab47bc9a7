import RoostSimulator
import Testing

@Suite("Simulator", .serialized)
struct SimulatorTests {
    @Test("100 seeds lose nothing, invent nothing and call no crash damage")
    func manySeeds() async {
        let outcome = await Simulator.run(first: 1, count: 100, steps: 40, width: 2)
        for failed in outcome.failed {
            Issue.record(
                """
                seed \(failed.seed): \(failed.reason)
                replay: swift run roost-simulate --seeds 1 --first-seed \(failed.seed) --steps 40 --trace
                """)
        }
        #expect(outcome.counts.crashes > 200)
        #expect(outcome.counts.flushes > 100)
    }
}
