// Written by `make blocks` from Sources/Roost/Documentation.docc/Objects.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private nonisolated struct Note: Codable, Identifiable, Equatable, Indexed {
    var id = UUID(); var title = ""; var text = ""
    var words: [String] { "\(title) \(text)".searchWords }
    static var indexes: [Index<Note>] { [Index("words", each: \.words)] }
}

extension Blocks {
    static func guide_objects_search(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory(), notes = workspace.repository(of: Note.self)
        _ = workspace
        try await notes.saveAll([Note(title: "Café in Málaga", text: "open late"), Note(title: "Cafeteria")])
        let found = try notes.where { $0.words.contains(wordsOf: "late CAFE") }.order(by: \.title).limit(20).fetch()
        _ = found
        #expect(found.map(\.title) == ["Café in Málaga"])
    }
}
