// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated enum Theme: String, Codable { case light, dark }
private nonisolated extension Key where Value == Theme { static var theme: Self { .init("ui.theme", default: .light) } }
private final class Appearance {
    @Stored var theme: Theme                                               // or, of a global dictionary: @Stored(.theme, in: settings)
    init(_ settings: WorkspaceDictionary) { _theme = Stored(.theme, in: settings) }
}

extension Blocks {
    static func api_properties(home: String) async throws {
        try await Task.sleep(for: .zero)
        let settings = try await Workspace.inMemory().dictionary("settings")
        _ = settings
        let observed = await MainActor.run { ObservedValue(.theme, in: settings) }
        _ = observed
        let appearance = Appearance(settings)
        _ = appearance
        appearance.theme = .dark
        #expect(try appearance.theme == .dark && settings[.theme] == .dark)
        await MainActor.run { ObservedValue(.theme, in: settings).value = .light }
        #expect(appearance.theme == .light)
    }
}
