import RoostSimulation

/// What runs of objects did, added up.
package struct ObjectSimulationCounts: Sendable, Codable {
    package var seeds = 0
    package var steps = 0
    package var queries = 0
    package var openings = 0
    package var crashes = 0
    /// Indexes that were compared with their objects; of these, those that were being built.
    package var checkedIndexes = 0
    package var unbuiltIndexes = 0
    /// At the ends of runs.
    package var builtIndexes = 0
    package var failedUniqueIndexes = 0
    /// Updates that were made without a view.
    package var updatesAtOnce = 0
    package var failures = 0

    package init() {}

    package mutating func add(_ other: ObjectSimulationCounts) {
        seeds += other.seeds
        steps += other.steps
        queries += other.queries
        openings += other.openings
        crashes += other.crashes
        checkedIndexes += other.checkedIndexes
        unbuiltIndexes += other.unbuiltIndexes
        builtIndexes += other.builtIndexes
        failedUniqueIndexes += other.failedUniqueIndexes
        updatesAtOnce += other.updatesAtOnce
        failures += other.failures
    }
}

/// Runs many seeds of objects side by side.
package enum ObjectSimulator {
    package struct Outcome: Sendable {
        package var counts = ObjectSimulationCounts()
        package var failed: [Simulator.Failed] = []
    }

    /// One seed; never throws: what went wrong is in the outcome.
    package static func run(seed: UInt64, steps: Int, isTraced: Bool = false) async -> Outcome {
        let scheduling = SimulatedScheduling(seed: seed)
        let run = ObjectSimulation(seed: seed, scheduling: scheduling, isTraced: isTraced)
        let reason = await scheduling.run { () -> String in
            do {
                try await run.run(steps: steps)
                return ""
            } catch { return "\(error)" }
        }
        var outcome = Outcome()
        outcome.counts = await run.counts
        if reason != "" {
            outcome.failed = [
                Simulator.Failed(
                    seed: seed,
                    reason: reason ?? "it hangs: everything waits for something else",
                    trace: await run.trace)
            ]
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
