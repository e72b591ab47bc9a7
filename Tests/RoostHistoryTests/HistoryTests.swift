import Foundation
import RoostEngine
import RoostIO
import RoostSimulation
import RoostTestSupport
import Testing

/// Many random calls at once, recorded, and checked for an order that explains them.
@Suite struct HistoryTests {
    /// How many histories a run checks; the environment variable asks for more.
    static let historyCount =
        ProcessInfo.processInfo.environment["ROOST_HISTORIES"].flatMap { Int($0) }
        ?? runCount(400, whole: 2_000)

    @Test(arguments: 0..<4)
    func everyHistoryIsStrictlySerializable(part: Int) async throws {
        let seed = testSeed() &+ UInt64(part)
        let found = try await HistoryRun(seed: seed).firstViolation(
            historyCount: Self.historyCount / 4)
        #expect(found == nil)
    }

    @Test(arguments: 0..<4)
    func everyHistoryOverKillsAndPowerCutsIsStrictlySerializable(part: Int) async throws {
        let seed = testSeed() &+ UInt64(part)
        for round in 0..<(Self.historyCount / 80) {
            let violation = try await CrashHistoryRun(seed: seed &+ UInt64(round) &* 4).violation()
            #expect(violation == nil)
        }
    }

    /// The engine is made to do what it must not; the checker has to notice. With a single processor tasks hardly meet.
    @Test(
        .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1),
        arguments: [
            PlantedFaults.staleResidents, .ignoredReads, .ignoredRanges, .tornViews, .tornEntries,
        ])
    func aFaultThatIsPlantedInTheEngineIsFound(faults: PlantedFaults) async throws {
        let run = HistoryRun(seed: testSeed(), faults: faults)
        let found = try await run.firstViolation(historyCount: 20_000)
        #expect(found != nil)
    }
}

/// Histories on one engine after another.
struct HistoryRun {
    let seed: UInt64
    var faults: PlantedFaults = []

    func firstViolation(historyCount: Int) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        var done = 0
        while done < historyCount {
            var configuration = EngineConfiguration()
            configuration.shardCount = [1, 2, 4, 16][random.below(4)]
            configuration.durability = .process
            configuration.declinesChangesAtOnce = faults.isEmpty && random.once(in: 2)
            configuration.plantedFaults = faults
            let engine = try await Engine.open(
                at: "/histories", fileSystem: MemoryFileSystem(), configuration: configuration)
            var initial: [String: RecordedCall.Observed] = [:]
            var firstID = 1
            for _ in 0..<min(50, historyCount - done) {
                let log = HistoryLog(firstID: firstID)
                try await makeCalls(engine, log, seed: random.next())
                var violation = HistoryChecker.violation(in: log.all, initial: initial)
                let caller = HistoryCaller(engine: engine, log: log, random: random)
                let final = try caller.finalState().call
                violation =
                    violation ?? HistoryChecker.violation(in: log.all + [final], initial: initial)
                if let violation { return "seed \(seed), history \(done): \(violation)" }
                initial = final.reads
                firstID = log.lastID
                done += 1
            }
            try await engine.close()
        }
        return nil
    }

    private func makeCalls(_ engine: Engine, _ log: HistoryLog, seed: UInt64) async throws {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var caller = HistoryCaller(
                        engine: engine, log: log,
                        random: SeededGenerator(seed: seed &+ UInt64(task)))
                    for _ in 0..<8 { await caller.step() }
                }
            }
        }
    }
}

/// A history that goes on through deaths of the process and power cuts.
struct CrashHistoryRun {
    let seed: UInt64

    func violation() async throws -> String? {
        var random = SeededGenerator(seed: seed)
        var configuration = EngineConfiguration()
        configuration.shardCount = [1, 2, 4][random.below(3)]
        configuration.durability = .process
        configuration.declinesChangesAtOnce = random.once(in: 2)
        configuration.flushThresholdBytes = 4 << 10
        configuration.backlogLimitBytes = 64 << 10
        var disk = Disk(seed: random.next())
        // Appends are calls then, each before or after the machine stops, and not half of them.
        disk.allowsMapping = false
        var initial: [String: RecordedCall.Observed] = [:]
        var firstID = 1
        for span in 0..<4 {
            let fileSystem = SimulatedFileSystem(disk: disk)
            let engine = try await Engine.open(
                at: "/histories", fileSystem: fileSystem, configuration: configuration)
            let log = HistoryLog(firstID: firstID)
            fileSystem.stop(afterCalls: 10 + random.below(120))
            await makeCalls(engine, log, fileSystem, seed: random.next())
            let stopped = fileSystem.turnOff()
            let isPowerCut = random.once(in: 2)
            if isPowerCut {
                var choices = RandomChoices(seed: random.next())
                disk = stopped.afterPowerCut(&choices)
            } else {
                disk = stopped.afterKill()
            }
            let check = CrashCheck(
                calls: log.all, initial: initial, disk: disk, configuration: configuration,
                isPowerCut: isPowerCut)
            let (problem, left, leftDisk) = try await check.reopen(log)
            if let problem {
                return
                    "seed \(seed), span \(span), \(isPowerCut ? "power cut" : "kill"): \(problem)"
            }
            initial = left
            disk = leftDisk
            firstID = log.lastID
        }
        return nil
    }

    private func makeCalls(
        _ engine: Engine, _ log: HistoryLog, _ fileSystem: SimulatedFileSystem, seed: UInt64
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var caller = HistoryCaller(
                        engine: engine, log: log, isRunning: { !fileSystem.isOff },
                        random: SeededGenerator(seed: seed &+ UInt64(task)))
                    for _ in 0..<40 where !fileSystem.isOff { await caller.step() }
                }
            }
        }
    }
}

/// What a crash left, against what had been said before it.
struct CrashCheck {
    var calls: [RecordedCall]
    let initial: [String: RecordedCall.Observed]
    let disk: Disk
    let configuration: EngineConfiguration
    let isPowerCut: Bool

    /// What is wrong, if anything; what every key holds; and the disk, closed properly.
    func reopen(
        _ log: HistoryLog
    ) async throws -> (String?, [String: RecordedCall.Observed], Disk) {
        let fileSystem = SimulatedFileSystem(disk: disk)
        let engine = try await Engine.open(
            at: "/histories", fileSystem: fileSystem, configuration: configuration)
        let caller = HistoryCaller(engine: engine, log: log, random: SeededGenerator(seed: 0))
        let (final, versions) = try caller.finalState()
        let last = engine.recovery.lastSequence
        try await engine.close()
        var problem: String?
        for call in calls where call.outcome == .committed && call.sequence != nil {
            let mustStay = !isPowerCut || call.name.hasSuffix("synced")
            if mustStay, call.sequence! > last { problem = "lost: \(call)" }
        }
        problem = problem ?? wrongState(final, versions, last)
        var history = calls.map { call in
            var call = call
            // What nobody said is said by what is there.
            if call.outcome == .unknown, call.sequence == nil {
                let left = call.writes.keys.first { final.reads[$0] == .written(by: call.id) }
                call.sequence = left.flatMap { versions[$0] }
            }
            return call
        }
        if !isPowerCut { history.append(final) }
        problem = problem ?? HistoryChecker.violation(in: history, initial: initial)
        return (problem, final.reads, fileSystem.turnOff().afterKill())
    }

    /// Whether the state is that after the batches up to the last one that is there.
    private func wrongState(
        _ final: RecordedCall, _ versions: [String: UInt64], _ last: UInt64
    ) -> String? {
        for (key, found) in final.reads {
            let newest =
                calls
                .filter { $0.writes[key] != nil && $0.sequence.map { $0 <= last } == true }
                .max { $0.sequence! < $1.sequence! }
            let expected = newest?.observed(key) ?? initial[key] ?? .absent
            if found == expected { continue }
            // Only a call that never returned may have come after.
            let isByUnknown = calls.contains { call in
                call.outcome == .unknown && call.sequence == nil && call.writes[key] != nil
                    && call.observed(key) == found
            }
            if !isByUnknown { return "\(key) is \(found), not \(expected)" }
        }
        return nil
    }
}
