// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_keyed_dictionaries(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let id = UUID()
        _ = id
        let users = workspace.dictionary("users", keys: UUID.self)                 // String, any integer, UUID, Date, RawRepresentable of these, or your own
        _ = users
        try await users.set("ada", forKey: id)
        try await users.update(id, default: "") { $0 = "eve" }
        let ids = try users.page(as: String.self, limit: 50).map(\.key)            // in batches, transactions and views too: `in: users`
        _ = ids
        let days: KeyedDictionary<Date> = workspace.dictionary("days", keys: Date.self)   // the type of a stored property
        _ = days
        try await days.setAll([.distantPast: 1, .distantFuture: 2])
        let entry = try days.entry(forKey: .distantPast, as: Int.self); try await days.replace(entry, with: 3)
        _ = entry
        let first = try days[.distantPast, default: 0]
        _ = first
        let dayCount = try await workspace.transaction { tx in try tx.count(of: days) }
        _ = dayCount
        let dayChanges = days.changes(as: Int.self)                                // .set(key: Date, value, version) and so on
        _ = dayChanges
        #expect(try users[id, as: String.self] == "eve" && ids == [id] && first == 3 && dayCount == 2)
        _ = dayChanges
    }
}
