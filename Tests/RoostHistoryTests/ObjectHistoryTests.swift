import Foundation
import Roost
import RoostEngine
import RoostIO
import RoostTestSupport
import Testing

/// Histories of objects: inserts, deletes and updates of matches while queries look at them, phantoms
/// included.
@Suite(.timeLimit(.minutes(60))) struct ObjectHistoryTests {
    /// How many histories a run checks; the environment variable asks for more.
    static let historyCount =
        ProcessInfo.processInfo.environment["ROOST_OBJECT_HISTORIES"].flatMap { Int($0) }
        ?? runCount(200, whole: 400)

    @Test(arguments: 0..<4)
    func everyHistoryOfQueriesIsStrictlySerializable(part: Int) async throws {
        let run = ObjectHistoryRun(seed: testSeed() &+ UInt64(part), isIndexed: part > 0)
        #expect(try await run.firstViolation(historyCount: Self.historyCount / 4) == nil)
    }

    /// The engine is made to forget what was scanned, or what was read; the checker has to notice. Of a single processor
    /// the transactions hardly meet.
    @Test(
        .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1),
        arguments: [PlantedFaults.ignoredRanges, .ignoredReads])
    func aFaultThatIsPlantedIsFound(faults: PlantedFaults) async throws {
        let run = ObjectHistoryRun(seed: testSeed(), isIndexed: true, faults: faults)
        #expect(try await run.firstViolation(historyCount: 20_000) != nil)
    }
}

/// Histories on one workspace after another.
struct ObjectHistoryRun {
    let seed: UInt64
    let isIndexed: Bool
    var faults: PlantedFaults = []

    func firstViolation(historyCount: Int) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        var done = 0
        while done < historyCount {
            let shardCount = [1, 2, 4, 16][random.below(4)]
            let workspace = try await Workspace.open(
                at: "/histories", configuration: .init(), fileSystem: MemoryFileSystem()
            ) {
                $0.shardCount = shardCount
                $0.durability = .process
                $0.plantedFaults = faults
            }
            let items = HistoryItem.$isIndexed.withValue(isIndexed) {
                workspace.repository(of: HistoryItem.self)
            }
            var initial: [String: RecordedCall.Observed] = [:]
            var firstID = 1
            for _ in 0..<min(50, historyCount - done) {
                let log = HistoryLog(firstID: firstID)
                let caller = ObjectHistoryCaller(
                    items: items, marks: workspace.dictionary("marks"), log: log,
                    random: SeededGenerator(seed: random.next()))
                let (calls, final) = try await makeCalls(caller)
                let violation = HistoryChecker.violation(in: calls + [final], initial: initial)
                if let violation { return "seed \(seed), history \(done): \(violation)" }
                initial = final.reads
                firstID = log.lastID
                done += 1
            }
            try await workspace.close()
        }
        return nil
    }

    /// The calls, with their places where they changed something, and what is there after them.
    private func makeCalls(
        _ caller: ObjectHistoryCaller
    ) async throws -> ([RecordedCall], RecordedCall) {
        let changes = caller.items.changes(bufferCapacity: 100_000)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var caller = caller
                    caller.random = SeededGenerator(
                        seed: seed &+ UInt64(task) &+ caller.random.next())
                    for _ in 0..<7 { await caller.step() }
                }
            }
        }
        let final = try caller.finalState()
        // What comes after all that the calls changed.
        try await caller.items.save(HistoryItem(id: -1, color: -1, call: final.id))
        var sequences: [Int: UInt64] = [:]
        for await change in changes {
            guard case .set(_, let item, let version) = change else { continue }
            if item.call == final.id { break }
            sequences[item.call] = version
        }
        try await caller.items.delete(-1)
        let calls = try caller.log.all.filter { $0.id != final.id }.map { call in
            var call = call
            let mark = try caller.marks.entry(forKey: "\(call.id)", as: Int.self)
            call.sequence = sequences[call.id] ?? (mark.version > 0 ? mark.version : nil)
            return call
        }
        return (calls, final)
    }
}
