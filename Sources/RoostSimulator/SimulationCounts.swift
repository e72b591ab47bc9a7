import RoostSimulation

/// What runs did, added up.
package struct SimulationCounts: Sendable, Codable {
    package var seeds = 0
    package var operations = 0
    package var crashes = 0
    package var powerCuts = 0
    package var kills = 0
    /// Of the crashes, those in the middle of an opening.
    package var crashesWhileOpening = 0
    package var openings = 0
    package var tornTails = 0
    package var flushes: UInt64 = 0
    package var merges: UInt64 = 0
    package var faults: [String: Int] = [:]
    package var failures = 0

    package init() { for kind in FaultKind.allCases { faults[kind.rawValue] = 0 } }

    package mutating func add(_ other: SimulationCounts) {
        seeds += other.seeds
        operations += other.operations
        crashes += other.crashes
        powerCuts += other.powerCuts
        kills += other.kills
        crashesWhileOpening += other.crashesWhileOpening
        openings += other.openings
        tornTails += other.tornTails
        flushes += other.flushes
        merges += other.merges
        faults.merge(other.faults, uniquingKeysWith: +)
        failures += other.failures
    }
}
