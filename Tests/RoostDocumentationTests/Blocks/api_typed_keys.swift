// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated enum Theme: String, Codable { case light, dark }
private nonisolated extension Key where Value == Int { static var launches: Self { .init("launches", default: 0) } }
private extension Key where Value == Theme { static var theme: Self { .init("ui.theme", default: .light) } }

extension Blocks {
    static func api_typed_keys(home: String) async throws {
        try await Task.sleep(for: .zero)
        let settings = try await Workspace.inMemory().dictionary("settings")
        _ = settings
        let theme = try settings[.theme]                                           // Theme
        _ = theme
        try await settings.set(.dark, for: .theme)
        try await settings.update(.launches) { $0 += 1 }                           // atomic read-modify-write
        #expect(try theme == .light && settings[.theme] == .dark && settings[.launches] == 1)
    }
}
