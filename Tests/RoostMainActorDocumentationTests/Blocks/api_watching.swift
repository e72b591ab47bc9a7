// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated enum Theme: String, Codable { case light, dark }
private nonisolated extension Key where Value == Theme { static var theme: Self { .init("ui.theme", default: .light) } }
private nonisolated struct User: Codable { var name: String }

extension Blocks {
    static func api_watching(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let settings = workspace.dictionary("settings"), users = workspace.dictionary("users")
        _ = settings
        for await value in settings.updates(of: .theme) { _ = value }                        // current value first, then each newest one; so too with a string and `as: Double.self`
        for await change in users.changes(prefix: "eu/", as: User.self) { _ = change }        // .set(key, value, version) .removed(key, version) .missed(count)
        let subscription = settings.subscribe("volume", of: Double.self) { event in }  // .initial .updated .deleted; ends on cancel or deinit
        _ = subscription
        for await volume in settings.updates(of: "volume", as: Double.self) { _ = volume }
        subscription.cancel()
    }
}
