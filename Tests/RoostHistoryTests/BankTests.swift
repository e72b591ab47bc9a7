import Roost
import RoostIO
import RoostSimulation
import RoostTestSupport
import Testing

/// Eight tasks move money among a hundred accounts, through deaths of the process and power cuts:
/// the sum stays, in every read view and after every opening.
@Suite struct BankTests {
    private static let accountCount = 100
    private static let sum = 100 * accountCount

    @Test(arguments: 0..<2)
    func noMoneyIsMadeOrLost(part: Int) async throws {
        let seed = testSeed() &+ UInt64(part)
        var random = SeededGenerator(seed: seed)
        var disk = Disk(seed: random.next())
        disk.allowsMapping = false
        var fileSystem = SimulatedFileSystem(disk: disk)
        let configuration = Workspace.Configuration(shardCount: 4, memoryBudgetBytes: 1 << 16)
        var workspace = try await Workspace.open(
            at: "/bank", configuration: configuration, fileSystem: fileSystem)
        try await workspace.dictionary("accounts").setAll(
            (0..<Self.accountCount).map { ("\($0)", 100) }, durability: .synced)
        var transferCount = 0
        for life in 0..<12 {
            fileSystem.stop(afterCalls: 40 + random.below(400))
            transferCount += try await live(workspace, fileSystem, seed: random.next())
            let stopped = fileSystem.turnOff()
            if random.once(in: 2) {
                var choices = RandomChoices(seed: random.next())
                disk = stopped.afterPowerCut(&choices)
            } else {
                disk = stopped.afterKill()
            }
            fileSystem = SimulatedFileSystem(disk: disk)
            workspace = try await Workspace.open(
                at: "/bank", configuration: configuration, fileSystem: fileSystem)
            let sum = try Self.sum(in: workspace)
            #expect(sum == Self.sum, "seed \(seed), life \(life)")
        }
        #expect(transferCount > 100, "seed \(seed)")
        try await workspace.close()
    }

    private static func sum(in workspace: Workspace) throws -> Int {
        let accounts = workspace.dictionary("accounts")
        return try workspace.read { view in
            #expect(try view.count(of: accounts) == accountCount)
            return try (0..<accountCount).reduce(0) { sum, account in
                sum + (try view.value(forKey: "\(account)", as: Int.self, in: accounts) ?? 0)
            }
        }
    }

    /// Moves money until the machine stops; returns how often it worked.
    private func live(
        _ workspace: Workspace, _ fileSystem: SimulatedFileSystem, seed: UInt64
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(task))
                    var count = 0
                    do {
                        while !fileSystem.isOff {
                            try await Self.move(workspace, &random)
                            count += 1
                            await Task.yield()
                        }
                    } catch let error as RoostError {
                        #expect(
                            fileSystem.isOff || error.code == .conflict, "seed \(seed): \(error)")
                    }
                    return count
                }
            }
            group.addTask {
                while !fileSystem.isOff {
                    let sum = try Self.sum(in: workspace)
                    #expect(sum == Self.sum, "seed \(seed)")
                    try await Task.sleep(for: .milliseconds(1))
                }
                return 0
            }
            return try await group.reduce(0, +)
        }
    }

    private static func move(
        _ workspace: Workspace, _ random: inout SeededGenerator
    ) async throws {
        let accounts = workspace.dictionary("accounts")
        let payer = "\(random.below(accountCount))"
        let payee = "\(random.below(accountCount))"
        let wanted = 1 + random.below(20)
        let durability: Durability = random.once(in: 10) ? .synced : .process
        try await workspace.transaction(durability: durability) { tx in
            let balance = try tx.value(forKey: payer, as: Int.self, in: accounts) ?? 0
            let amount = min(balance, wanted)
            try tx.set(balance - amount, forKey: payer, in: accounts)
            // Read after its own change: payer and payee may be one.
            let other = try tx.value(forKey: payee, as: Int.self, in: accounts) ?? 0
            try tx.set(other + amount, forKey: payee, in: accounts)
        }
    }
}
