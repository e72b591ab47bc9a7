// Written by `make blocks` from README.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private struct Draft: Codable { var title: String; var tags: [String] }
private enum Theme: String, Codable { case light, dark }
private extension Key where Value == Theme { static var theme: Self { .init("ui.theme", default: .light) } }

extension Blocks {
    static func readme_keys(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace

        let settings = workspace.dictionary("settings")
        _ = settings
        try await settings.set(Draft(title: "Heron", tags: ["bird"]), forKey: "draft", durability: .synced)
        try await settings.set(.dark, for: .theme)
        let theme = try settings[.theme]                   // no await: from any thread, in a view's body
        _ = theme
        #expect(try settings["draft", as: Draft.self]?.title == "Heron" && theme == .dark)
    }
}
