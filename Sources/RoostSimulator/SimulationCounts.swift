import RoostSimulation

/// What runs did, added up.
package struct SimulationCounts: Sendable, Codable {
    package var seeds = 0
    package var operations = 0
    /// The operations by kind.
    package var actions: [String: Int] = [:]
    /// Operations whose task was cancelled.
    package var cancellations = 0
    package var watchEvents = 0
    package var crashes = 0
    package var powerCuts = 0
    package var kills = 0
    /// Of the crashes, those in the middle of an opening.
    package var crashesWhileOpening = 0
    package var openings = 0
    package var tornTails = 0
    package var flushes: UInt64 = 0
    package var merges: UInt64 = 0
    /// How often each kind of fault hit, those that a power cut leaves included.
    package var faults: [String: Int] = [:]
    /// Of the flipped bits, those that were found and those in bytes that mean nothing or in
    /// what counts as torn.
    package var rotFound = 0
    package var rotHarmless = 0
    package var failures = 0

    package init() {
        for kind in FaultKind.allCases { faults[kind.rawValue] = 0 }
        for name in CrashEffects().byName.keys { faults[name] = 0 }
        faults["droppedPages"] = 0
        faults["bitRot"] = 0
    }

    mutating func add(_ effects: CrashEffects, _ disk: Disk) {
        faults.merge(effects.byName, uniquingKeysWith: +)
        faults["droppedPages", default: 0] += disk.droppedPageCount
    }

    package mutating func add(_ other: SimulationCounts) {
        seeds += other.seeds
        operations += other.operations
        actions.merge(other.actions, uniquingKeysWith: +)
        cancellations += other.cancellations
        watchEvents += other.watchEvents
        crashes += other.crashes
        powerCuts += other.powerCuts
        kills += other.kills
        crashesWhileOpening += other.crashesWhileOpening
        openings += other.openings
        tornTails += other.tornTails
        flushes += other.flushes
        merges += other.merges
        faults.merge(other.faults, uniquingKeysWith: +)
        rotFound += other.rotFound
        rotHarmless += other.rotHarmless
        failures += other.failures
    }
}
