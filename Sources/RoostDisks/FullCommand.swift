import ArgumentParser
import Foundation
import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSealing
import RoostSimulation
import RoostTestSupport
import Synchronization

/// Fills the disk at one stage of a store's work, looks that nothing is lost, makes room, and goes on.
struct FullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "full")

    enum Stage: String, ExpressibleByArgument, CaseIterable {
        case append, rotation, flush, merge, manifest, backup
    }

    @Argument(help: "A directory on the disk that is filled; empty.") var directory: String
    @Option var stage: Stage
    @Option var seed: UInt64 = 1
    @ArgumentParser.Flag(help: "An encrypted store, by a quick cipher for tests.") var encrypted =
        false

    func run() async throws {
        let ballast = Ballast(path: "\(directory)/ballast")
        var trial = FullTrial(
            path: "\(directory)/store", stage: stage, ballast: ballast, seed: seed,
            isEncrypted: encrypted)
        do {
            try await trial.run()
        } catch let error as RoostError { trial.broken.append("\(error)") }
        try report(
            [
                "stage": stage.rawValue, "fullErrors": trial.fullErrorCount,
                "acknowledged": trial.values.count, "seed": seed, "encrypted": encrypted,
            ], broken: trial.broken)
    }
}

/// A file that takes all the room there is.
struct Ballast: Sendable {
    let path: String

    func fill() {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // The last block is taken too; what is not on disk yet is not promised.
        for size in [1 << 20, 64 << 10, 4096, 512, 64] {
            let bytes = [UInt8](repeating: 0xa5, count: size)
            while write(descriptor, bytes, size) > 0 {}
            fsync(descriptor)
        }
    }

    /// Room that the file system needs a moment for to give it back.
    func remove() {
        unlink(path)
        sync()
    }
}

struct FullTrial {
    let path: String
    let stage: FullCommand.Stage
    let ballast: Ballast
    let isEncrypted: Bool
    var random: SeededGenerator
    /// What was acknowledged.
    var values: [String: [UInt8]] = [:]
    /// Keys whose last change failed: they hold what they held, for sure.
    var fullErrorCount = 0
    var broken: [String] = []
    private let isArmed = Atomic<Bool>.make()

    init(
        path: String, stage: FullCommand.Stage, ballast: Ballast, seed: UInt64, isEncrypted: Bool
    ) {
        self.isEncrypted = isEncrypted
        self.path = path
        self.stage = stage
        self.ballast = ballast
        random = SeededGenerator(seed: seed)
    }
}

/// A flag that a hook shares with the trial.
final class Flag: Sendable {
    let value = Atomic<Bool>(false)
}
extension Atomic where Value == Bool { static func make() -> Flag { Flag() } }

extension FullTrial {
    private func open() async throws -> Workspace {
        let (stage, ballast, armed) = (stage, ballast, isArmed)
        let fileSystem = ObservedFileSystem { call in
            guard armed.value.load(ordering: .relaxed), Self.isFirst(call, of: stage) else {
                return
            }
            if armed.value.exchange(false, ordering: .relaxed) { ballast.fill() }
        }
        return try await Workspace.open(
            at: path, configuration: .init(durability: .process, memoryBudgetBytes: 1 << 20),
            fileSystem: isEncrypted
                ? SealedFileSystem(fileSystem, SimulatedSealing()) : fileSystem
        ) { $0.segmentSizeBytes = 256 << 10 }
    }

    /// Whether the call is the first of a stage that is under way.
    private static func isFirst(_ call: FileCall, of stage: FullCommand.Stage) -> Bool {
        switch (stage, call) {
        case (.rotation, .createFile(let name)): name.hasPrefix("log")
        case (.flush, .write(let name)), (.merge, .write(let name)): name.hasPrefix("snapshot")
        case (.manifest, .createFile(let name)): name.hasPrefix("MANIFEST")
        default: false
        }
    }

    mutating func run() async throws {
        let workspace = try await open()
        for _ in 0..<300 { try await put(workspace, count: 1) }
        try await workspace.compact()
        for _ in 0..<300 { try await put(workspace, count: 1) }
        if stage == .append || stage == .backup {
            ballast.fill()
        } else if stage == .merge {
            try await fillInMerge(workspace)
        } else {
            isArmed.value.store(true, ordering: .relaxed)
        }
        await work(workspace)
        if fullErrorCount == 0 { broken.append("nothing said that the disk is full") }
        try check(workspace, "on the full disk")
        ballast.remove()
        isArmed.value.store(false, ordering: .relaxed)
        // There is room: everything goes on, in the same opening.
        for _ in 0..<300 { try await put(workspace, count: 1) }
        try await workspace.compact()
        try await workspace.synchronize()
        try check(workspace, "once there was room")
        try await workspace.close()
        let again = try await open()
        if !again.recovery.tornTails.isEmpty { broken.append("\(again.recovery.tornTails)") }
        try check(again, "after a reopening")
        let report = try await again.verify()
        if !report.isSound { broken.append("verify: \(report)") }
        try await again.close()
    }

    /// Fills the disk at the first write of a merge. Where the engine has merged by itself there is nothing left to
    /// merge: then with further tiers.
    private mutating func fillInMerge(_ workspace: Workspace) async throws {
        for _ in 0..<10 {
            // With an empty log a compaction begins with the merge, and not with a flush.
            try await workspace.engine.flush()
            let before = workspace.engine.statistics
            isArmed.value.store(true, ordering: .relaxed)
            await trying { _ in try await workspace.compact() }
            let wasMet = !isArmed.value.exchange(false, ordering: .relaxed)
            if wasMet {
                let after = workspace.engine.statistics
                if after.mergeCount > before.mergeCount || after.flushCount > before.flushCount {
                    broken.append("the disk was not filled in a merge")
                }
                if fullErrorCount == 0 {
                    broken.append("the merge did not say that the disk is full")
                }
                return
            }
            for _ in 0..<100 { try await put(workspace, count: 1) }
        }
        broken.append("nothing was merged")
    }

    /// Everything that writes, as long as the disk is full.
    private mutating func work(_ workspace: Workspace) async {
        var round = 0
        while round < 400 || (fullErrorCount < 20 && round < 20_000) {
            round += 1
            await trying { try await $0.put(workspace, count: 1) }
            if round % 50 == 7 {
                await trying { try await $0.put(workspace, count: 20, durability: .synced) }
            }
            if round % 100 == 20, stage != .append {
                await trying { _ in try await workspace.compact() }
            }
            if round % 100 == 40, stage == .backup {
                let target = path + ".backup"
                await trying { _ in try await workspace.backup(to: target) }
            }
        }
    }

    private mutating func trying(_ body: (inout Self) async throws -> Void) async {
        do { try await body(&self) } catch let error as RoostError where error.code == .outOfSpace {
            fullErrorCount += 1
        } catch { broken.append("\(error)") }
        if broken.count > 20 { broken.removeLast() }
    }

    private mutating func put(
        _ workspace: Workspace, count: Int, durability: Durability? = nil
    ) async throws {
        var changes: [String: [UInt8]] = [:]
        for _ in 0..<count {
            changes["key \(random.below(500))"] = random.bytes(100 + random.below(4000))
        }
        let values = workspace.dictionary("values")
        try await workspace.write(durability: durability) { batch in
            for (key, value) in changes { batch.set(value, forKey: key, in: values) }
        }
        self.values.merge(changes) { $1 }
    }

    private mutating func check(_ workspace: Workspace, _ when: String) throws {
        let dictionary = workspace.dictionary("values")
        for (key, value) in values
        where try dictionary.value(forKey: key, as: [UInt8].self) != value {
            broken.append("\(key) \(when)")
        }
    }
}
