import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

/// One run from one seed: operations on a workspace over a simulated disk, crashes, faults, and
/// after each opening a comparison with what must be there.
///
/// - All of it, the engine's actors included, runs on the one thread of `scheduling`, in an order
///   that follows from the seed: the same seed is the same run.
/// - A run is rounds. In each, some tasks make calls side by side; at its end nothing is under
///   way but the engine's own work.
/// - A machine that stopped is noticed after the call in which it did; what that call reported
///   counts as unknown.
package actor SimulationRun {
    package let seed: UInt64
    package internal(set) var counts = SimulationCounts()
    /// What happened, line by line.
    package private(set) var trace: [String] = []
    private let isTraced: Bool
    /// The time of day when a run begins, in milliseconds since 1970.
    private static let beginMilliseconds: UInt64 = 1_000_000_000_000

    var random: SimulationRandom
    var workload: Workload
    var engineConfiguration: EngineConfiguration
    let scheduling: SimulatedScheduling
    var history: History
    var fileSystem: SimulatedFileSystem
    var workspace: Workspace?
    /// How many batches the next opening must find at least, where no workspace is open.
    var requiredCount = 0
    /// Whether the next opening must find every acknowledged batch.
    var requiresAcknowledged = false
    /// Faults that had hit when the workspace was opened, or at the begin of a later round where it has got over them;
    /// any more excuse its errors.
    var pastFaults: [FaultKind: Int] = [:]
    /// Some of them hit in this opening.
    var hasPastFaults = false
    /// No room was there, in this opening: a sync may have failed, which poisons.
    var mayBePoisoned = false
    /// What flushes had failed with when the round began: where the log is twice too long, writes are refused with it
    /// until a flush that is tried again succeeds.
    var standingFailure: String?
    /// A fault was injected that hits again and again, until faults are cleared.
    var isFaultLasting = false
    /// The machine's faults that are in `counts`.
    var countedFaults: [FaultKind: Int] = [:]
    /// Those of this round.
    var watchers: [RoundWatcher] = []
    /// Watch all dictionaries of `trackedEngine`.
    var trackers: [(dictionary: String, handle: WatchHandle)] = []
    weak var trackedEngine: Engine?
    /// The keys that may open the workspace, of which one does: more than one where a change of keys has failed.
    var secrets: [UInt64] = [1]
    var isChangingKey = false
    /// A close was called for: calls under way may say `.closed`.
    var isClosing = false

    package init(seed: UInt64, scheduling: SimulatedScheduling, isTraced: Bool = false) {
        self.seed = seed
        self.isTraced = isTraced
        self.scheduling = scheduling
        counts.seeds = 1
        var random = SimulationRandom(seed: seed)
        let clock: @Sendable () -> UInt64 = {
            Self.beginMilliseconds + UInt64(scheduling.now / .milliseconds(1))
        }
        workload = Workload(&random, clock: clock)
        history = History(clock: clock)
        var disk = Disk(seed: random.next())
        disk.allowsMapping = !random.once(in: 4)
        fileSystem = SimulatedFileSystem(disk: disk, scheduling: scheduling)
        var configuration = EngineConfiguration()
        configuration.pausesBetweenSteps = random.once(in: 2)
        configuration.declinesChangesAtOnce = random.once(in: 2)
        // So small that merges go over several ranges.
        configuration.snapshotSizeBytes = [256, 2 << 10, 32 << 20][random.below(3)]
        configuration.durability = .process
        configuration.wallClock = clock
        configuration.flushThresholdBytes = [2 << 10, 6 << 10, 16 << 10][random.below(3)]
        configuration.smallestFlushBytes = configuration.flushThresholdBytes / 4
        configuration.backlogLimitBytes = configuration.flushThresholdBytes * 4
        configuration.memoryBudgetBytes = 1 << 16
        // Short ones, so that a run rotates often, and reads few zeros: half of all time went into
        // those of 1 MiB. Each is twice as long as the one before.
        configuration.segmentSizeBytes = [4 << 10, 12 << 10, 48 << 10][random.below(3)]
        configuration.minimumCallSizeBytes = [64, 8 << 10][random.below(2)]
        // Whatever was drawn for those who wait: the seeds of earlier runs stay what they are.
        configuration.minimumUnawaitedCallSizeBytes =
            configuration.minimumCallSizeBytes == 64 ? 128 : 32 << 10
        configuration.compresses = random.once(in: 2)
        // Said here, as the usual count is the machine's.
        configuration.compactionThreadCount = [1, 2, 3][random.below(3)]
        // So little that a rest finds the log too long.
        configuration.restLogSizeBytes = [1 << 10, 8 << 10, 4 << 20][random.below(3)]
        configuration.restDelay = .milliseconds([3, 300][random.below(2)])
        engineConfiguration = configuration
        self.random = random
    }

    /// Takes about `steps` steps, and then crashes and opens once more.
    package func run(steps: Int) async throws {
        var left = steps
        while left > 0 {
            try await open()
            let taskCount = 1 + random.below(4)
            let stepCount = min(left, 2 + random.below(8))
            left -= stepCount
            let ahead = max(1, stepCount / taskCount)
            if let workspace {
                endExcuses(of: workspace)
                beginTracking(workspace)
                beginWatching(workspace)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<taskCount { group.addTask { try await self.takeSteps(ahead) } }
                try await group.waitForAll()
            }
            if !fileSystem.isOff { try placeEnqueued() }
            try await endWatching()
            try await endRound()
        }
        try await crash(isPowerCut: random.once(in: 2))
        try await open()
        countWork()
        workspace = nil
    }

    func note(_ line: @autoclosure () -> String) { if isTraced { trace.append(line()) } }

    private func takeSteps(_ count: Int) async throws {
        for _ in 0..<count {
            guard let workspace, !fileSystem.isOff, !isClosing else { return }
            try await takeStep(workspace)
        }
    }

    private func endRound() async throws {
        countFaults()
        isClosing = false
        if fileSystem.isOff { return try await crash(isPowerCut: random.below(3) > 0) }
        guard let workspace else { return }
        try attempt { try self.compare(workspace, "at a round's end") }
    }

    private func takeStep(_ workspace: Workspace) async throws {
        switch random.below(100) {
        case ..<3:
            note("the machine stops")
            _ = fileSystem.turnOff()
            return
        case ..<8:
            let count = random.below(40)
            note("the machine will stop after \(count) calls")
            fileSystem.stop(afterCalls: count)
        case ..<13: injectFault()
        case ..<15:
            note("faults cleared")
            clearFaults()
        default: break
        }
        counts.operations += 1
        let number = counts.operations
        let action = workload.next(&random)
        note("\(number) begins: \(action.name)")
        counts.actions[action.name, default: 0] += 1
        do {
            if workspace.isEncrypted, random.once(in: 25) { try await changeKey(of: workspace) }
            if random.once(in: 12) {
                try await performAndCancel(action, on: workspace)
            } else {
                try await perform(action, on: workspace)
            }
        } catch let error as RoostError {
            try excuse(error)
        }
    }

    /// Makes a call in a task that is cancelled before, in the middle of, or after it.
    private func performAndCancel(_ action: Workload.Action, on workspace: Workspace) async throws {
        let task = Task(executorPreference: scheduling.executor) {
            try await self.perform(action, on: workspace)
        }
        for _ in 0..<random.below(8) { await Task.yield() }
        note("cancels")
        counts.cancellations += 1
        task.cancel()
        // The simulation's own sleeps say it in this way.
        do { try await task.value } catch is CancellationError {}
    }

    func injectFault() {
        let kind = FaultKind.allCases[random.below(FaultKind.allCases.count)]
        let hit = CallKind.allCases.filter(kind.canHit)
        let call = random.once(in: 2) ? nil : hit[random.below(hit.count)]
        let fault = Fault(kind, at: call, skipping: random.below(8), isLasting: random.once(in: 4))
        note("fault \(fault)")
        if fault.isLasting { isFaultLasting = true }
        fileSystem.inject(fault)
    }

    func clearFaults() {
        isFaultLasting = false
        fileSystem.clearFaults()
    }

    func countFaults() {
        for (kind, count) in fileSystem.firedFaults {
            counts.faults[kind.rawValue, default: 0] += count - (countedFaults[kind] ?? 0)
            countedFaults[kind] = count
        }
    }

    func compare(_ workspace: Workspace, _ when: String) throws {
        let found = try workspace.engine.content()
        if let objection = history.objection(to: found) {
            throw SimulationFailure("\(when), \(history.lastKnown) batches: \(objection)")
        }
    }
}
