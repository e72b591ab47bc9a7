// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Draft: Codable, Equatable { var title = "" }

extension Blocks {
    static func api_dictionaries(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let token = "secret"
        _ = token
        try await workspace.dictionary("settings").set(Draft(title: "Heron"), forKey: "draft")
        let settings = workspace.dictionary("settings")
        _ = settings
        let launches = try settings.value(forKey: "launches", as: Int.self)        // Int?
        _ = launches
        let volume = try settings["volume", default: 0.5]                          // Double
        _ = volume
        let draft = try settings["draft", as: Draft.self]                          // Draft? (Codable or BinaryCodable)
        _ = draft
        let cold = try await settings.load("draft", as: Draft.self)                // as above; concurrent loads of a cold key coalesce
        _ = cold

        try await settings.set((launches ?? 0) + 1, forKey: "launches")
        try await settings.set(draft, forKey: "draft", durability: .synced)
        try await settings.set(token, forKey: "token", expiresIn: .seconds(60))
        try await settings.removeValue(forKey: "draft")
        settings.enqueue(0.8, forKey: "volume")      // synchronous, ordered, visible at once, persisted behind
        try await workspace.synchronize()            // all that was set before is on disk

        let gone = try settings.expiration(forKey: "token")                        // Date?; nil where it stays
        _ = gone
        let n = try settings.count; let all = try settings.keys; let has = try settings.contains("draft")
        _ = n
        _ = all
        _ = has
        let some = try settings.count(prefix: "to"); try await settings.removeAll(prefix: "to")   // by the UTF-8 bytes
        _ = some
        try await settings.removeAll()
        #expect(volume == 0.5 && draft?.title == "Heron" && cold == draft && n == 3 && has == false)
        #expect(gone != nil && some == 1)
        #expect(all == ["launches", "token", "volume"])
    }
}
