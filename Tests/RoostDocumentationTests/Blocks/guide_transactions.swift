// Written by `make blocks` from Sources/Roost/Documentation.docc/Transactions.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private struct OutOfStock: Error {}

extension Blocks {
    static func guide_transactions(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let inventory = workspace.dictionary("inventory")
        _ = inventory
        try await inventory.set(3, forKey: "heron")
        let left = try await workspace.transaction { tx in
            let stock = try tx.value(forKey: "heron", as: Int.self, in: inventory) ?? 0
            guard stock > 0 else { throw OutOfStock() }
            try tx.set(stock - 1, forKey: "heron", in: inventory)
            return stock - 1
        }
        #expect(try left == 2 && inventory["heron", as: Int.self] == 2)
    }
}
