import ArgumentParser
import Foundation
import Roost
import RoostIO

/// The writer that is followed, until it is killed.
struct FollowedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "followed", shouldDisplay: false)

    @Argument var path: String
    @Option var seed: UInt64
    @Flag var encrypted = false

    func run() async throws {
        var random = CrashRandom(seed: seed)
        do {
            // Openings that write nothing take their segment away again, and what the killed one had made ahead. The
            // readers look at them meanwhile, or do not.
            for _ in 0..<random.below(3) {
                let idle = try await open(&random)
                if random.once(in: 2) {
                    try await Task.sleep(for: .milliseconds(random.below(200)))
                }
                try await idle.close()
            }
            let workspace = try await open(&random)
            let durability: [Durability] = [.process, .interval(.milliseconds(2)), .synced]
            let pairs = workspace.dictionary("pairs")
            let single = workspace.dictionary("single")
            let objects = workspace.repository(of: FollowedObject.self)
            let stored = try pairs.value(forKey: FollowedPlan.pairKeys[0], as: [UInt8].self)
            var number = stored.flatMap(FollowedPlan.read)?.number ?? 0
            while true {
                number += 1
                let time = FollowedPlan.nanoseconds
                let value = FollowedPlan.value(number, at: time)
                let kind = durability[random.once(in: 4) ? random.below(3) : 0]
                if number % 50 == 0 {
                    let objectNumber = number
                    try await workspace.transaction { transaction in
                        for id in 0..<FollowedPlan.objectCount {
                            try transaction.save(
                                FollowedObject(id: id, number: objectNumber), in: objects)
                        }
                    }
                }
                try await workspace.write(durability: kind) { batch in
                    // What the batch itself sets stays.
                    if FollowedPlan.clears(number) { batch.removeAll(in: pairs) }
                    for key in FollowedPlan.pairKeys { batch.set(value, forKey: key, in: pairs) }
                }
                for key in 0..<3 {
                    try await single.set(
                        value, forKey: "single \(number % 40) \(key)", durability: .process)
                }
                if random.once(in: 3000) { try await workspace.compact() }
                // The same key, and a new data key of which the readers learn.
                if let encryption = CrashEncryption.encryption(encrypted), random.once(in: 2000) {
                    try await workspace.rotateKey(to: encryption)
                }
                // Nine processes share the machine: as fast as it goes would measure that.
                if number % 4 == 0 { try await Task.sleep(for: .milliseconds(2)) }
            }
        } catch {
            printLine("roost-crash followed: \(error)")
            throw ExitCode(2)
        }
    }

    private func open(_ random: inout CrashRandom) async throws -> Workspace {
        let threshold: UInt64 = [64 << 10, 512 << 10, 4 << 20][random.below(3)]
        let configuration = Workspace.Configuration(
            memoryBudgetBytes: 1 << 16, encryption: CrashEncryption.encryption(encrypted))
        return try await Workspace.open(
            at: path, configuration: configuration, fileSystem: configuration.fileSystem
        ) { engine in
            engine.flushThresholdBytes = threshold
            engine.backlogLimitBytes = threshold * 4
        }
    }
}
