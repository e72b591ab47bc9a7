import Foundation
import Roost

/// Eight tasks that move money among a hundred accounts until the process is killed; a ninth looks
/// in read views whether it is all there, and ends the process with 5 where it is not.
enum Bank {
    static let accountCount = 100
    static let total = 100 * accountCount

    static func run(_ workspace: Workspace) async throws {
        let accounts = workspace.dictionary("accounts")
        if try accounts.count == 0 {
            try await accounts.setAll((0..<accountCount).map { ("\($0)", 100) })
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var number = 0
                    while true {
                        try await move(accounts, durability: task == 0 ? .synced : nil)
                        number += 1
                        say("moved \(task) \(number)")
                    }
                }
            }
            group.addTask {
                while true {
                    try check(workspace)
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            group.addTask { while true { try await workspace.compact() } }
            try await group.waitForAll()
        }
    }

    private static func move(_ accounts: WorkspaceDictionary, durability: Durability?) async throws
    {
        let (payer, payee) = (
            "\(Int.random(in: 0..<accountCount))", "\(Int.random(in: 0..<accountCount))"
        )
        do {
            try await accounts.workspace.transaction(durability: durability) { tx in
                let balance = try tx.value(forKey: payer, as: Int.self, in: accounts) ?? 0
                let amount = min(balance, Int.random(in: 1...20))
                try tx.set(balance - amount, forKey: payer, in: accounts)
                let other = try tx.value(forKey: payee, as: Int.self, in: accounts) ?? 0
                try tx.set(other + amount, forKey: payee, in: accounts)
            }
        } catch let error as RoostError where error.code == .conflict {
            // Lost too often; another transfer follows.
        }
    }

    private static func check(_ workspace: Workspace) throws {
        let accounts = workspace.dictionary("accounts")
        let sum = try workspace.read { view in
            try (0..<accountCount).reduce(0) { sum, account in
                sum + (try view.value(forKey: "\(account)", as: Int.self, in: accounts) ?? 0)
            }
        }
        if sum != total {
            say("sum \(sum)")
            exit(5)
        }
    }
}
