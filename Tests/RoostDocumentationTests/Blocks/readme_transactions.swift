// Written by `make blocks` from README.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func readme_transactions(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let accounts = workspace.dictionary("accounts")
        _ = accounts
        try await workspace.write { batch in
            batch.set(100, forKey: "ada", in: accounts)
            batch.set(0, forKey: "bob", in: accounts)
        }
        try await workspace.transaction { tx in
            for (name, change) in [("ada", -40), ("bob", 40)] {
                let balance = try tx.value(forKey: name, as: Int.self, in: accounts) ?? 0
                try tx.set(balance + change, forKey: name, in: accounts)
            }
        }
        #expect(try accounts["ada", as: Int.self] == 60 && accounts["bob", as: Int.self] == 40)
    }
}
