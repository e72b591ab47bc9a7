import ArgumentParser
import Foundation
import Roost
import RoostEngine
import RoostIO

/// The process that is killed: takes the plan's steps until it dies.
struct CrashWriterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "writer", shouldDisplay: false)

    @Argument var path: String
    @Option var acknowledgements: String
    @Option var planSeed: UInt64
    @Option var planDurability: DurabilityChoice
    @Option var flushThresholdBytes: UInt64
    @Option var shardCount: Int
    /// Closes the workspace and opens it again after so many steps of each task.
    @Option var cycleSteps: UInt64 = .max
    @Flag var compacts = false
    @Flag var encrypted = false

    func run() async throws {
        let shared = try Acknowledgements(path: acknowledgements, create: false)
        let plan = CrashPlan(seed: planSeed, durability: planDurability)
        do {
            while true {
                shared.phase = .opening
                let workspace = try await open()
                shared.phase = .running
                try await write(to: workspace, plan, shared)
                shared.phase = .closing
                try await workspace.close()
            }
        } catch {
            FileHandle.standardError.write(Data("roost-crash writer: \(error)\n".utf8))
            throw ExitCode(2)
        }
    }

    private func open() async throws -> Workspace {
        let configuration = Workspace.Configuration(
            shardCount: shardCount, durability: .process, memoryBudgetBytes: 1 << 16,
            encryption: CrashEncryption.encryption(encrypted))
        let threshold = flushThresholdBytes
        return try await Workspace.open(
            at: path, configuration: configuration, fileSystem: configuration.fileSystem
        ) { engine in
            engine.flushThresholdBytes = threshold
            engine.backlogLimitBytes = threshold * 4
        }
    }

    private func write(
        to workspace: Workspace, _ plan: CrashPlan, _ shared: Acknowledgements
    ) async throws {
        let cycleSteps = cycleSteps
        let compacts = compacts
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<CrashPlan.taskCount {
                group.addTask {
                    let first = shared.count(task: task) + 1
                    for number in first... {
                        if number - first >= cycleSteps { return }
                        try await Self.take(plan.step(number, task: task), task: task, workspace)
                        shared.setCount(number, task: task)
                    }
                }
            }
            if compacts {
                group.addTask {
                    while !Task.isCancelled {
                        shared.isCompacting = true
                        try await workspace.compact()
                        shared.isCompacting = false
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<CrashPlan.taskCount { try await group.next() }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private static func take(
        _ step: CrashPlan.Step, task: Int, _ workspace: Workspace
    ) async throws {
        func dictionary(_ slot: Int) -> WorkspaceDictionary {
            workspace.dictionary(
                CrashPlan.dictionaryName(CrashPlan.dictionary(ofSlot: slot), task: task))
        }
        if step.isBatch {
            try await workspace.write(durability: step.durability) { batch in
                for change in step.changes {
                    switch change {
                    case .put(let slot, let stamp, let size):
                        batch.set(
                            CrashPlan.value(stamp: stamp, sizeBytes: size),
                            forKey: CrashPlan.key(ofSlot: slot), in: dictionary(slot))
                    case .remove(let slot):
                        batch.removeValue(forKey: CrashPlan.key(ofSlot: slot), in: dictionary(slot))
                    case .clear(let number):
                        batch.removeAll(
                            in: workspace.dictionary(CrashPlan.dictionaryName(number, task: task)))
                    }
                }
            }
        } else {
            switch step.changes[0] {
            case .put(let slot, let stamp, let size):
                try await dictionary(slot).set(
                    CrashPlan.value(stamp: stamp, sizeBytes: size),
                    forKey: CrashPlan.key(ofSlot: slot), durability: step.durability)
            case .remove(let slot):
                try await dictionary(slot).removeValue(
                    forKey: CrashPlan.key(ofSlot: slot), durability: step.durability)
            case .clear(let number):
                try await workspace.dictionary(CrashPlan.dictionaryName(number, task: task))
                    .removeAll(durability: step.durability)
            }
        }
        if step.synchronizes { try await workspace.synchronize() }
    }
}
