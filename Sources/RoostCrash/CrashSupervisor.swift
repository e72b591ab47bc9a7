import Foundation
import Roost
import RoostIO

/// Starts writers on one workspace after another, kills each, and compares what it left.
///
/// - `models` and `counts` are what the workspace holds as of the last check, by task.
struct CrashSupervisor {
    private let worker: Int
    private let root: String
    private let durability: DurabilityChoice
    private let isEncrypted: Bool
    private let tally: CrashTally
    private var random: CrashRandom
    private var directoryNumber = 0
    private var path = ""
    private var plan: CrashPlan
    private var models: [CrashModel] = []
    private var shardCount = 4

    /// A writer that makes no step for so many looks hangs; each takes a third of a millisecond. One sync of a busy disk
    /// may take half a minute.
    private static let patienceLookCount = 400_000

    init(
        seed: UInt64, worker: Int, root: String, durability: DurabilityChoice, isEncrypted: Bool,
        tally: CrashTally
    ) {
        self.worker = worker
        self.root = root
        self.durability = durability
        self.isEncrypted = isEncrypted
        self.tally = tally
        random = CrashRandom(seed: seed &+ UInt64(worker) &* 0x5851_f42d_4c95_7f2d)
        plan = CrashPlan(seed: 0, durability: durability)
    }

    mutating func run() async {
        do {
            while tally.goesOn { try await useUpOneDirectory() }
        } catch {
            printLine("\(path): \(error)")
            tally.add { $0.unexpectedErrors += 1 }
        }
    }

    /// A new workspace for so many kills that its writers' models stay small and its files few.
    private mutating func useUpOneDirectory() async throws {
        directoryNumber += 1
        path = "\(root)/\(worker)-\(directoryNumber)"
        plan = CrashPlan(seed: random.next(), durability: durability)
        models = Array(repeating: CrashModel(), count: CrashPlan.taskCount)
        shardCount = [1, 4, 16][random.below(3)]
        let shared = try Acknowledgements(path: "\(path).shared", create: true)
        let killCount = 20 + random.below(180)
        for _ in 0..<killCount {
            guard tally.goesOn else { break }
            try await killOneWriter(shared)
            guard tally.counts.isSound else { return }
        }
        try FileManager.default.removeItem(atPath: "\(path).shared")
        if FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    // MARK: Killing

    private mutating func killOneWriter(_ shared: Acknowledgements) async throws {
        shared.phase = .starting
        shared.isCompacting = false
        let before = (0..<CrashPlan.taskCount).map { shared.count(task: $0) }
        let writer = try WriterProcess(writerArguments())
        do { try await waitForTheMoment(writer, shared) } catch {
            _ = try await writer.kill()
            throw error
        }
        let phase = shared.phase
        let isCompacting = shared.isCompacting
        let status = try await writer.kill()
        guard status & 0x7f == SIGKILL else {
            throw CrashFailure("the writer ended by itself, with status \(status)")
        }
        let acknowledged = zip(0..., before).reduce(0) { $0 + Int(shared.count(task: $1.0) - $1.1) }
        tally.add { counts in
            counts.kills += 1
            counts.acknowledged += acknowledged
            switch phase {
            case .starting, .opening: counts.killsWhileOpening += 1
            case .closing: counts.killsWhileClosing += 1
            case .running: counts.killsWhileCompacting += isCompacting ? 1 : 0
            }
        }
        try await check(before, shared)
    }

    private mutating func writerArguments() -> [String] {
        let threshold = [8 << 10, 64 << 10, 512 << 10, 4 << 20][random.below(4)]
        var arguments =
            [
                "writer", path, "--acknowledgements", "\(path).shared", "--plan-seed",
                "\(plan.seed)",
                "--plan-durability", durability.rawValue, "--flush-threshold-bytes", "\(threshold)",
                "--shard-count", "\(shardCount)",
            ] + CrashEncryption.arguments(isEncrypted)
        if random.once(in: 3) { arguments.append("--compacts") }
        if random.once(in: 4) { arguments += ["--cycle-steps", "\(1 + random.below(60))"] }
        return arguments
    }

    /// Returns when the writer is to die: while it opens, after some steps, while it compacts, or
    /// while it closes.
    private mutating func waitForTheMoment(
        _ writer: WriterProcess, _ shared: Acknowledgements
    ) async throws {
        let kind = random.below(10)
        let stepCount = UInt64(random.once(in: 5) ? random.below(3000) : random.below(200))
        let start = shared.total
        var last = start
        var idleLookCount = 0
        while true {
            idleLookCount = shared.total == last ? idleLookCount + 1 : 0
            last = shared.total
            guard idleLookCount < Self.patienceLookCount else {
                throw CrashFailure(
                    "the writer hangs, \(shared.phase), after \(shared.total - start) steps"
                        + (shared.isCompacting ? ", compacting" : ""))
            }
            guard writer.isRunning else { throw CrashFailure("the writer ended by itself") }
            let isDue =
                switch kind {
                case ..<3: shared.phase == .opening || shared.phase == .running
                case 3: shared.phase == .closing || shared.total - start >= 500
                case 4: shared.isCompacting || shared.total - start >= 500
                default: shared.phase != .starting && shared.total - start >= stepCount
                }
            if isDue { break }
            try await Task.sleep(for: .microseconds(300))
        }
        try await Task.sleep(for: .microseconds(random.below(random.once(in: 4) ? 12_000 : 1500)))
    }

    // MARK: Checking

    /// Compares every task's dictionaries with its acknowledged steps, or those and one more.
    private mutating func check(_ before: [UInt64], _ shared: Acknowledgements) async throws {
        let entries = FileManager.default.fileExists(atPath: "\(path)/MANIFEST")
        guard entries || shared.total > 0 else { return }
        let workspace = try await Workspace.open(
            at: path,
            configuration: .init(
                access: .readOnly, encryption: CrashEncryption.encryption(isEncrypted)))
        for task in 0..<CrashPlan.taskCount {
            let count = shared.count(task: task)
            if count > before[task] {
                for number in (before[task] + 1)...count {
                    models[task].apply(plan.step(number, task: task))
                }
            }
            let found = try readAll(workspace, task: task)
            if found == models[task] { continue }
            var further = models[task]
            further.apply(plan.step(count + 1, task: task))
            guard found == further else {
                note(found, models[task], further, task: task, count: count)
                continue
            }
            models[task] = further
            shared.setCount(count + 1, task: task)
        }
        if random.once(in: 8) {
            let report = try await workspace.verify()
            guard report.isSound else { throw CrashFailure("not sound: \(report.damages)") }
        }
        try await workspace.close()
    }

    private func readAll(_ workspace: Workspace, task: Int) throws -> CrashModel {
        var found = CrashModel()
        for dictionary in 0..<CrashPlan.dictionaryCount {
            let name = CrashPlan.dictionaryName(dictionary, task: task)
            try workspace.forEachStoredValue(in: name) { _, key, value in
                guard let number = Int(key.dropFirst(4)), number < CrashPlan.keyCount,
                    let stamp = CrashPlan.stamp(of: value.payload)
                else { throw CrashFailure("\(name), \(key): bytes that nobody wrote") }
                found.stamps[dictionary * CrashPlan.keyCount + number] = stamp
            }
        }
        return found
    }

    /// Says what is wrong: a batch of which a part is there, an older value, or none.
    private func note(
        _ found: CrashModel, _ acknowledged: CrashModel, _ further: CrashModel, task: Int,
        count: UInt64
    ) {
        var isTorn = true
        var lostCount = 0
        var staleCount = 0
        for slot in found.stamps.indices where found.stamps[slot] != acknowledged.stamps[slot] {
            if found.stamps[slot] == further.stamps[slot] { continue }
            isTorn = false
            if found.stamps[slot] == 0 { lostCount += 1 } else { staleCount += 1 }
            printLine(
                "\(path), task \(task) after step \(count): slot \(slot) holds "
                    + "\(found.stamps[slot] >> 8), not \(acknowledged.stamps[slot] >> 8)")
        }
        if isTorn { printLine("\(path), task \(task): step \(count + 1) is there in part") }
        tally.add { counts in
            counts.tornBatches += isTorn ? 1 : 0
            counts.lost += lostCount
            counts.stale += staleCount
        }
    }
}
