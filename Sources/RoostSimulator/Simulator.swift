import RoostSimulation

/// Runs many seeds side by side.
package enum Simulator {
    package struct Failed: Sendable {
        package let seed: UInt64
        package let reason: String
        package let trace: [String]
    }

    package struct Outcome: Sendable {
        package var counts = SimulationCounts()
        package var failed: [Failed] = []
    }

    /// One seed; never throws: what went wrong is in the outcome.
    package static func run(seed: UInt64, steps: Int, isTraced: Bool = false) async -> Outcome {
        let scheduling = SimulatedScheduling(seed: seed)
        let run = SimulationRun(seed: seed, scheduling: scheduling, isTraced: isTraced)
        let reason = await scheduling.run { () -> String in
            do {
                try await run.run(steps: steps)
                return ""
            } catch { return "\(error)" }
        }
        var outcome = Outcome()
        outcome.counts = await run.counts
        if reason != "" {
            let failed = Failed(
                seed: seed, reason: reason ?? "it hangs: everything waits for something else",
                trace: await run.trace)
            outcome.failed = [failed]
            outcome.counts.failures = 1
        }
        return outcome
    }

    /// The seeds from `first` on, `width` of them at a time; `progress` is called after each.
    package static func run(
        first: UInt64, count: Int, steps: Int, width: Int,
        progress: @escaping @Sendable (Outcome) async -> Void = { _ in }
    ) async -> Outcome {
        await withTaskGroup(of: Outcome.self) { group in
            var total = Outcome()
            var next = 0
            func begin() {
                guard next < count else { return }
                let seed = first &+ UInt64(next)
                next += 1
                group.addTask { await run(seed: seed, steps: steps) }
            }
            for _ in 0..<width { begin() }
            while let outcome = await group.next() {
                begin()
                await progress(outcome)
                total.counts.add(outcome.counts)
                total.failed += outcome.failed
            }
            total.failed.sort { $0.seed < $1.seed }
            return total
        }
    }
}
