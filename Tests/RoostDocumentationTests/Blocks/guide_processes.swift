// Written by `make blocks` from Sources/Roost/Documentation.docc/SeveralProcesses.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_processes(home: String) async throws {
        try await Task.sleep(for: .zero)
        try await Workspace.open(at: "\(home)/data").close()
        let writer = try await Workspace.open(at: "\(home)/data")
        _ = writer
        try await writer.dictionary("settings").set("dark", forKey: "theme")
        let reader = try await Workspace.open(at: "\(home)/data", configuration: .init(access: .readOnly))
        _ = reader
        let theme = try reader.dictionary("settings")["theme", as: String.self]
        _ = theme
        #expect(theme == "dark")
        try await reader.close()
        try await writer.close()
    }
}
