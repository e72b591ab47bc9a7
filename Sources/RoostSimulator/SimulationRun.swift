import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

/// One run from one seed: operations on an engine over a simulated disk, crashes, faults, and
/// after each opening a comparison with what must be there.
///
/// - One task makes all calls, one after another, and after each waits until no compaction runs.
/// - A machine that stopped is noticed after the call in which it did; what that call reported
///   counts as unknown.
package struct SimulationRun {
    package let seed: UInt64
    package private(set) var counts = SimulationCounts()
    /// What happened, line by line.
    package private(set) var trace: [String] = []

    private var random: SimulationRandom
    private var workload: Workload
    private var configuration = EngineConfiguration()
    private var history = History()
    private var fileSystem: SimulatedFileSystem
    private var engine: Engine?
    /// How many batches the next opening must find at least.
    private var requiredCount = 0
    /// Faults that had hit when the engine was opened; any more excuse its errors.
    private var excusedFaultCount = 0
    /// The machine's faults that are in `counts`.
    private var countedFaults: [FaultKind: Int] = [:]

    package init(seed: UInt64) {
        self.seed = seed
        counts.seeds = 1
        random = SimulationRandom(seed: seed)
        workload = Workload(&random)
        var disk = Disk(seed: random.next())
        disk.allowsMapping = !random.once(in: 4)
        fileSystem = SimulatedFileSystem(disk: disk)
        configuration.shardCount = [1, 2, 4][random.below(3)]
        configuration.durability = .process
        configuration.flushThresholdBytes = [2 << 10, 6 << 10, 16 << 10][random.below(3)]
        configuration.backlogLimitBytes = configuration.flushThresholdBytes * 4
        configuration.memoryBudgetBytes = 1 << 16
        configuration.compresses = random.once(in: 2)
    }

    /// Takes `steps` steps, and then crashes and opens once more.
    package mutating func run(steps: Int) async throws {
        for _ in 0..<steps {
            try await open()
            try await step()
        }
        try await crash(isPowerCut: random.once(in: 2))
        try await open()
        engine = nil
    }

    private mutating func note(_ line: String) { trace.append(line) }

    // MARK: Steps

    private mutating func step() async throws {
        switch random.below(100) {
        case ..<6: return try await crash(isPowerCut: random.below(3) > 0)
        case ..<12:
            let count = random.below(40)
            note("the machine will stop after \(count) calls")
            fileSystem.stop(afterCalls: count)
        case ..<17: injectFault()
        case ..<19:
            note("faults cleared")
            fileSystem.clearFaults()
        default: break
        }
        counts.operations += 1
        do {
            try await perform(workload.next(&random))
            await engine?.waitForCompaction()
        } catch let error as RoostError {
            try excuse(error)
        }
        countFaults()
        if fileSystem.isOff { try await crash(isPowerCut: random.below(3) > 0) }
    }

    private mutating func injectFault() {
        let kind = FaultKind.allCases[random.below(FaultKind.allCases.count)]
        let hit = CallKind.allCases.filter(kind.canHit)
        let call = random.once(in: 2) ? nil : hit[random.below(hit.count)]
        let fault = Fault(kind, at: call, skipping: random.below(8), isLasting: random.once(in: 4))
        note("fault \(fault)")
        fileSystem.inject(fault)
    }

    private mutating func perform(_ action: Workload.Action) async throws {
        guard let engine else { return }
        switch action {
        case .write(let changes, let durability): try await write(engine, changes, durability)
        case .read(let dictionary, let key):
            let found = try engine.value(key, DictionaryName(dictionary)!)
            guard found == history.visibleContent[dictionary]?[key] else {
                throw SimulationFailure("a wrong value of \(dictionary)/\(key)")
            }
        case .check: try compare(engine, "while open")
        case .synchronize:
            try await engine.synchronize()
            if !fileSystem.isOff { history.durableCount = history.batches.count }
            note("synchronized \(history.batches.count)")
        case .compact:
            note("compact")
            try await engine.compact()
        case .close: try await close(engine)
        }
    }

    private mutating func write(
        _ engine: Engine, _ changes: [History.Change], _ durability: Durability
    ) async throws {
        let isAwaited = durability == .synced
        var batch = History.Batch(changes: changes, isAwaited: isAwaited, isVisible: true)
        let expected = UInt64(history.batches.count + 1)
        do {
            let sequence = try await engine.make(changes, durability)
            guard sequence == expected else {
                throw SimulationFailure("batch \(expected) was given the number \(sequence)")
            }
            history.append(batch)
            note("wrote \(sequence) \(durability) \(changes.count)")
            // A machine that is off may have stopped before the frame was complete.
            if fileSystem.isOff { return }
            history.acknowledgedCount = history.batches.count
            if isAwaited { history.durableCount = history.batches.count }
        } catch let error as RoostError {
            let last = engine.statistics.lastSequence
            note("write \(expected) \(durability) failed, last is \(last): \(error)")
            if last == expected {
                batch.isVisible = false
                history.append(batch)
            } else if last != expected - 1 {
                throw SimulationFailure("after a failed batch \(expected) the last one is \(last)")
            } else if error.code == .poisoned {
                history.uncertain = history.uncertain ?? batch
            }
            throw error
        }
    }

    private mutating func close(_ engine: Engine) async throws {
        self.engine = nil
        requiredCount = history.acknowledgedCount
        do {
            try await engine.close()
            note("closed at \(history.batches.count)")
            // One that was poisoned closes without a sync.
            if !fileSystem.isOff, !hasFaults { history.durableCount = history.batches.count }
        } catch {
            note("closing failed: \(error)")
            throw error
        }
    }

    // MARK: Errors

    private var firedFaultCount: Int { fileSystem.firedFaults.values.reduce(0, +) }
    private var hasFaults: Bool { firedFaultCount > excusedFaultCount }

    /// Errors are right only where a fault hit or the machine is off, and only some of them.
    private func excuse(_ error: RoostError) throws {
        let codes: [RoostError.Code] = [.io, .outOfSpace, .poisoned, .closed]
        guard fileSystem.isOff || hasFaults, codes.contains(error.code) else {
            throw SimulationFailure("an error without a reason: \(error)")
        }
    }

    private mutating func countFaults() {
        for (kind, count) in fileSystem.firedFaults {
            counts.faults[kind.rawValue, default: 0] += count - (countedFaults[kind] ?? 0)
            countedFaults[kind] = count
        }
    }

    private func compare(_ engine: Engine, _ when: String) throws {
        let found = try engine.content()
        if let difference = History.difference(found: found, expected: history.visibleContent) {
            throw SimulationFailure("\(when), \(history.batches.count) batches: \(difference)")
        }
    }

    // MARK: Crashes and openings

    private mutating func crash(isPowerCut: Bool) async throws {
        countFaults()
        let disk = fileSystem.turnOff()
        if let engine {
            counts.flushes += engine.statistics.flushCount
            counts.merges += engine.statistics.mergeCount
        }
        requiredCount =
            isPowerCut
            ? min(history.durableCount, requiredCount(engine)) : requiredCount(engine)
        engine = nil
        counts.crashes += 1
        if isPowerCut { counts.powerCuts += 1 } else { counts.kills += 1 }
        var choices = RandomChoices(seed: random.next())
        let survivor = isPowerCut ? disk.afterPowerCut(&choices) : disk.afterKill()
        note("\(isPowerCut ? "power cut" : "kill") at \(history.batches.count), needs \(requiredCount)")
        note("  \(survivor.listing.joined(separator: ", "))")
        fileSystem = SimulatedFileSystem(disk: survivor)
        countedFaults = [:]
    }

    /// While it is open, what was acknowledged; between openings, what the next must find.
    private func requiredCount(_ engine: Engine?) -> Int {
        engine == nil ? requiredCount : history.acknowledgedCount
    }

    private mutating func open() async throws {
        guard engine == nil else { return }
        for attempt in 0... {
            let isDisturbed = attempt < 3
            if isDisturbed, random.once(in: 4) { fileSystem.stop(afterCalls: random.below(25)) }
            if isDisturbed, random.once(in: 8) { injectFault() }
            if !isDisturbed {
                fileSystem.stop(afterCalls: nil)
                fileSystem.clearFaults()
            }
            excusedFaultCount = firedFaultCount
            do {
                let opened = try await Engine.open(
                    at: "/simulated", fileSystem: fileSystem, configuration: configuration)
                engine = opened
                return try check(opened)
            } catch let error as RoostError {
                note("opening failed: \(error)")
                try excuse(error)
            }
            countFaults()
            if fileSystem.isOff {
                counts.crashesWhileOpening += 1
                try await crash(isPowerCut: random.once(in: 2))
            }
        }
    }

    /// An opening must have kept a prefix of the batches, long enough, and all of it.
    private mutating func check(_ engine: Engine) throws {
        counts.openings += 1
        counts.tornTails += engine.recovery.tornTails.count
        let kept = Int(engine.recovery.lastSequence)
        note("opened at \(kept), torn tails \(engine.recovery.tornTails.map(\.offset))")
        guard kept >= requiredCount else {
            throw SimulationFailure("lost: \(requiredCount) batches were safe, \(kept) are there")
        }
        guard kept <= history.batches.count + (history.uncertain == nil ? 0 : 1) else {
            throw SimulationFailure("invented: \(kept) of \(history.batches.count) batches are there")
        }
        history.keep(kept)
        try compare(engine, "after an opening")
    }
}
