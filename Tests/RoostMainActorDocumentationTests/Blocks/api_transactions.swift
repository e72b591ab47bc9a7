// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct OutOfStock: Error {}
private nonisolated struct Draft: Codable, Equatable { var title = "" }

extension Blocks {
    static func api_transactions(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let inventory = workspace.dictionary("inventory"), settings = workspace.dictionary("settings")
        _ = inventory
        let sku = "heron", edited = Draft(title: "edited")
        _ = sku
        try await inventory.set(3, forKey: sku)
        try await settings.set(Draft(), forKey: "draft")
        let left = try await workspace.transaction { tx in
            let stock = try tx.value(forKey: sku, as: Int.self, in: inventory) ?? 0
            guard stock > 0 else { throw OutOfStock() }
            try tx.set(stock - 1, forKey: sku, in: inventory)
            return stock - 1
        }
        let entry = try settings.entry(forKey: "draft", as: Draft.self)            // value and version
        _ = entry
        try await settings.replace(entry, with: edited)                            // throws `.conflict` if it moved on; of a key without a value, if it has one
        #expect(try left == 2 && settings["draft", as: Draft.self] == edited)
    }
}
